"""The website's own check of a password, with argon2; it comes before anything is sent to the service."""

from collections.abc import Iterable
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from demo.users import Password

SHORTEST: Final = 12
LONGEST: Final = 256


class Passwords:
    """Hashes and checks. A password is taken exactly as it was typed: it is also what the desk's key is made of."""

    def __init__(self, hasher: PasswordHasher) -> None:
        self._hasher = hasher
        self._nobodys = hasher.hash("nobody's password")

    def hash(self, password: str) -> str:
        """What the website keeps."""
        return self._hasher.hash(password)

    def which(self, candidates: Iterable[Password], password: str) -> Password | None:
        """The candidate that this password is, if it is one. Takes as long for nobody as for somebody."""
        candidates = list(candidates)
        if not candidates:
            self._matches(self._nobodys, password)
        return next((each for each in candidates if self._matches(each.hash, password)), None)

    def _matches(self, password_hash: str, password: str) -> bool:
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
