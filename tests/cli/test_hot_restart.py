"""SIGUSR2: another process goes on with the keys. Nobody signs in again, no request fails, and runs go on."""

import json
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path

import httpx
import pytest

from tests.support import soak
from tests.support.memory import handed_memory
from tests.support.replaceable import Replaceable, ask_for_successor, children, replaceable
from tests.support.run_setup import finished, text_of
from tests.support.soak import Figure
from tests.support.steady_load import sign_in, steady_load
from tests.support.tls import certificate, trusting

OBEDIENT = Path(__file__).parents[1] / "crash" / "replaced_service.py"
GAP_SECONDS = 1.2
"""How long a request may wait, on a machine that does nothing else."""


@pytest.fixture
def replaced(tmp_path: Path) -> Iterator[Replaceable]:
    with replaceable(tmp_path / "service") as service:
        yield service


class Reader(threading.Thread):
    """Reads the events of a run to their end, and comes back as a browser does when a stream ends early."""

    def __init__(self, service: Replaceable, session: dict[str, str], run: str) -> None:
        super().__init__()
        self._service = service
        self._session = session
        self._run = run
        self.seen: list[int] = []
        self.streams = 0
        self.broken: list[str] = []
        self.ended = False

    def run(self) -> None:
        while not self.ended and not self.broken:
            self.streams += 1
            last = {"Last-Event-ID": str(self.seen[-1])} if self.seen else {}
            try:
                with httpx.stream(
                    "GET",
                    f"{self._service.url}/api/runs/{self._run}/events",
                    headers={**self._session, **last},
                    timeout=60,
                ) as answer:
                    assert answer.status_code == 200
                    for line in answer.iter_lines():
                        if line.startswith("id: "):
                            self.seen.append(int(line[4:]))
                        self.ended = self.ended or line == "event: end"
            except httpx.HTTPError as error:
                self.broken.append(repr(error))


class Job:
    """A run of some seconds, whose events somebody reads."""

    def __init__(self, service: Replaceable, session: dict[str, str], documents: int) -> None:
        self.client = httpx.Client(base_url=f"{service.url}/api", timeout=60, headers=session)
        configuration = {
            "inputs": [self._content("input_document", text_of(number)) for number in range(documents)],
            "instructions": self._content("generation_instructions", "Summarise."),
            "generation": {
                "candidates": [{"model": f"local:{name}"} for name in ("lead", "random", "submodular", "mmr")]
            },
            "comparison": {"judges": [{"model": "local:reader"}, {"model": "local:statistician"}]},
            "limits": {"concurrency": 4},
        }
        self.id = str(self.client.post("/runs", json={"configuration": configuration}).json()["id"])
        assert self.client.post(f"/runs/{self.id}/start").status_code == 202
        self.reader = Reader(service, session, self.id)
        self.reader.start()

    def _content(self, kind: str, body: str) -> str:
        return str(self.client.post("/contents", json={"name": kind, "type": kind, "body": body}).json()["id"])

    def progress(self) -> int:
        return int(self.client.get(f"/runs/{self.id}").json()["progress"]["succeeded"])

    def await_progress(self, tasks: int) -> None:
        deadline = time.monotonic() + 60
        while self.progress() < tasks:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def end(self) -> int:
        """Wait for the run and its reader; how many calls were made more than once."""
        deadline = time.monotonic() + 300
        while finished(self.client, {}, self.id, 300) == "paused":
            # Between two processes.
            assert time.monotonic() < deadline
            time.sleep(0.01)
        self.reader.join(60)
        assert (self.reader.ended, self.reader.broken) == (True, [])
        # Each event came once, in order, over however many streams.
        assert self.reader.seen == sorted(set(self.reader.seen))
        assert self.client.get(f"/runs/{self.id}").json()["state"] == "completed"
        repeated, cursor = 0, ""
        while True:
            page = self.client.get(f"/runs/{self.id}/tasks?limit=200{cursor}").json()
            repeated += sum(int(task["attempts"]) - 1 for task in page["items"])
            if page["next_cursor"] is None:
                self.client.close()
                return repeated
            cursor = f"&cursor={page['next_cursor']}"


ASKED = b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def connected(service: Replaceable) -> socket.socket:
    return socket.create_connection(("127.0.0.1", service.port), timeout=60)


def test_a_successor_goes_on_and_nobody_notices(replaced: Replaceable) -> None:
    assert replaced.told("READY=") == "1"
    with steady_load(replaced, "ada", "bob") as load:
        job = Job(replaced, load.sessions["ada"], documents=30)
        job.await_progress(5)
        before = replaced.pid
        with connected(replaced) as fresh, connected(replaced) as half:
            half.sendall(b"GET /api/health HTTP/1.1\r\n")
            fresh.sendall(ASKED)
            assert fresh.recv(4096).startswith(b"HTTP/1.1 200")
            replaced.replace()
            # An idle connection goes on, and one with half a request is closed: nobody has its first half any more.
            fresh.sendall(ASKED)
            assert fresh.recv(4096).startswith(b"HTTP/1.1 200")
            with suppress(ConnectionResetError):
                assert half.recv(4096) == b""
        assert replaced.pid != before
        assert handed_memory(replaced.pid) == []
        load.go_on()
        assert job.end() == 0
    assert load.failures == []
    assert load.all_written()
    assert job.reader.streams >= 2
    assert replaced.log().count('"event":"listening"') == 2
    assert replaced.stop() == 0
    assert took_turns(replaced.log())


@pytest.mark.soak(campaign="restart", alone=True)
def test_many_replacements_under_load_fail_nothing_and_repeat_nothing(tmp_path: Path, figure: Figure) -> None:
    replacements = soak.size(20)
    slowest, repeated, runs = 0.0, 0, 0
    with replaceable(tmp_path / "service", log_level="warning") as service:
        with steady_load(service, *(f"user{number}" for number in range(8))) as load:
            for _ in range(replacements):
                job = Job(service, load.sessions["user0"], documents=10)
                job.await_progress(3)
                load.longest_seconds = 0.0
                service.replace()
                load.go_on()
                slowest = max(slowest, load.longest_seconds)
                repeated += job.end()
                runs += 1
        assert load.failures == []
        assert load.all_written()
        assert service.stop() == 0
    figure(
        "hot restarts under load",
        replacements=replacements,
        requests=load.answered.total(),
        failed=len(load.failures),
        sign_ins=0,
        runs=runs,
        calls_repeated=repeated,
        seconds_waited_at_most=slowest,
    )
    assert repeated == 0
    assert slowest <= GAP_SECONDS


# Refusals and deaths --------------------------------------------------------------------------------------------------


class Obedient:
    """A service whose processes do as a file says, with one user who signed in once."""

    def __init__(self, service: Replaceable, orders: Path) -> None:
        self.service = service
        self._orders = orders
        self.sign_in()

    def sign_in(self) -> None:
        self._session = sign_in(self.service, "ada")

    def order(self, what: str) -> None:
        self.service.forget_what_was_told()
        self._orders.write_text(what)

    def await_obedience(self) -> None:
        """Return when some process has come to the step."""
        deadline = time.monotonic() + 60
        while self._orders.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def answers(self) -> bool:
        """Whether the user who signed in once is served."""
        verify = trusting() if self.service.certificate else True
        answer = httpx.get(f"{self.service.url}/api/users/me", headers=self._session, timeout=60, verify=verify)
        assert answer.status_code == 200, answer.text
        return True

    def is_refused(self, reason: str) -> None:
        """A successor is refused, for this reason, and the process goes on as if nothing had been."""
        pid, before = self.service.pid, self.service.log().count('"event":"hot-restart-refused"')
        ask_for_successor(self.service)
        self.service.await_log('"event":"hot-restart-refused"', before + 1)
        assert reason in self.service.log()
        assert self.answers()
        assert self.service.pid == pid
        assert self.service.process is not None
        assert self.service.process.poll() is None


@contextmanager
def obeying(folder: Path, pem: Path | None = None) -> Iterator[Obedient]:
    orders = folder / "orders"
    orders.write_text("")
    with replaceable(folder / "service", [sys.executable, str(OBEDIENT), str(orders)], pem) as service:
        yield Obedient(service, orders)


@pytest.fixture
def obedient(tmp_path: Path) -> Iterator[Obedient]:
    with obeying(tmp_path) as obedient:
        yield obedient


@pytest.fixture
def over_tls(tmp_path: Path) -> Iterator[Obedient]:
    with obeying(tmp_path, certificate(tmp_path)) as obedient:
        yield obedient


def test_a_successor_that_cannot_go_on_changes_nothing_and_one_that_can_shows_the_new_certificate(
    over_tls: Obedient, tmp_path: Path
) -> None:
    obedient = over_tls
    env = obedient.service.folder / ".env"
    env.write_text("CARREL_WORKERS=none\n")
    obedient.is_refused("the successor ended before it was ready")
    assert "carrel: CARREL_WORKERS: has a value that is not allowed" in obedient.service.log()
    env.unlink()
    obedient.order("newer Terms.of")
    obedient.is_refused("the versions have different schemas")
    # The data folder is taken over, everything is open, and then the successor dies: this process takes it back.
    obedient.order("die before Predecessor.confirm")
    ask_for_successor(obedient.service)
    obedient.service.await_log('"event":"hot-restart-failed"')
    assert obedient.answers()
    with trusting().wrap_socket(socket.create_connection(("127.0.0.1", obedient.service.port), 60)) as connection:
        before = connection.getpeercert(binary_form=True)
        certificate(tmp_path)
        obedient.service.replace()
        # It was told that nothing more comes, and not just cut off.
        assert connection.recv(1) == b""
    with trusting().wrap_socket(socket.create_connection(("127.0.0.1", obedient.service.port), 60)) as connection:
        assert connection.getpeercert(binary_form=True) != before
    assert obedient.answers()
    # Whoever ends the service ends a successor as well that is on its way.
    obedient.order("stop before Predecessor.offer")
    ask_for_successor(obedient.service)
    obedient.await_obedience()
    assert obedient.service.stop() == 0
    assert not any(str(obedient.service.folder) in child.command() for child in children())
    assert took_turns(obedient.service.log())


def took_turns(log: str) -> bool:
    """Whether no two processes answered requests by turns: each has ids of its own, which count up."""
    requests = [json.loads(line) for line in log.splitlines() if '"event":"request"' in line]
    processes = [line["request_id"][:12] for line in sorted(requests, key=lambda line: str(line["time"]))]
    return len(list(groupby(processes))) == len(set(processes))


REFUSED = ("before Predecessor.offer", "after Predecessor.offer", "before Predecessor.take")
TAKEN_BACK = (
    "after Predecessor.take",
    "before HotRestart.arrive",
    "after HotRestart.arrive",
    "before Predecessor.confirm",
)
LOST = (
    "after HotRestart.reserve",
    "before Replacement.end_streams",
    "after Replacement.end_streams",
    "before HotRestart.leave",
    "after HotRestart.leave",
    "before Successor.takes",
)
"""The process that has the keys dies: they are gone, as with every process that dies."""
HANDED_OVER = ("after Successor.takes", "before KeyMemory.wipe", "after KeyMemory.wipe", "before Successor.release")


class Deaths:
    """Kills at each step, in one service after the other."""

    def __init__(self, obedient: Obedient) -> None:
        self._obedient = obedient
        self._service = obedient.service
        self.count = 0

    def of_the_successor(self, step: str) -> None:
        """The old process goes on with its keys."""
        pid = self._service.pid
        self._obedient.order(f"die {step}")
        failed = self._service.log().count('"level":"error"')
        ask_for_successor(self._service)
        self._service.await_log('"level":"error"', failed + 1)
        assert self._obedient.answers(), step
        assert self._service.pid == pid
        self.count += 1

    def of_the_old_process(self, step: str, *, goes_on: bool) -> None:
        """The successor goes on if it has the keys already. Else it ends, too, and the data are as they were."""
        assert self._service.process is not None
        self._obedient.order(f"die {step}")
        ask_for_successor(self._service)
        assert self._service.process.wait(60) == -signal.SIGKILL, step
        # They come to us when their parent dies.
        successors = children()
        if goes_on:
            (self._service.process,) = successors
        else:
            assert [successor.wait(60) for successor in successors] in ([], [2]), step
            self._service.start()
            self._obedient.sign_in()
        assert self._obedient.answers(), step
        self.count += 1

    def of_the_old_process_while_the_successor_starts(self) -> None:
        assert self._service.process is not None
        self._obedient.order("stop before Predecessor.confirm")
        ask_for_successor(self._service)
        self._service.await_log('"event":"keys-taken-over"', self._service.log().count('"event":"keys-taken-over"') + 1)
        self._service.process.kill()
        self._service.process.wait(60)
        (successor,) = children()
        while Path(f"/proc/{successor.pid}/stat").read_text().split()[2] != "T":
            time.sleep(0.01)
        successor.send_signal(signal.SIGCONT)
        self._service.process = successor
        assert self._obedient.answers()
        self.count += 1

    def hanging(self) -> None:
        """A successor that stands still with the keys is killed, and the old process goes on."""
        self._obedient.order("stop after Predecessor.take")
        failed = self._service.log().count('"event":"hot-restart-failed"')
        ask_for_successor(self._service)
        self._service.await_log('"event":"hot-restart-failed"', failed + 1)
        assert self._obedient.answers()


@pytest.mark.soak(campaign="restart")
def test_whoever_dies_at_whichever_step_one_process_serves_and_no_key_is_lost(
    obedient: Obedient, figure: Figure
) -> None:
    deaths = Deaths(obedient)
    for step in (*REFUSED, *TAKEN_BACK):
        deaths.of_the_successor(step)
    deaths.hanging()
    for step in HANDED_OVER:
        deaths.of_the_old_process(step, goes_on=True)
    deaths.of_the_old_process_while_the_successor_starts()
    for step in LOST:
        deaths.of_the_old_process(step, goes_on=False)
    assert obedient.service.stop() == 0
    assert took_turns(obedient.service.log())
    figure("SIGKILL to either process at each step of a hot restart", kills=deaths.count, two_served=0, keys_lost=0)
