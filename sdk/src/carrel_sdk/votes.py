"""People's blind votes on a run's answers."""

from collections.abc import Iterator

from carrel_sdk.calls import Calls
from carrel_sdk.errors import Conflict
from carrel_sdk.models import (
    AgainstJudges,
    Ballot,
    Choice,
    CriteriaProposal,
    PairScores,
    Vote,
    VoteCount,
    Voted,
    VotesImported,
    VoteUndone,
)
from carrel_sdk.transport import segment


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

    def cast(
        self,
        run_id: str,
        pair: str,
        verdict: Choice,
        *,
        both_bad: bool = False,
        reason: str = "",
        scores: PairScores | None = None,
    ) -> Voted:
        """Say which answer of the pair is better, and perhaps why, in up to 500 characters.

        `both_bad` says of a tie that neither is good enough; `scores` are of both answers, by the run's criteria.

        Raises:
            Conflict: `vote-counted`, it was voted on already.
        """
        body = {"pair": pair, "verdict": verdict, "both_bad": both_bad, "reason": reason, "scores": scores}
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

    def criteria_proposal(self, run_id: str, *, half: bool = False) -> CriteriaProposal:
        """Criteria proposed from the reasons of the votes and the notes on the answers, without calling a model.

        With `half`, from half of the documents: votes on the others test them (`since` of `against_judges`).
        """
        return self._calls.get(f"/runs/{segment(run_id)}/criteria-proposal", CriteriaProposal, {"half": half})

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
