"""People's blind votes on a run's answers."""

from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from carrel_sdk.calls import Calls
from carrel_sdk.contents import CriterionRow
from carrel_sdk.errors import Conflict
from carrel_sdk.ranking import PassRate
from carrel_sdk.transport import segment

Choice: TypeAlias = Literal["first", "second", "tie"]


class Turn(msgspec.Struct, frozen=True):
    """What somebody says in a conversation."""

    role: str
    content: str


class Ballot(msgspec.Struct, frozen=True, kw_only=True):
    """Two answers to one document, without names and in random order. `left` counts the pairs after this one.

    `turns` are the conversation with whose transcript the document begins.
    """

    pair: str
    document_name: str
    document: str
    first: str
    second: str
    left: int
    reference: str | None = None
    instructions: str | None = None
    criteria: list[str] = []
    turns: list[Turn] = []


class Voted(msgspec.Struct, frozen=True):
    """A counted vote, and how many votes there are."""

    id: str
    verdict: Choice
    voted_at: str
    votes: int


class Vote(msgspec.Struct, frozen=True, kw_only=True):
    """A vote with the names of the two candidates. `winner` is None for a tie, `voter` empty for the user.

    `reason` is why somebody voted so, empty where they did not say it.
    """

    id: str
    document: int
    document_name: str
    first: str
    second: str
    verdict: Choice
    voted_at: str
    repeat: int = 1
    winner: str | None = None
    voter: str = ""
    both_bad: bool = False
    reason: str = ""


class VoteUndone(msgspec.Struct, frozen=True):
    """The pair that waits for a vote again, and how many votes count now."""

    pair: str
    votes: int


class VoteCount(msgspec.Struct, frozen=True):
    """How many votes of all voters count, and how many pairs can still be shown to this one.

    `both_bad` of the votes found neither answer good enough.
    """

    votes: int
    left: int
    both_bad: int = 0


class VotesImported(msgspec.Struct, frozen=True):
    """How many lines were `imported` and how many `known` already, and how many votes the run has now."""

    imported: int
    known: int
    votes: int


class JudgeSaid(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge said of a pair: None as the winner for a tie, and where it has no opinion, as after a flip."""

    judge: str
    fate: str
    winner: str | None
    reasons: list[str | None]


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """A vote that came to another outcome than the judges together; a winner is None for a tie."""

    document: int
    document_name: str
    a: str
    b: str
    repeat: int
    voter: str
    winner: str | None
    judges_winner: str | None
    judges: list[JudgeSaid]


class AgainstJudges(msgspec.Struct, frozen=True, kw_only=True):
    """Votes beside the judges together: of `judged` votes, `same` came to the judges' outcome."""

    votes: int
    both_bad: int
    judged: int
    same: int
    agreement: PassRate
    disagreements: list[Disagreement]


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wrote: as the reason of a vote (`vote`), or as a note on an answer (`note`)."""

    kind: str
    document: int
    text: str


class ProposedCriterion(msgspec.Struct, frozen=True, kw_only=True):
    """A criterion as a row, how many votes and notes mention it, and up to three of these."""

    criterion: CriterionRow
    votes: int
    notes: int
    quotes: list[Opinion]


class CriteriaProposal(msgspec.Struct, frozen=True, kw_only=True):
    """What people's words ask for, most mentioned first; a criterion that fewer than `least` mention is not proposed.

    `votes` gave a reason, and `notes` have a text. `rare` names the criteria that too few mention. Of `unrecognised`
    votes and notes no word is known.
    """

    proposals: list[ProposedCriterion]
    least: int
    votes: int
    notes: int
    rare: list[str]
    unrecognised: int
    unrecognised_quotes: list[Opinion]


class Votes:
    """The routes under `/runs/{id}/votes`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def next(self, run_id: str, *, voter: str | None = None) -> Ballot | None:
        """The next pair, the same one until it is voted on or skipped; None if every pair was shown.

        Several people vote under a name each; every `voter` sees every pair.
        """
        try:
            return self._calls.post(f"{_path(run_id)}/next", Ballot, query={"voter": voter})
        except Conflict as error:
            if error.code != "nothing-to-vote-on":
                raise
            return None

    def cast(self, run_id: str, pair: str, verdict: Choice, *, both_bad: bool = False, reason: str = "") -> Voted:
        """Say which answer of the pair is better, and perhaps why, in up to 500 characters.

        `both_bad` says of a tie that neither is good enough.

        Raises:
            Conflict: `vote-counted`, it was voted on already.
        """
        body = {"pair": pair, "verdict": verdict, "both_bad": both_bad, "reason": reason}
        return self._calls.post(_path(run_id), Voted, body)

    def each(self, run_id: str) -> Iterator[Vote]:
        """The votes with the candidates' names, newest first. Who reads them is no longer blind to these pairs."""
        return self._calls.each(_path(run_id), Vote)

    def count(self, run_id: str, *, voter: str | None = None) -> VoteCount:
        """How many votes there are, and how many pairs are left for a voter."""
        return self._calls.get(f"{_path(run_id)}/count", VoteCount, {"voter": voter})

    def against_judges(
        self,
        run_id: str,
        *,
        round: int | None = None,  # noqa: A002  # the parameter's name
    ) -> AgainstJudges:
        """How often the votes came to the judges' outcome, and where not. It tells the names."""
        return self._calls.get(f"{_path(run_id)}/against-judges", AgainstJudges, {"round": round})

    def criteria_proposal(self, run_id: str) -> CriteriaProposal:
        """Criteria proposed from the reasons of the votes and the notes on the answers, without calling a model."""
        return self._calls.get(f"/runs/{segment(run_id)}/criteria-proposal", CriteriaProposal)

    def import_csv(self, run_id: str, csv: str, *, voter: str | None = None) -> VotesImported:
        """Count votes from a table with the columns document, first, second and verdict, and perhaps others.

        These are repeat, voter, both_bad and reason. All lines count, or none. A line that repeats a vote changes
        nothing. `voter` is for lines without a voter.
        """
        body = {"csv": csv} if voter is None else {"csv": csv, "voter": voter}
        return self._calls.post(f"{_path(run_id)}/import", VotesImported, body)

    def undo(self, run_id: str, vote_id: str) -> VoteUndone:
        """Undo the last vote of a voter, with its reason; its pair is shown again.

        Raises:
            Conflict: `vote-not-last`, the voter has voted since.
        """
        return self._calls.post(f"{_path(run_id)}/{segment(vote_id)}/undo", VoteUndone)

    def withdraw(self, run_id: str, vote_id: str) -> None:
        """Withdraw a vote, or skip a pair. The pair is not shown again."""
        self._calls.delete(f"{_path(run_id)}/{segment(vote_id)}")


def _path(run_id: str) -> str:
    return f"/runs/{segment(run_id)}/votes"
