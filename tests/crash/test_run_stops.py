"""A run under a real service that is told to stop, or whose user's password changes in the middle."""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.run_setup import finished, text_of
from tests.support.service import Service

OLD_KEY, NEW_KEY = "5a" * 32, "a5" * 32


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path)
    service.start()
    yield service
    if service.process is not None and service.process.poll() is None:
        service.kill()


@pytest.fixture
def client(service: Service) -> Iterator[httpx.Client]:
    plugin = {"X-SVC-Plugin-Secret": service.plugin_secret}
    with httpx.Client(base_url=f"{service.url}/api", timeout=60, headers=plugin) as client:
        assert client.post("/users", json={"uuid": "ada", "membership": "paid"}).status_code == 201
        yield client


def sign_in(client: httpx.Client, key: str = OLD_KEY) -> dict[str, str]:
    answer = client.post("/auth/login", json={"uuid": "ada", "db_key_hex": key})
    assert answer.status_code == 200, answer.text
    return {"X-SVC-Session-Token": answer.json()["session_token"]}


def start(client: httpx.Client, session: dict[str, str]) -> str:
    def content(kind: str, body: str) -> str:
        answer = client.post("/contents", json={"name": kind, "type": kind, "body": body}, headers=session)
        return str(answer.json()["id"])

    configuration = {
        "inputs": [content("input_document", text_of(number)) for number in range(12)],
        "instructions": content("generation_instructions", "Summarise."),
        "generation": {"candidates": [{"model": f"local:{name}"} for name in ("lead", "random", "submodular", "mmr")]},
        "comparison": {"judges": [{"model": "local:reader"}, {"model": "local:statistician"}]},
        "limits": {"concurrency": 4},
    }
    run = str(client.post("/runs", json={"configuration": configuration}, headers=session).json()["id"])
    assert client.post(f"/runs/{run}/start", headers=session).status_code == 202
    deadline = time.monotonic() + 60
    while client.get(f"/runs/{run}", headers=session).json()["progress"]["succeeded"] < 20:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return run


def events_of(client: httpx.Client, session: dict[str, str], run: str) -> list[tuple[str, str | None]]:
    items = client.get(f"/runs/{run}/logs", params={"level": "warning"}, headers=session).json()["items"]
    return [(item["event"], item["code"]) for item in items[::-1]]


def calls_per_task(client: httpx.Client, session: dict[str, str], run: str) -> int:
    """How many attempts the busiest task took."""
    tasks, cursor = [], None
    while True:
        params = {"limit": "200"} | ({"cursor": cursor} if cursor else {})
        page = client.get(f"/runs/{run}/tasks", params=params, headers=session).json()
        tasks += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return max(int(task["attempts"]) for task in tasks)


def test_a_service_that_is_told_to_stop_pauses_its_runs_and_goes_on_after_the_next_login(
    service: Service, client: httpx.Client
) -> None:
    session = sign_in(client)
    run = start(client, session)
    with client.stream("GET", f"/runs/{run}/events", headers=session) as stream:
        assert stream.status_code == 200
        assert service.stop() == 0
        # To its end: what is only cut off when the server's timeout is over has none, and this raises.
        stream.read()
    service.start()
    session = sign_in(client)
    assert ("run-paused", "service-stopped") in events_of(client, session, run)
    assert finished(client, session, run) == "completed"
    # Calls in flight were given time to end, so nothing was called twice.
    assert calls_per_task(client, session, run) == 1


def test_a_run_outlives_a_change_of_the_password(client: httpx.Client) -> None:
    session = sign_in(client)
    run = start(client, session)
    answer = client.post("/auth/rekey", json={"uuid": "ada", "new_db_key_hex": NEW_KEY})
    assert answer.status_code == 200, answer.text
    session = {"X-SVC-Session-Token": answer.json()["session_token"]}
    assert finished(client, session, run) == "completed"
    assert events_of(client, session, run) == []
    assert calls_per_task(client, session, run) == 1


def test_a_wrong_password_seals_a_run_until_the_right_one_comes(client: httpx.Client) -> None:
    session = sign_in(client)
    run = start(client, session)
    wrong = client.post("/auth/login", json={"uuid": "ada", "db_key_hex": NEW_KEY})
    assert wrong.status_code == 401
    assert client.get(f"/runs/{run}", headers=session).status_code == 401
    session = sign_in(client)
    assert ("run-paused", "key-absent") in events_of(client, session, run)
    assert finished(client, session, run) == "completed"
