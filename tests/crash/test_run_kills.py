"""A run whose process is killed goes on after the next sign-in and ends as if nothing had happened."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.run_setup import finished, text_of
from tests.support.service import Service

KEY = "5a" * 32
KILLED_AT_PERCENT = (12, 45, 80)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path)
    service.start()
    yield service
    if service.process is not None and service.process.poll() is None:
        service.kill()


def test_a_run_that_is_killed_again_and_again_equals_an_undisturbed_one_to_the_byte(service: Service) -> None:
    with httpx.Client(base_url=f"{service.url}/api", timeout=60) as client:
        plugin = {"X-SVC-Plugin-Secret": service.plugin_secret}
        assert client.post("/users", json={"uuid": "ada", "membership": "paid"}, headers=plugin).status_code == 201
        session = _login(client, service)
        configuration = _configuration(client, session)

        undisturbed = _started(client, session, configuration)
        assert finished(client, session, undisturbed) == "completed"

        killed = _started(client, session, configuration)
        finished_before: set[str] = set()
        for percent in KILLED_AT_PERCENT:
            if not _is_at(client, session, killed, percent):
                # It was over before it was looked at again: on a busy machine there is one kill less.
                break
            finished_before |= _succeeded(client, session, killed)
            service.kill()
            service.start()
            session = _login(client, service)
            run = client.get(f"/runs/{killed}", headers=session).json()
            assert run["state"] in ("running", "completed"), "it goes on by itself"
        assert finished(client, session, killed) == "completed"

        assert finished_before, "something had been finished before the kills"
        tasks = list(_tasks(client, session, killed))
        # A call in flight at a kill is begun anew; a finished one never is.
        repeated = [task["key"] for task in tasks if task["key"] in finished_before and task["attempts"] > 1]
        lost = {entry["task_key"] for entry in _logged(client, session, killed) if entry["event"] == "attempt-lost"}
        assert set(repeated) <= lost
        successes = [
            entry["task_key"] for entry in _logged(client, session, killed) if entry["event"] == "task-succeeded"
        ]
        assert len(successes) == len(set(successes)) == len(tasks), "no finished call was repeated"
        assert _outcome(client, session, killed) == _outcome(client, session, undisturbed)


def _login(client: httpx.Client, service: Service) -> dict[str, str]:
    body = {"uuid": "ada", "db_key_hex": KEY}
    answer = client.post("/auth/login", json=body, headers={"X-SVC-Plugin-Secret": service.plugin_secret})
    assert answer.status_code == 200, answer.text
    return {"X-SVC-Session-Token": answer.json()["session_token"]}


def _configuration(client: httpx.Client, session: dict[str, str]) -> dict[str, object]:
    def content(name: str, kind: str, body: str) -> str:
        answer = client.post("/contents", json={"name": name, "type": kind, "body": body}, headers=session)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    inputs = [content(f"Town {number}", "input_document", text_of(number)) for number in range(12)]
    judges = [{"model": "local:reader"}, {"model": "local:statistician"}]
    models = ("lead", "random", "lexrank", "submodular")
    criteria = content("Criteria", "criteria", "- name: coverage\n  description: what the document says\n")
    return {
        "inputs": inputs,
        "instructions": content("Summarise", "generation_instructions", "Summarise the document."),
        "generation": {"candidates": [{"model": f"local:{model}"} for model in models]},
        "scoring": {"judges": judges, "criteria": criteria},
        "comparison": {"judges": judges},
        "limits": {"concurrency": 4},
    }


def _started(client: httpx.Client, session: dict[str, str], configuration: dict[str, object]) -> str:
    created = client.post("/runs", json={"name": "Run", "configuration": configuration}, headers=session)
    assert created.status_code == 201, created.text
    run = str(created.json()["id"])
    assert client.post(f"/runs/{run}/start", headers=session).is_success
    return run


def _is_at(client: httpx.Client, session: dict[str, str], run: str, percent: int) -> bool:
    """Wait until so much of the run is done; whether there is something left of it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        shown = client.get(f"/runs/{run}", headers=session).json()
        if shown["state"] != "running":
            return False
        if shown["progress"]["percent"] >= percent:
            return True
        time.sleep(0.01)
    raise AssertionError("the run did not get there")


def _pages(client: httpx.Client, session: dict[str, str], path: str) -> Iterator[dict[str, Any]]:
    cursor: str | None = None
    while True:
        params = {"limit": "200"} | ({"cursor": cursor} if cursor else {})
        page = client.get(path, params=params, headers=session).json()
        yield from page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return


def _tasks(client: httpx.Client, session: dict[str, str], run: str) -> Iterator[dict[str, Any]]:
    return _pages(client, session, f"/runs/{run}/tasks")


def _logged(client: httpx.Client, session: dict[str, str], run: str) -> Iterator[dict[str, Any]]:
    return _pages(client, session, f"/runs/{run}/logs")


def _succeeded(client: httpx.Client, session: dict[str, str], run: str) -> set[str]:
    return {str(task["key"]) for task in _tasks(client, session, run) if task["state"] == "succeeded"}


def _outcome(client: httpx.Client, session: dict[str, str], run: str) -> bytes:
    """The report as JSON without `run`, which holds everything that is a run's own: its id and its times."""
    answer = client.get(f"/runs/{run}/report", params={"format": "json"}, headers=session)
    assert answer.status_code == 200, answer.text
    report = answer.json()
    del report["run"]
    return json.dumps(report).encode()
