"""Makes guessing slow: after five wrong tries in a row each further one has to wait, longer every time."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from demo.refusals import TooManyTries, WrongPassword

FREE_TRIES: Final = 5
LONGEST_WAIT_SECONDS: Final = 900
_REMEMBERED: Final = 10_000


class Throttle:
    """Counts failures for each subject: an address typed, and where it came from. In memory, and bounded."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def trying(self, subject: str) -> Iterator[None]:
        """Around a check of a password.

        It counts as a failure until it has turned out well, so that many tries at once gain nothing.

        Raises:
            TooManyTries
        """
        self._admit(subject)
        try:
            yield
        except WrongPassword:
            raise
        except BaseException:
            # The password was right, or never looked at.
            self._clear(subject)
            raise
        self._clear(subject)

    def _admit(self, subject: str) -> None:
        now = self._clock()
        with self._lock:
            count, last = self._failures.get(subject, (0, now))
            wait = 0 if count < FREE_TRIES else min(2 ** (count - FREE_TRIES), LONGEST_WAIT_SECONDS)
            if now - last < wait:
                raise TooManyTries(max(1, round(wait - (now - last))))
            self._failures[subject] = (count + 1, now)
            self._failures.move_to_end(subject)
            if len(self._failures) > _REMEMBERED:
                self._failures.popitem(last=False)

    def _clear(self, subject: str) -> None:
        with self._lock:
            self._failures.pop(subject, None)
