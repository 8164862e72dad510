"""Work of many users in threads: by turns, those who used little of late before the others.

Threads share one interpreter and few cores. Without turns, the work of a few users would keep everybody waiting: the
event loop waits for every thread that runs Python, again each time that it let go of the interpreter.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Final

SHORT_SECONDS: Final = 0.1
"""Processor time that a user's work may take before it is long; it comes back over time."""
SHARE: Final = 0.1
"""How fast it comes back: a tenth of a core."""
SLICE_SECONDS: Final = 0.05
"""How long a turn of long work lasts while only long work waits. It ends at once for short work."""
TIMEOUT_SECONDS: Final = 0.005
"""If whoever has a turn gives no sign for so long, because it is in the middle of one long statement, the first of the
short work that waits goes on without a turn."""
MOST_AT_ONCE: Final = 2
"""More cores than this do not help threads that share one interpreter."""
CHECK_SECONDS: Final = 0.002
"""How long a turn of short work lasts while other short work waits; and before work that may be short asks at all."""


class Turns:
    """Lets `at_once` threads work; by default as many as there are cores besides the event loop's, but two at most."""

    def __init__(self, at_once: int | None = None) -> None:
        self._lock = threading.Lock()
        self._free = at_once or max(1, min(MOST_AT_ONCE, (os.cpu_count() or 2) - 1))
        self._short: deque[QueuedWork] = deque()
        self._long: deque[QueuedWork] = deque()
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
    def is_short_waiting(self) -> bool:
        """Whether short work waits for a turn."""
        return bool(self._short)

    @property
    def waiting(self) -> int:
        """How much work waits for a turn."""
        return len(self._short) + len(self._long)

    def acquire(self, turn: "QueuedWork") -> bool:
        """Give a turn if one is free; else the work waits in the order of asking."""
        with self._lock:
            if self._free and not turn.stopped:
                self._free -= 1
                self._sign_at = time.monotonic()
                turn.is_held = True
            elif not turn.stopped:
                self._wait(turn)
            return turn.is_held

    def release(self, turn: "QueuedWork") -> None:
        """Give the turn to short work that waits, or else to long work."""
        with self._lock:
            if turn.is_held:
                turn.is_held = False
                self._pass_on()

    def rotate(self, turn: "QueuedWork") -> bool:
        """Let the next one have the turn and wait behind the others. Short work gives way to short work only."""
        with self._lock:
            if (self._short or (turn.is_long and self._long)) and not turn.stopped:
                turn.is_held = False
                self._pass_on()
                self._wait(turn)
            return turn.is_held

    def forget(self, turn: "QueuedWork") -> None:
        """The work was stopped and waits no longer."""
        with self._lock:
            turn.stopped = True
            for queue in (self._short, self._long):
                if turn in queue:
                    queue.remove(turn)
            if turn.go is not None:
                turn.go.set()

    def time_out(self, turn: "QueuedWork") -> bool:
        """Whether the work goes on: with a turn that has come in the meantime, or without one."""
        with self._lock:
            if turn.is_held or turn.stopped:
                return True
            now = time.monotonic()
            if now - self._sign_at < TIMEOUT_SECONDS or self._first(self._short) is not turn:
                return False
            self._short.remove(turn)
            self._sign_at = now
            return True

    def _first(self, queue: "deque[QueuedWork]") -> "QueuedWork":
        """Of those who have used equally little, whoever has waited longest."""
        now = time.monotonic()
        return max(queue, key=lambda turn: self._left(turn.user, now))

    def _wait(self, turn: "QueuedWork") -> None:
        turn.go = turn.go or threading.Event()
        turn.go.clear()
        (self._long if turn.is_long else self._short).append(turn)

    def _pass_on(self) -> None:
        self._sign_at = time.monotonic()
        queue = self._short or self._long
        if queue:
            following = self._first(queue)
            queue.remove(following)
            following.is_held = True
            if following.go is not None:
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
        self.go: threading.Event | None = None
        """Set when the work may go on; work that never waits has none."""
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
            self._until = now + CHECK_SECONDS
        if now >= self._until or (self.is_held and self.is_long and self._turns.is_short_waiting):
            self._ask()

    def stop(self) -> None:
        """Wait for no turn any more."""
        self._turns.forget(self)

    def end(self) -> None:
        """The work is done: the next one may have the turn."""
        if self._cpu is not None:
            self._charge()
            self._turns.release(self)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """The block begins with a turn and ends it."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    def _ask(self) -> None:
        self.is_long = self._charge() <= 0
        goes_on = self._turns.rotate(self) if self.is_held else self._turns.acquire(self)
        if not goes_on and self.go is not None:
            while not self.go.wait(None if self.is_long else TIMEOUT_SECONDS) and not self._turns.time_out(self):
                pass
        self._until = time.monotonic() + (SLICE_SECONDS if self.is_long and self.is_held else CHECK_SECONDS)

    def _charge(self) -> float:
        before, self._cpu = self._cpu, time.thread_time()
        return self._turns.charge(self.user, self._cpu - (before or self._cpu))
