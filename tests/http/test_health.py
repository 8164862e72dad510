import asyncio

import httpx
import pytest

from carrel.accounts.service import ServiceDatabase
from carrel.app import create_app, health
from carrel.config import Settings
from carrel.errors import Unavailable
from tests.support.asgi import client_of, running
from tests.support.clock import FakeClock
from tests.support.host import ADMIN, PLUGIN, Host, code_of


async def test_health_tells_that_the_process_lives(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/health")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"


async def test_a_stranger_learns_whether_a_restart_is_safe_and_no_number(client: httpx.AsyncClient, host: Host) -> None:
    await host.signed_in("ada")
    answer = await client.get("/api/health/safe-to-restart")
    assert answer.json() == {"safe": True}


@pytest.mark.parametrize("credential", [PLUGIN, ADMIN])
async def test_host_and_operator_learn_the_numbers(
    client: httpx.AsyncClient, host: Host, credential: dict[str, str]
) -> None:
    await host.signed_in("ada")
    answer = await client.get("/api/health/safe-to-restart", headers=credential)
    assert answer.json() == {"safe": True, "active_runs": 0, "cached_keys": 1}
    wrong = await client.get("/api/health/safe-to-restart", headers=dict.fromkeys(credential, "wrong"))
    assert wrong.status_code == 401


async def test_a_service_that_is_told_to_stop_lives_and_is_not_ready(settings: Settings, clock: FakeClock) -> None:
    stopping = asyncio.Event()
    app = create_app(settings, clock=clock, stopping=stopping)
    async with running(app), client_of(app) as client:
        assert (await client.get("/api/health/ready")).json() == {"status": "ready"}
        stopping.set()
        refused = await client.get("/api/health/ready")
        assert (refused.status_code, code_of(refused)) == (503, "not-ready")
        assert refused.headers["retry-after"] == "5"
        assert (await client.get("/api/health")).status_code == 200


@pytest.mark.parametrize("hangs", [False, True])
async def test_a_data_folder_that_does_not_answer_is_noticed(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, hangs: bool
) -> None:
    async def run(*_: object) -> None:
        if hangs:
            await asyncio.sleep(60)
        raise Unavailable

    monkeypatch.setattr(health, "READY_SECONDS", 0.01)
    monkeypatch.setattr(ServiceDatabase, "run", run)
    assert code_of(await client.get("/api/health/ready")) == "not-ready"
    assert (await client.get("/api/health")).status_code == 200
