"""The whole journey with canary strings in everything a user gives or gets; none may be found outside the workspace."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from carrel_sdk import derive_key

from tests.support.canaries import (
    CANARIES,
    NEW_PASSWORD,
    PASSWORD,
    Search,
    journey,
    let_a_program_in,
    provoke_errors,
    sign_in,
    take_along,
)
from tests.support.collector import Spans, collector
from tests.support.service import Service
from tests.support.soak import Figure
from tests.support.webhook_host import SECRET, Received, webhook_host


@pytest.fixture
def received() -> Iterator[Received]:
    with webhook_host() as received:
        yield received


@pytest.fixture
def spans() -> Iterator[Spans]:
    with collector() as spans:
        yield spans


@pytest.fixture
def service(tmp_path: Path, received: Received, spans: Spans) -> Iterator[Service]:
    """The real program; whatever it writes to temporary folders lands in one of ours."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    told = {"CARREL_WEBHOOK_URL": received.url, "CARREL_WEBHOOK_SECRET": SECRET}
    traced = {"OTEL_EXPORTER_OTLP_ENDPOINT": spans.url}
    service = Service(tmp_path / "service", settings={"TMPDIR": str(temporary), **told, **traced})
    service.start()
    yield service
    if service.process is not None and service.process.poll() is None:
        service.stop()


def test_no_canary_is_readable_anywhere_outside_the_users_workspace(
    service: Service, received: Received, spans: Spans, tmp_path: Path
) -> None:
    assert search_after_a_journey(service, received, spans, tmp_path).places > 50


@pytest.mark.soak(campaign="canaries")
def test_the_search_for_canaries_has_its_figures(
    service: Service, received: Received, spans: Spans, tmp_path: Path, figure: Figure
) -> None:
    """The same journey: in the long campaigns it tells what it looked for, and in how many places."""
    search = search_after_a_journey(service, received, spans, tmp_path)
    figure("canaries, passwords and keys looked for", strings=search.strings, places=search.places, found=0)


def search_after_a_journey(service: Service, received: Received, spans: Spans, folder: Path) -> Search:
    """Go the whole journey, and look for everything in every place while it goes on and after its end."""
    search = Search([service], [folder])
    errors: list[bytes] = []
    plugin = {"X-SVC-Plugin-Secret": service.plugin_secret}
    keys = [derive_key(PASSWORD, "canary-user"), derive_key(NEW_PASSWORD, "canary-user")]
    with httpx.Client(base_url=f"{service.url}/api", timeout=60) as client:
        session = sign_in(client, plugin, keys[0])
        run = journey(client, session, errors)
        assert received.came.wait(60)
        assert next(iter(received.events.values()))["data"] == {"user": "canary-user", "run": run, "state": "completed"}
        errors += received.raw
        keys.append(let_a_program_in(client, session, errors))
        provoke_errors(client, session, plugin, run, errors)
        take_along(client, session)
        backup = client.post("/admin/backup", headers={"X-SVC-Admin-Secret": service.admin_secret})
        assert backup.status_code == 200, backup.text
        assert search.found([*errors, backup.content], keys) == {}, "while the databases are open"

        body = {"uuid": "canary-user", "new_db_key_hex": keys[1].hex()}
        answer = client.post("/auth/rekey", json=body, headers=plugin)
        assert answer.status_code == 200, answer.text
        session = {"X-SVC-Session-Token": answer.json()["session_token"]}
        # The workspace does hold what is looked for; else nothing would have been proven.
        report = client.get(f"/runs/{run}/report", headers=session | {"Accept": "application/json"})
        assert CANARIES["document"] in report.text
        assert search.found(errors, keys) == {}, "after a rekey"

        client.post("/auth/login", json={"uuid": "canary-user", "db_key_hex": "0" * 64}, headers=plugin)
        assert search.found(errors, keys) == {}, "after an eviction"
    assert service.stop() == 0
    assert search.found([*errors, *spans.raw], keys) == {}, "after the end"
    # The user is called so everywhere, and the run stands in paths of requests.
    assert not [name for name in ("canary-user", "ary-user", run) if name.encode() in b"".join(spans.raw)]
    assert {"POST /api/presets/{preset_id}/execute", "commit", "run", "call local"} <= spans.names
    assert spans.parents("call local") == {"run"}
    assert spans.parents("run") == {""}
    assert "POST /api/presets/{preset_id}/execute" in spans.parents("commit")
    return search
