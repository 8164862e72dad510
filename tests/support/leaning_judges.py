"""Judges for runs that may stop early: how sure they are of `test:one` is a matter of the test."""

import hashlib

from carrel.providers.base import Answer, CompareMatter, ModelRequest
from tests.support.models import honest, said_json

FAVOURITE = "What one makes"
CLEAR, CLOSE = 100, 55


def preferring(per_cent: int) -> "Preferring":
    """Both orders agree on each document; `test:one` wins on about so many of a hundred."""
    return Preferring(per_cent)


class Preferring:
    """A script for `TestModels`."""

    def __init__(self, per_cent: int) -> None:
        self.per_cent = per_cent

    def __call__(self, request: ModelRequest) -> Answer:
        matter = request.matter
        if not isinstance(matter, CompareMatter):
            return honest(request)
        favourite_first = matter.first.startswith(FAVOURITE)
        if not favourite_first and not matter.second.startswith(FAVOURITE):
            return honest(request)
        wins = self.prefers(matter.document)
        return said_json({"reason": "So it is.", "winner": "first" if favourite_first == wins else "second"})

    def prefers(self, document: str) -> bool:
        """Whether `test:one` wins on this document."""
        return int.from_bytes(hashlib.sha256(document.encode()).digest()[:4], "big") % 100 < self.per_cent


class Ladder(Preferring):
    """The same of `test:one` and `test:two`; `test:three` loses to both of them on every document."""

    def __call__(self, request: ModelRequest) -> Answer:
        matter = request.matter
        if isinstance(matter, CompareMatter):
            for loser, winner in ((matter.first, "second"), (matter.second, "first")):
                if loser.startswith("What three makes"):
                    return said_json({"reason": "So it is.", "winner": winner})
        return super().__call__(request)
