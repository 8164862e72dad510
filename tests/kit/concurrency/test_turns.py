"""Whose long work runs, whose waits, and that work which was stopped waits for nothing."""

import threading

import pytest

from carrel.kit.concurrency import turns
from carrel.kit.concurrency.turns import QueuedWork, Turns


@pytest.fixture(autouse=True)
def all_work_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SHORT_SECONDS", "TURN_SECONDS"):
        monkeypatch.setattr(turns, name, 0.0)


class Work:
    """Work in a thread of its own, which asks for its turn once for each call of `step`."""

    def __init__(self, shared: Turns, user: str) -> None:
        self.turn: QueuedWork
        self.ready = threading.Event()
        self.asked = threading.Semaphore(0)
        self.went_on = threading.Semaphore(0)
        self.ends = False
        self.thread = threading.Thread(target=self._run, args=(shared, user), daemon=True)
        self.thread.start()
        assert self.ready.wait(60)

    def _run(self, shared: Turns, user: str) -> None:
        self.turn = shared.of(user)
        self.ready.set()
        while True:
            self.asked.acquire()
            if self.ends:
                self.turn.end()
                return
            self.turn.take()
            self.went_on.release()

    def step(self) -> None:
        self.asked.release()

    def goes_on(self, seconds: float = 60) -> bool:
        return self.went_on.acquire(timeout=seconds)

    def end(self) -> None:
        self.ends = True
        self.step()
        self.thread.join(60)


def test_long_work_goes_on_in_the_order_of_asking() -> None:
    shared = Turns(at_once=1)
    ada, bob, eve = (Work(shared, name) for name in ("ada", "bob", "eve"))
    ada.step()
    assert ada.goes_on()
    for waiting in (bob, eve):
        waiting.step()
        assert not waiting.goes_on(0.05)
    for leaving, next_one in ((ada, bob), (bob, eve), (eve, ada)):
        leaving.step()
        assert next_one.goes_on()
        assert not leaving.goes_on(0.02)
    ada.end()
    for waiting in (bob, eve):
        assert waiting.goes_on()
        waiting.end()


def test_work_that_was_stopped_waits_no_longer_and_takes_no_turn_from_others() -> None:
    shared = Turns(at_once=1)
    ada, bob, eve = (Work(shared, name) for name in ("ada", "bob", "eve"))
    ada.step()
    assert ada.goes_on()
    for waiting in (bob, eve):
        waiting.step()
        assert not waiting.goes_on(0.05)
    bob.turn.stop()
    assert bob.goes_on()
    bob.end()
    ada.end()
    assert eve.goes_on()
    eve.end()


def test_short_work_goes_before_long_work_that_has_waited_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "TIMEOUT_SECONDS", 60.0)
    shared = Turns(at_once=1)
    ada, bob, eve = (Work(shared, name) for name in ("ada", "bob", "eve"))
    ada.step()
    assert ada.goes_on()
    bob.step()
    assert not bob.goes_on(0.05)
    monkeypatch.setattr(turns, "SHORT_SECONDS", 60.0)
    # What somebody has used stays used.
    shared.charge("ada", 120.0)
    eve.step()
    assert not eve.goes_on(0.05)
    ada.step()
    assert eve.goes_on()
    assert not ada.goes_on(0.02)
    eve.end()
    assert bob.goes_on()
    bob.end()
    assert ada.goes_on()
    ada.end()


def test_of_the_short_work_that_waits_that_of_who_has_used_least_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "TIMEOUT_SECONDS", 60.0)
    monkeypatch.setattr(turns, "SHORT_SECONDS", 60.0)
    shared = Turns(at_once=1)
    for name, seconds in (("ada", 30.0), ("bob", 20.0), ("eve", 1.0)):
        shared.charge(name, seconds)
    holding = shared.of("ada")
    holding.begin()
    order: list[str] = []

    def work(name: str) -> None:
        turn = shared.of(name)
        turn.begin()
        order.append(name)
        turn.end()

    threads = []
    for name in ("ada", "bob", "bob", "eve"):
        threads.append(threading.Thread(target=work, args=(name,), daemon=True))
        threads[-1].start()
        while shared.waiting < len(threads):
            threading.Event().wait(0.001)
    holding.end()
    for thread in threads:
        thread.join(60)
    assert order == ["eve", "bob", "bob", "ada"]


def test_work_that_begins_with_a_turn_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "TIMEOUT_SECONDS", 60.0)
    shared = Turns(at_once=1)
    first, second = shared.of("ada"), shared.of("bob")
    first.begin()
    began = threading.Event()

    def work() -> None:
        second.begin()
        began.set()
        second.end()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert not began.wait(0.05)
    first.end()
    assert began.wait(60)
    thread.join(60)


def test_work_goes_on_while_nobody_waits() -> None:
    work = Work(Turns(at_once=1), "ada")
    for _ in range(100):
        work.step()
        assert work.goes_on()
    work.end()


def test_short_work_goes_on_one_by_one_while_whoever_has_the_turn_gives_no_sign(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "SHORT_SECONDS", 60.0)
    monkeypatch.setattr(turns, "TIMEOUT_SECONDS", 0.001)
    shared = Turns(at_once=1)
    shared.charge("ada", 30.0)
    stuck = shared.of("eve")
    stuck.begin()
    order: list[str] = []

    def work(name: str) -> None:
        turn = shared.of(name)
        turn.begin()
        order.append(name)
        turn.end()

    threads = [threading.Thread(target=work, args=(name,), daemon=True) for name in ("ada", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(order) == ["ada", "bob"]
    stuck.end()


def test_short_work_needs_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = Turns(at_once=1)
    long = Work(shared, "ada")
    long.step()
    assert long.goes_on()
    monkeypatch.setattr(turns, "SHORT_SECONDS", 60.0)
    short = Work(shared, "bob")
    for _ in range(10):
        short.step()
        assert short.goes_on()
    short.end()
    long.end()


def test_a_user_who_has_used_up_the_allowance_needs_turns_until_it_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "SHORT_SECONDS", 1.0)
    now = 0.0
    monkeypatch.setattr("carrel.kit.concurrency.turns.time.monotonic", lambda: now)
    shared = Turns()
    assert shared.charge("ada", 0.75) == 0.25
    assert shared.charge("ada", 0.75) == -0.5
    assert shared.charge("bob", 0.0) == 1.0
    now = 10.0
    assert shared.charge("ada", 0.0) == 0.5
    now = 100.0
    assert shared.charge("ada", 0.0) == 1.0
