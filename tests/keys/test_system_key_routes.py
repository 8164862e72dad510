"""The operator's keys, over HTTP and on the disk."""

import httpx
import pytest

from carrel.config import Settings
from tests.support.clock import FakeClock
from tests.support.host import ADMIN, Host, code_of, service, token

KEYS = "/api/admin/system-keys"
OWN_KEYS = "/api/provider-keys"
CANARY = "sk-canary-1f9c7e2b5a8d4063-TAIL"


async def store(client: httpx.AsyncClient, headers: dict[str, str], path: str = KEYS, **body: str) -> httpx.Response:
    return await client.post(path, json={"provider": "openai", "key": CANARY} | body, headers=headers)


async def test_a_system_key_is_stored_replaced_read_and_removed(client: httpx.AsyncClient, clock: FakeClock) -> None:
    stored = await store(client, ADMIN)
    assert (stored.status_code, stored.json()["hint"]) == (201, "TAIL")
    clock.advance(5)
    replaced = await store(client, ADMIN, key="sk-another-0123456789-ENDS")
    assert (replaced.json()["hint"], replaced.json()["created_at"]) == ("ENDS", stored.json()["created_at"])
    assert replaced.json()["updated_at"] > stored.json()["updated_at"]
    read = await client.get(f"{KEYS}/openai", headers=ADMIN)
    assert (read.json(), read.headers["etag"]) == (replaced.json(), replaced.headers["etag"])
    same = await client.get(f"{KEYS}/openai", headers=ADMIN | {"If-None-Match": read.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    stale = await client.delete(f"{KEYS}/openai", headers=ADMIN | {"If-Match": stored.headers["etag"]})
    assert (stale.status_code, code_of(stale)) == (412, "version-mismatch")
    removed = await client.delete(f"{KEYS}/openai", headers=ADMIN | {"If-Match": read.headers["etag"]})
    assert removed.status_code == 204
    for answer in (
        await client.get(f"{KEYS}/openai", headers=ADMIN),
        await client.delete(f"{KEYS}/openai", headers=ADMIN),
        await client.get(f"{KEYS}/nobody", headers=ADMIN),
    ):
        assert (answer.status_code, code_of(answer)) == (404, "provider-key-not-found")


@pytest.mark.parametrize("path", [KEYS, OWN_KEYS])
async def test_a_key_that_is_stored_again_is_not_the_earlier_one(
    client: httpx.AsyncClient, host: Host, path: str
) -> None:
    headers = ADMIN if path == KEYS else await host.signed_in("ada")
    tags = [(await store(client, headers, path)).headers["etag"]]
    tags.append((await store(client, headers, path)).headers["etag"])
    await client.delete(f"{path}/openai", headers=headers)
    tags += [(await store(client, headers, path)).headers["etag"] for _ in range(3)]
    assert len(set(tags)) == len(tags)
    for stale in tags[:-1]:
        answer = await client.delete(f"{path}/openai", headers=headers | {"If-Match": stale})
        assert answer.status_code == 412


async def test_a_list_is_newest_first_and_pages(client: httpx.AsyncClient) -> None:
    for provider in ("openai", "anthropic", "google"):
        await store(client, ADMIN, provider=provider)
    first = (await client.get(KEYS, params={"limit": 2}, headers=ADMIN)).json()
    assert [item["provider"] for item in first["items"]] == ["google", "anthropic"]
    rest = (await client.get(KEYS, params={"cursor": first["next_cursor"]}, headers=ADMIN)).json()
    assert [item["provider"] for item in rest["items"]] == ["openai"]
    assert rest["next_cursor"] is None


async def test_no_key_shows_in_an_answer_a_log_or_a_file(
    settings: Settings, clock: FakeClock, capfd: pytest.CaptureFixture[str]
) -> None:
    async with service(settings, clock) as client:
        session = await Host(client).signed_in("ada")
        for path, headers in ((KEYS, ADMIN), (OWN_KEYS, session)):
            answers = [
                await store(client, headers, path),
                await store(client, headers, path, base_url="https://evil.example"),
                await store(client, headers, path, base_url=f"https://{CANARY}.example"),
                await store(client, headers, path, provider=CANARY),
                await store(client, headers, path, key=CANARY + " x"),
                await store(client, headers, path, key=CANARY * 40),
                await store(client, headers, path, **{f"{CANARY}-{CANARY}": "x"}),
                await client.get(path, headers=headers),
                await client.get(f"{path}/openai", headers=headers),
                await client.get(f"{path}/{CANARY}", headers=headers),
                await client.get(path, params={"cursor": CANARY}, headers=headers),
                await client.get(f"{OWN_KEYS}/test/openai", headers=session),
                await client.delete(f"{path}/{CANARY}", headers=headers),
            ]
            for answer in answers:
                assert CANARY not in answer.text
                assert CANARY not in str(answer.headers)
        files = [file for file in settings.data_dir.rglob("*") if file.is_file()]
        assert {"service.db", "workspace.db", "account.db"} <= {file.name for file in files}
        for file in files:
            assert CANARY.encode() not in file.read_bytes(), file.name
    for file in settings.data_dir.rglob("*"):
        assert not file.is_file() or CANARY.encode() not in file.read_bytes(), file.name
    out, err = capfd.readouterr()
    assert CANARY not in out + err
    assert "system-keys" in err, "the access log was written"


async def test_no_session_and_no_plugin_secret_opens_the_operators_keys(client: httpx.AsyncClient, host: Host) -> None:
    await store(client, ADMIN)
    session = await host.signed_in("ada")
    for headers in (session, token("x"), {"X-SVC-Plugin-Secret": ADMIN["X-SVC-Admin-Secret"]}):
        for method, path in (("GET", KEYS), ("POST", KEYS), ("GET", f"{KEYS}/openai"), ("DELETE", f"{KEYS}/openai")):
            answer = await client.request(method, path, headers=headers)
            assert (answer.status_code, code_of(answer)) == (401, "admin-secret-missing")
