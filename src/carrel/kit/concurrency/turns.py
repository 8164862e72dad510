"""Work of many users in threads: by turns, those who used little of late before the others.

Threads share one interpreter and few cores. Without turns, the work of a few users would keep everybody waiting: the
event loop waits for every thread that runs Python, again each time that it let go of the interpreter. Nothing else in
the service cares for this: a connection takes a turn before each statement, whatever it is for.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Hashable
from typing import Final

SHORT_SECONDS: Final = 0.1
"""Processor time that a user's work may take before it is long; it comes back over time."""
SHARE: Final = 0.1
"""How fast it comes back: a tenth of a core."""
TURN_SECONDS: Final = 0.005
"""How long a turn lasts while somebody waits who has used no more; and before work that may be short asks at all."""
TIMEOUT_SECONDS: Final = 0.005
"""If whoever has a turn gives no sign for so long, because it is in the middle of one long statement, the first of the
short work that waits goes on without a turn."""
MOST_AT_ONCE: Final = 2
"""More cores than this do not help threads that share one interpreter."""


class Turns:
    """Lets `at_once` threads work; by default as many as there are cores besides the event loop's, but two at most."""

    def __init__(self, at_once: int | None = None) -> None:
        self._lock = threading.Lock()
        self._free = at_once or max(1, min(MOST_AT_ONCE, (os.cpu_count() or 2) - 1))
        self._waiting: deque[QueuedWork] = deque()
        self._sign_at = 0.0
        """When somebody got a turn, or went on without one."""
        self._allowances: dict[Hashable, tuple[float, float]] = {}
        """What a user may take before work is long, and when that was so."""

    def of(self, user: Hashable) -> "QueuedWork":
        """A piece of work of this user, to be done in the thread that calls this."""
        return QueuedWork(self, user)

    def charge(self, user: Hashable, seconds: float) -> float:
        """Take processor time from the user's allowance, and return what is left; with 0 or less, work is long."""
        now = time.monotonic()
        with self._lock:
            left = self._left(user, now) - seconds
            self._allowances[user] = (max(left, -SHORT_SECONDS), now)
        return left

    def _left(self, user: Hashable, now: float) -> float:
        left, at = self._allowances.get(user, (SHORT_SECONDS, now))
        return min(SHORT_SECONDS, left + (now - at) * SHARE)

    @property
    def waiting(self) -> int:
        """How much work waits for a turn."""
        return len(self._waiting)

    def ask(self, turn: "QueuedWork") -> bool:
        """Whether the work goes on: there is a turn for it, or it was stopped. Otherwise it waits."""
        with self._lock:
            if turn.stopped:
                return True
            if turn.is_held:
                now = time.monotonic()
                if not self._waiting or self._left(self._first().user, now) < self._left(turn.user, now):
                    return True
                turn.is_held = False
                self._pass_on()
            elif self._free:
                self._free -= 1
                self._sign_at = time.monotonic()
                turn.is_held = True
                return True
            turn.go.clear()
            self._waiting.append(turn)
            return False

    def release(self, turn: "QueuedWork") -> None:
        """Give the turn to who has used least of those who wait."""
        with self._lock:
            if turn.is_held:
                turn.is_held = False
                self._pass_on()

    def forget(self, turn: "QueuedWork") -> None:
        """The work was stopped and waits no longer."""
        with self._lock:
            turn.stopped = True
            if turn in self._waiting:
                self._waiting.remove(turn)
            turn.go.set()

    def goes_on_without(self, turn: "QueuedWork") -> bool:
        """Whether short work that has waited goes on: with a turn that has come in the meantime, or without one."""
        with self._lock:
            if turn.is_held or turn.stopped:
                return True
            now = time.monotonic()
            if now - self._sign_at < TIMEOUT_SECONDS or self._first() is not turn:
                return False
            self._waiting.remove(turn)
            self._sign_at = now
            return True

    def _first(self) -> "QueuedWork":
        """Of those who have used equally little, whoever has waited longest."""
        now = time.monotonic()
        return max(self._waiting, key=lambda turn: self._left(turn.user, now))

    def _pass_on(self) -> None:
        self._sign_at = time.monotonic()
        if self._waiting:
            following = self._first()
            self._waiting.remove(following)
            following.is_held = True
            following.go.set()
        else:
            self._free += 1


class QueuedWork:
    """One piece of work. `begin`, `take` and `end` belong to its thread; `stop` may be called from every thread."""

    __slots__ = ("_cpu", "_turns", "_until", "go", "is_held", "is_long", "stopped", "user")

    def __init__(self, turns: Turns, user: Hashable) -> None:
        self._turns = turns
        self.user = user
        self._cpu: float | None = None
        self._until = 0.0
        self.go = threading.Event()
        """Set when work that waited may go on."""
        self.is_held = False
        self.is_long = False
        self.stopped = False

    def begin(self) -> None:
        """Return when the work may begin: much short work at once slows the event loop as long work does."""
        self._cpu = time.thread_time()
        self._ask()

    def take(self) -> None:
        """Return when the work may go on; call it every few milliseconds. Work that was stopped goes on at once."""
        if self.stopped:
            return
        now = time.monotonic()
        if self._cpu is None:
            # It has not begun with a turn, as it may be short.
            self._cpu = time.thread_time()
            self._until = now + TURN_SECONDS
        if now >= self._until:
            self._ask()

    def stop(self) -> None:
        """Wait for no turn any more."""
        self._turns.forget(self)

    def end(self) -> None:
        """The work is done: the next one may have the turn."""
        if self._cpu is not None:
            self._charge()
            self._turns.release(self)

    def _ask(self) -> None:
        self.is_long = self._charge() <= 0
        if not self._turns.ask(self):
            while not self.go.wait(None if self.is_long else TIMEOUT_SECONDS):
                if self._turns.goes_on_without(self):
                    break
        self._until = time.monotonic() + TURN_SECONDS

    def _charge(self) -> float:
        before, self._cpu = self._cpu, time.thread_time()
        return self._turns.charge(self.user, self._cpu - (before or self._cpu))
