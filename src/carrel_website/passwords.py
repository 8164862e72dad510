"""The website's own check of a password, with argon2. It comes before anything is sent to the service."""

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from carrel_website.refusals import TooBusy
from carrel_website.users import Password

SHORTEST: Final = 12
LONGEST: Final = 256
AT_ONCE: Final = os.cpu_count() or 1
TIMEOUT_SECONDS: Final = 5.0
_WAITING: Final = 16


class Passwords:
    """Hashes and checks passwords exactly as they were typed: the workspace's key is derived from them, too.

    A hash takes 64 MiB and a core for a while, on purpose. So only `at_once` hashes are computed together:
    many sign-ins must not take the machine from the users who are signed in.
    """

    def __init__(
        self, hasher: PasswordHasher, *, at_once: int = AT_ONCE, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        self._hasher = hasher
        self._free = threading.BoundedSemaphore(at_once)
        self._seats = threading.BoundedSemaphore(at_once + _WAITING)
        self._timeout_seconds = timeout_seconds
        self._nobodys = hasher.hash("nobody's password")

    def hash(self, password: str) -> str:
        """The hash that the website keeps."""
        with self.turn():
            return self._hasher.hash(password)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a free place to compute one hash.

        Raises:
            TooBusy: too many others wait already, or the wait takes too long.
        """
        if not self._seats.acquire(blocking=False):
            raise TooBusy
        try:
            if not self._free.acquire(timeout=self._timeout_seconds):
                raise TooBusy
            try:
                yield
            finally:
                self._free.release()
        finally:
            self._seats.release()

    def which(self, candidates: Iterable[Password], password: str) -> Password | None:
        """The candidate that this password matches, if any. Without candidates it takes as long as with one."""
        candidates = list(candidates)
        if not candidates:
            self._matches(self._nobodys, password)
        return next((each for each in candidates if self._matches(each.hash, password)), None)

    def _matches(self, password_hash: str, password: str) -> bool:
        with self.turn():
            try:
                return self._hasher.verify(password_hash, password)
            except VerifyMismatchError:
                return False


def fault(password: str, repeated: str) -> str | None:
    """What is wrong with a new password, in words for the person who chose it."""
    if len(password) < SHORTEST:
        return f"Choose a password of {SHORTEST} characters or more: it is the only key to your workspace."
    if len(password) > LONGEST:
        return f"A password has at most {LONGEST} characters."
    if password != repeated:
        return "The two passwords differ."
    return None
