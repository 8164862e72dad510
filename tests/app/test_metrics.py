"""`GET /api/metrics`: numbers for the operator alone, and nothing of a user in them."""

import errno
import os
import re
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Secret, Settings
from tests.support.clock import FakeClock
from tests.support.host import ADMIN, PLUGIN, Host, code_of, service
from tests.support.web_runs import content, ended

_SAMPLE = re.compile(r'carrel_[a-z_]+(\{[a-z]+="[^"\\\n]*"(,[a-z]+="[^"\\\n]*")*\})? [0-9.e+-]+')


async def numbers(client: httpx.AsyncClient) -> dict[str, float]:
    """Every sample by its name with labels; the text is held against the format."""
    answer = await client.get("/api/metrics", headers=ADMIN)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.text.endswith("\n")
    found: dict[str, float] = {}
    typed: set[str] = set()
    for line in answer.text.splitlines():
        if line.startswith("# TYPE "):
            name = line.split()[2]
            assert name not in typed
            typed.add(name)
        elif not line.startswith("# HELP "):
            assert _SAMPLE.fullmatch(line), line
            name, _, value = line.rpartition(" ")
            assert (
                re.sub(r"_(bucket|sum|count)?(\{.*)?$", "", name).split("{")[0] in typed or name.split("{")[0] in typed
            )
            assert name not in found
            found[name] = float(value)
    return found


async def test_it_counts_what_was_answered(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    made = await content(client, session, "fragment", "Text.")
    for content_id in (made, made, "none"):
        await client.get(f"/api/contents/{content_id}", headers=session)
    await client.request("BREW", "/api/coffee")
    found = await numbers(client)
    route = 'method="GET",route="/api/contents/{content_id}"'
    assert found[f'carrel_requests_total{{{route},status="200"}}'] == 2
    assert found[f'carrel_requests_total{{{route},status="404"}}'] == 1
    assert found[f'carrel_request_seconds_bucket{{le="+Inf",{route}}}'] == 3
    assert found[f"carrel_request_seconds_count{{{route}}}"] == 3
    assert (found["carrel_cached_keys"], found["carrel_open_workspaces"], found["carrel_users"]) == (1, 1, 1)
    assert found['carrel_refusals_total{code="not-found"}'] >= 1
    assert found["carrel_commit_seconds_count"] > 0
    assert found["carrel_disk_free_bytes"] > 0
    assert "BREW" not in "".join(found)


async def test_nothing_of_a_user_is_in_it(client: httpx.AsyncClient, host: Host) -> None:
    # Without digits, which a duration may have.
    session = await host.signed_in("reader-kestrel")
    run = await ended(client, session, name="canary-name")
    await client.get("/api/contents?q=canary-query", headers=session)
    await client.get("/api/canary-path", headers=session)
    text = (await client.get("/api/metrics", headers=ADMIN)).text
    for secret in ("canary", run, "reader", "kestrel", session["X-SVC-Session-Token"][:16]):
        assert secret not in text


async def test_its_own_secret_reads_it_and_opens_nothing_else(settings: Settings, clock: FakeClock) -> None:
    secret = "metrics-secret-for-tests-0123456789abcdef"
    async with service(replace(settings, metrics_secret=Secret(secret.encode())), clock) as client:
        bearer = {"Authorization": f"Bearer {secret}"}
        assert (await client.get("/api/metrics", headers=bearer)).status_code == 200
        assert (await client.get("/api/metrics", headers=ADMIN)).status_code == 200
        wrong = await client.get("/api/metrics", headers={"Authorization": f"Bearer {secret[:-1]}"})
        assert (wrong.status_code, code_of(wrong)) == (401, "metrics-secret-invalid")
        assert code_of(await client.post("/api/admin/backup", headers=bearer)) == "admin-secret-missing"


async def test_it_is_the_operators_alone(client: httpx.AsyncClient, host: Host, settings: Settings) -> None:
    session = await host.signed_in("reader-0001")
    for headers in ({}, session, PLUGIN):
        answer = await client.get("/api/metrics", headers=headers)
        assert (answer.status_code, code_of(answer)) == (401, "admin-secret-missing")


async def test_without_an_admin_secret_it_is_off(settings: Settings, clock: FakeClock) -> None:
    async with service(replace(settings, admin_secret=None), clock) as client:
        assert code_of(await client.get("/api/metrics", headers=ADMIN)) == "admin-disabled"


async def test_a_disk_that_does_not_answer_hides_no_other_number(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Path) -> None:
        raise OSError(errno.EIO, "the disk failed")

    monkeypatch.setattr(os, "statvfs", fail)
    found = await numbers(client)
    assert "carrel_disk_free_bytes" not in found
    assert "carrel_uptime_seconds" in found
