"""Long work of many users in threads: short work runs at once, long work takes turns.

Threads share one interpreter and few cores. Without turns, the long work of a few users would keep everybody waiting:
the event loop waits for every thread that runs Python, and a short piece of work waits for its share of the cores.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Hashable
from typing import Final

SHORT_SECONDS: Final = 0.1
"""Processor time that a user's work may take without a turn; it comes back over time."""
SHARE: Final = 0.1
"""How fast it comes back: a tenth of a core."""
SLICE_SECONDS: Final = 0.05
"""How long a turn lasts while others wait for theirs."""
_CHECK_SECONDS: Final = 0.005


class Turns:
    """Lets `at_once` threads do long work; by default as many as there are cores besides the event loop's."""

    def __init__(self, at_once: int | None = None) -> None:
        self._lock = threading.Lock()
        self._free = at_once or max(1, (os.cpu_count() or 2) - 1)
        self._waiting: deque[Turn] = deque()
        self._allowances: dict[Hashable, tuple[float, float]] = {}
        """What a user may take without a turn, and when that was so."""

    def of(self, user: Hashable) -> "Turn":
        """A piece of work of this user, to be done in the thread that calls this."""
        return Turn(self, user)

    def charge(self, user: Hashable, seconds: float) -> float:
        """Take processor time from the user's allowance, and return what is left; with 0 or less, turns are needed."""
        now = time.monotonic()
        with self._lock:
            left, at = self._allowances.get(user, (SHORT_SECONDS, now))
            left = min(SHORT_SECONDS, left + (now - at) * SHARE) - seconds
            self._allowances[user] = (max(left, -SHORT_SECONDS), now)
        return left

    def acquire(self, turn: "Turn") -> bool:
        """Give a turn if one is free; else the work waits in the order of asking."""
        with self._lock:
            if self._free and not turn.stopped:
                self._free -= 1
                turn.is_held = True
            elif not turn.stopped:
                self._wait(turn)
            return turn.is_held

    def release(self, turn: "Turn") -> None:
        """Give the turn to whoever has waited longest."""
        with self._lock:
            if turn.is_held:
                turn.is_held = False
                self._pass_on()

    def rotate(self, turn: "Turn") -> bool:
        """Let the next one have the turn and wait behind the others. Without others, the turn goes on."""
        with self._lock:
            if self._waiting and not turn.stopped:
                turn.is_held = False
                self._pass_on()
                self._wait(turn)
            return turn.is_held

    def forget(self, turn: "Turn") -> None:
        """The work was stopped: it waits no longer."""
        with self._lock:
            turn.stopped = True
            if turn in self._waiting:
                self._waiting.remove(turn)
            if turn.go is not None:
                turn.go.set()

    def _wait(self, turn: "Turn") -> None:
        turn.go = turn.go or threading.Event()
        self._waiting.append(turn)

    def _pass_on(self) -> None:
        if self._waiting:
            following = self._waiting.popleft()
            following.is_held = True
            if following.go is not None:
                following.go.set()
        else:
            self._free += 1


class Turn:
    """One piece of work. `take` and `end` belong to its thread; `stop` may be called from every thread."""

    __slots__ = ("_cpu", "_turns", "_until", "_user", "go", "is_held", "stopped")

    def __init__(self, turns: Turns, user: Hashable) -> None:
        self._turns = turns
        self._user = user
        self._cpu = time.thread_time()
        self._until = time.monotonic() + _CHECK_SECONDS
        self.go: threading.Event | None = None
        """Set when the work may go on; most work never waits."""
        self.is_held = False
        self.stopped = False

    def take(self) -> None:
        """Return when the work may go on; call it every few milliseconds. Work that was stopped goes on at once."""
        now = time.monotonic()
        if now < self._until or self.stopped:
            return
        if not self.is_held:
            left = self._charge()
            if left > 0:
                self._until = now + max(left, _CHECK_SECONDS)
                return
            goes_on = self._turns.acquire(self)
        else:
            goes_on = self._turns.rotate(self)
        if not goes_on and self.go is not None:
            self.go.wait()
            self.go.clear()
        self._until = time.monotonic() + SLICE_SECONDS

    def stop(self) -> None:
        """Wait for no turn any more."""
        self._turns.forget(self)

    def end(self) -> None:
        """The work is done: the next one may have the turn."""
        self._charge()
        self._turns.release(self)

    def _charge(self) -> float:
        used, self._cpu = self._cpu, time.thread_time()
        return self._turns.charge(self._user, self._cpu - used)
