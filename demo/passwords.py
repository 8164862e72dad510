"""The website's own check of a password, with argon2; it comes before anything is sent to the service."""

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from demo.refusals import TooBusy
from demo.users import Password

SHORTEST: Final = 12
LONGEST: Final = 256
AT_ONCE: Final = os.cpu_count() or 1
PATIENCE_SECONDS: Final = 5.0
_WAITING: Final = 16


class Passwords:
    """Hashes and checks. A password is taken exactly as it was typed: it is also what the desk's key is made of.

    A hash takes 64 MiB and a core for a while, on purpose, so only `at_once` are computed together: a crowd at the door
    must not take the machine from those who are inside.
    """

    def __init__(
        self, hasher: PasswordHasher, *, at_once: int = AT_ONCE, timeout_seconds: float = PATIENCE_SECONDS
    ) -> None:
        self._hasher = hasher
        self._free = threading.BoundedSemaphore(at_once)
        self._seats = threading.BoundedSemaphore(at_once + _WAITING)
        self._patience_seconds = timeout_seconds
        self._nobodys = hasher.hash("nobody's password")

    def hash(self, password: str) -> str:
        """What the website keeps."""
        with self.turn():
            return self._hasher.hash(password)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Around one hash.

        Raises:
            TooBusy: too many wait already, or it takes too long.
        """
        if not self._seats.acquire(blocking=False):
            raise TooBusy
        try:
            if not self._free.acquire(timeout=self._patience_seconds):
                raise TooBusy
            try:
                yield
            finally:
                self._free.release()
        finally:
            self._seats.release()

    def which(self, candidates: Iterable[Password], password: str) -> Password | None:
        """The candidate that this password is, if it is one. Takes as long for nobody as for somebody."""
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
    """What is wrong with a new password, for the person who chose it."""
    if len(password) < SHORTEST:
        return f"Choose a password of {SHORTEST} characters or more: it is the only key to your desk."
    if len(password) > LONGEST:
        return f"A password has at most {LONGEST} characters."
    if password != repeated:
        return "The two passwords differ."
    return None
