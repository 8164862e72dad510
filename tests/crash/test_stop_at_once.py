"""SIGTERM during a busy run, in a real process: the run pauses at once, whatever the server still waits for."""

import datetime
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.run_setup import finished, text_of
from tests.support.service import Service

KEY = "5a" * 32


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path)
    service.start()
    yield service
    if service.process is not None and service.process.poll() is None:
        service.kill()


def signed_in(client: httpx.Client) -> dict[str, str]:
    answer = client.post("/auth/login", json={"uuid": "ada", "db_key_hex": KEY})
    assert answer.status_code == 200, answer.text
    return {"X-SVC-Session-Token": answer.json()["session_token"]}


def started(client: httpx.Client, session: dict[str, str]) -> str:
    """A run that takes a while: long documents for the slowest of the built-in models."""

    def content(kind: str, body: str) -> str:
        answer = client.post("/contents", json={"name": kind, "type": kind, "body": body}, headers=session)
        return str(answer.json()["id"])

    long = "\n\n".join(text_of(number) for number in range(40))
    configuration = {
        "inputs": [content("input_document", f"{number}. {long}") for number in range(20)],
        "instructions": content("generation_instructions", "Summarise."),
        "generation": {"candidates": [{"model": f"local:{name}"} for name in ("lexrank", "submodular", "mmr")]},
        "comparison": {"judges": [{"model": "local:reader"}, {"model": "local:statistician"}]},
        "limits": {"concurrency": 4},
    }
    run = str(client.post("/runs", json={"configuration": configuration}, headers=session).json()["id"])
    assert client.post(f"/runs/{run}/start", headers=session).status_code == 202
    deadline = time.monotonic() + 60
    while client.get(f"/runs/{run}", headers=session).json()["progress"]["succeeded"] < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return run


def half_a_request(service: Service, session: dict[str, str]) -> socket.socket:
    """A client that never finishes its request: the server waits for it as long as it waits for anybody."""
    connection = socket.create_connection(("127.0.0.1", service.port))
    head = ["POST /api/contents HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", "Content-Length: 1000"]
    head += ["Expect: 100-continue", *(f"{name}: {value}" for name, value in session.items())]
    connection.sendall("\r\n".join([*head, "", ""]).encode())
    # Before the signal the application waits for the body: only then does the server ask for it.
    assert connection.recv(4096).startswith(b"HTTP/1.1 100 ")
    connection.sendall(b'{"name"')
    return connection


def test_a_run_pauses_when_the_signal_comes_and_not_when_the_last_client_has_gone(service: Service) -> None:
    plugin = {"X-SVC-Plugin-Secret": service.plugin_secret}
    with httpx.Client(base_url=f"{service.url}/api", timeout=60, headers=plugin) as client:
        assert client.post("/users", json={"uuid": "ada", "membership": "paid"}).status_code == 201
        session = signed_in(client)
        run = started(client, session)
        with half_a_request(service, session):
            told = datetime.datetime.now(datetime.UTC)
            assert service.stop() == 0
            ended = datetime.datetime.now(datetime.UTC)
        service.start()
        session = signed_in(client)
        items = client.get(f"/runs/{run}/logs", params={"level": "warning"}, headers=session).json()["items"]
        paused = next(item for item in items if (item["event"], item["code"]) == ("run-paused", "service-stopped"))
        # Half of the time that the stop took is far more than a pause needs.
        assert datetime.datetime.fromisoformat(paused["at"]) - told < (ended - told) / 2
        assert finished(client, session, run) == "completed"
