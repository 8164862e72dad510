"""A person's blind votes on a run's answers."""

from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from carrel_sdk.calls import Calls
from carrel_sdk.errors import Conflict
from carrel_sdk.transport import segment

Choice: TypeAlias = Literal["first", "second", "tie"]


class Ballot(msgspec.Struct, frozen=True, kw_only=True):
    """Two answers to one document, without names and in random order. `left` counts the pairs after this one."""

    pair: str
    document_name: str
    document: str
    first: str
    second: str
    left: int
    reference: str | None = None
    instructions: str | None = None
    criteria: list[str] = []


class Voted(msgspec.Struct, frozen=True):
    """A counted vote, and how many votes there are."""

    id: str
    verdict: Choice
    voted_at: str
    votes: int


class Vote(msgspec.Struct, frozen=True, kw_only=True):
    """A vote with the names of the two candidates. `winner` is None for a tie."""

    id: str
    document: int
    document_name: str
    first: str
    second: str
    verdict: Choice
    voted_at: str
    repeat: int = 1
    winner: str | None = None


class VoteCount(msgspec.Struct, frozen=True):
    """How many votes count, and how many pairs can still be shown."""

    votes: int
    left: int


class Votes:
    """The routes under `/runs/{id}/votes`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def next(self, run_id: str) -> Ballot | None:
        """The next pair, the same one until it is voted on or skipped; None if every pair was shown."""
        try:
            return self._calls.post(f"{_path(run_id)}/next", Ballot)
        except Conflict as error:
            if error.code != "nothing-to-vote-on":
                raise
            return None

    def cast(self, run_id: str, pair: str, verdict: Choice) -> Voted:
        """Say which answer of the pair is better.

        Raises:
            Conflict: `vote-counted`, it was voted on already.
        """
        return self._calls.post(_path(run_id), Voted, {"pair": pair, "verdict": verdict})

    def each(self, run_id: str) -> Iterator[Vote]:
        """The votes with the candidates' names, newest first. Who reads them is no longer blind to these pairs."""
        return self._calls.each(_path(run_id), Vote)

    def count(self, run_id: str) -> VoteCount:
        """How many votes there are, and how many pairs are left."""
        return self._calls.get(f"{_path(run_id)}/count", VoteCount)

    def withdraw(self, run_id: str, vote_id: str) -> None:
        """Withdraw a vote, or skip a pair. The pair is not shown again."""
        self._calls.delete(f"{_path(run_id)}/{segment(vote_id)}")


def _path(run_id: str) -> str:
    return f"/runs/{segment(run_id)}/votes"
