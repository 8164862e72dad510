"""A run over real HTTP under a real service that is killed, and what must be true of it afterwards."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from tests.support.model_server import Counts, Running, model_server
from tests.support.run_setup import text_of
from tests.support.service import Service
from tests.support.warm_service import ServiceStarter

KEY = "5a" * 32
ENDED = frozenset({"completed", "completed_with_errors", "failed", "cancelled"})
_POLL_SECONDS = 0.002


class Work(NamedTuple):
    """How much a run does: `documents` times `models` answers, each scored by every judge, and compared if asked."""

    documents: int
    models: tuple[str, ...]
    judges: tuple[str, ...]
    compared: bool
    concurrency: int

    @property
    def calls(self) -> int:
        answers = self.documents * len(self.models)
        pairs = self.documents * len(self.models) * (len(self.models) - 1) if self.compared else 0
        return answers + (answers + pairs) * len(self.judges)


SIXTY = Work(10, ("alpha", "beta"), ("judge-one",), compared=True, concurrency=4)
JOB = Work(100, ("alpha", "beta", "gamma"), ("judge-one", "judge-two"), compared=False, concurrency=64)
"""The evaluation job: 900 calls."""


class Outcome(NamedTuple):
    """A run that has ended. `report` is without what is a run's own: ids, times, lost calls."""

    report: dict[str, Any]
    cost: str
    unknown_calls: int
    lost_calls: int
    counts: Counts


@dataclass
class KillCounts:
    """What kills cost."""

    kills: int = 0
    lost: int = 0
    """Calls that were in flight at a kill: of unknown outcome."""
    answered_for_nobody: int = 0
    """Answers that the provider gave again, because the kill came before the first was committed."""
    repeated: int = 0
    """Calls whose answer was committed and that were made again."""

    def __str__(self) -> str:
        return (
            f"{self.kills} kills: {self.repeated} completed calls repeated; {self.lost} calls in flight, all shown as"
            f" unknown-outcome, of which the provider answered {self.answered_for_nobody} twice"
        )


TIMEOUT_SECONDS = 600.0
"""Campaigns run beside others for hours; what takes so long is stuck."""


class Campaign:
    """One user with one key for the models of a local server. The same configuration for every run."""

    def __init__(self, service: Service, models: Running, work: Work) -> None:
        self.service = service
        self.models = models
        self.work = work
        self._client = httpx.Client(base_url=f"{service.url}/api", timeout=TIMEOUT_SECONDS)
        self._configuration: dict[str, Any] = {}

    def set_up(self) -> None:
        """The user, the key, the texts. Runs wait for their user after a restart."""
        plugin = {"X-SVC-Plugin-Secret": self.service.plugin_secret}
        assert self._client.post("/users", json={"uuid": "ada", "membership": "paid"}, headers=plugin).is_success
        self.sign_in()
        self.post("/provider-keys", {"provider": "openai", "key": self.models.key, "base_url": self.models.base_url})
        assert self._client.put("/settings", json={"resume_after_restart": False}).is_success
        inputs = [self._content("input_document", text_of(number)) for number in range(self.work.documents)]
        judges = [{"model": f"openai:{judge}"} for judge in self.work.judges]
        criteria = self._content("criteria", "- name: coverage\n  description: what the document says\n")
        self._configuration = {
            "inputs": inputs,
            "instructions": self._content("generation_instructions", "Summarise {{document}} in three sentences."),
            "generation": {"candidates": [{"model": f"openai:{model}"} for model in self.work.models]},
            "scoring": {"judges": judges, "criteria": criteria},
            "limits": {"concurrency": self.work.concurrency},
        }
        if self.work.compared:
            self._configuration["comparison"] = {"judges": judges}

    def sign_in(self) -> None:
        plugin = {"X-SVC-Plugin-Secret": self.service.plugin_secret}
        answer = self._client.post("/auth/login", json={"uuid": "ada", "db_key_hex": KEY}, headers=plugin)
        assert answer.status_code == 200, answer.text
        self._client.headers["X-SVC-Session-Token"] = answer.json()["session_token"]

    @property
    def token(self) -> str:
        """The user's session token."""
        return self._client.headers["X-SVC-Session-Token"]

    def make(self) -> str:
        """A pending run; from now on the models count its calls."""
        run: str = self.post("/runs", {"configuration": self._configuration})["id"]
        self.models.forget()
        return run

    def go_on(self, run: str) -> bool:
        """Start the run, or resume it; False if the service died of it, or it has ended."""
        with suppress(httpx.TransportError):
            state = self.run(run)["state"]
            move = {"pending": "start", "paused": "resume"}.get(state)
            return move is not None and self._client.post(f"/runs/{run}/{move}").is_success
        return False

    def come_back(self) -> None:
        """The next process, and the user signs in again."""
        self._client.close()
        self._client = httpx.Client(base_url=f"{self.service.url}/api", timeout=TIMEOUT_SECONDS)
        self.service.start()
        self.sign_in()

    def resumed(self, run: str) -> float:
        """Resume the run; seconds until the first call reached the models, as far as polling can tell.

        0 if no call was left to be made.
        """
        before = self.models.started()
        began = time.perf_counter()
        assert self.post(f"/runs/{run}/resume")["state"] == "running"
        while self.models.started() == before:
            if self.run(run)["state"] in ENDED:
                return 0.0
            assert time.perf_counter() - began < 30, "no call came"
            time.sleep(_POLL_SECONDS)
        return time.perf_counter() - began

    def ended(self, run: str, timeout_seconds: float = TIMEOUT_SECONDS) -> bool:
        """Wait for its end; False if the service died before."""
        deadline = time.monotonic() + timeout_seconds
        with suppress(httpx.TransportError):
            while self.run(run)["state"] not in ENDED:
                assert time.monotonic() < deadline
                time.sleep(0.02)
            return True
        return False

    def outcome(self, run: str) -> Outcome:
        answer = self._client.get(f"/runs/{run}/report", params={"format": "json"})
        assert answer.status_code == 200, answer.text
        report = answer.json()
        facts = report.pop("run")
        spend = self.run(run)["spend"]
        return Outcome(report, spend["cost"], spend["unknown_calls"], facts["lost_calls"], self.models.counts())

    def hold(self, run: str, undisturbed: Outcome, kill_counts: KillCounts) -> None:
        """Results and spending are those of the undisturbed run, and what was lost is on the books, each call of it."""
        found = self.outcome(run)
        assert found.report == undisturbed.report
        assert (found.cost, found.unknown_calls) == (undisturbed.cost, undisturbed.unknown_calls + found.lost_calls)
        tasks = list(self._pages(f"/runs/{run}/tasks"))
        assert {task["state"] for task in tasks} == {"succeeded"}
        lost = Counter(
            entry["task_key"]
            for entry in self._pages(f"/runs/{run}/logs")
            if entry["event"] == "attempt-lost" and entry["code"] == "unknown-outcome"
        )
        assert lost.total() == found.lost_calls
        repeated = {task["key"]: task["attempts"] - 1 - lost[task["key"]] for task in tasks}
        assert not any(repeated.values()), "a task was called again although its answer was there"
        # What the models saw: nothing that is not on the books, and no answer more than calls were lost.
        assert found.counts.started <= self.work.calls + found.lost_calls
        assert found.counts.repeated(undisturbed.counts) <= found.lost_calls
        kill_counts.lost += found.lost_calls
        kill_counts.answered_for_nobody += found.counts.repeated(undisturbed.counts)
        kill_counts.repeated += sum(repeated.values())

    def run(self, run: str) -> dict[str, Any]:
        shown: dict[str, Any] = self._client.get(f"/runs/{run}").raise_for_status().json()
        return shown

    def post(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        answer = self._client.post(path, json=body)
        assert answer.is_success, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def close(self) -> None:
        self._client.close()

    def _content(self, kind: str, body: str) -> str:
        made: str = self.post("/contents", {"name": kind, "type": kind, "body": body})["id"]
        return made

    def _pages(self, path: str) -> Iterator[dict[str, Any]]:
        cursor: str | None = None
        while True:
            params = {"limit": "200"} | ({"cursor": cursor} if cursor else {})
            page = self._client.get(path, params=params).raise_for_status().json()
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return


@contextmanager
def campaign(
    folder: Path, work: Work, latency_ms: float = 0, starter: ServiceStarter | None = None
) -> Iterator[Campaign]:
    """A service with its user signed in, forked by `starter` if there is one; both servers are gone at the end."""
    with model_server(latency_ms=latency_ms) as models:
        service = Service(folder, settings={"CARREL_PROVIDER_HOSTS": models.host})
        if starter is not None:
            service.program, service.launch = ["carrel.cli.main"], starter.launch
        service.start()
        made = Campaign(service, models, work)
        try:
            made.set_up()
            yield made
        finally:
            made.close()
            if service.process is not None and service.process.poll() is None:
                service.kill()
