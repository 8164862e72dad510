"""Written by `sdk/generate.py` from `carrel_sdk.votes`. Change that, and run it again."""

from collections.abc import AsyncIterator

from carrel_sdk.aio.calls import AsyncCalls
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
from carrel_sdk.votes import _path


class AsyncVotes:
    """The routes under `/runs/{id}/votes`."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def next(self, run_id: str, *, voter: str | None = None) -> Ballot | None:
        """The next pair, the same one until it is voted on or skipped; None if every pair was shown.

        Several people vote under a name each; every `voter` sees every pair.
        """
        try:
            return await self._calls.post(f"{_path(run_id)}/next", Ballot, query={"voter": voter})
        except Conflict as error:
            if error.code != "nothing-to-vote-on":
                raise
            return None

    async def cast(
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
        return await self._calls.post(_path(run_id), Voted, body)

    def each(self, run_id: str) -> AsyncIterator[Vote]:
        """The votes with the candidates' names, newest first. Who reads them is no longer blind to these pairs."""
        return self._calls.each(_path(run_id), Vote)

    async def count(self, run_id: str, *, voter: str | None = None) -> VoteCount:
        """How many votes there are, and how many pairs are left for a voter."""
        return await self._calls.get(f"{_path(run_id)}/count", VoteCount, {"voter": voter})

    async def against_judges(self, run_id: str, *, round: int | None = None) -> AgainstJudges:
        """How often the votes came to the judges' outcome, and where not. It tells the names."""
        return await self._calls.get(f"{_path(run_id)}/against-judges", AgainstJudges, {"round": round})

    async def criteria_proposal(self, run_id: str, *, half: bool = False) -> CriteriaProposal:
        """Criteria proposed from the reasons of the votes and the notes on the answers, without calling a model.

        With `half`, from half of the documents: votes on the others test them (`since` of `against_judges`).
        """
        return await self._calls.get(f"/runs/{segment(run_id)}/criteria-proposal", CriteriaProposal, {"half": half})

    async def import_csv(self, run_id: str, csv: str, *, voter: str | None = None) -> VotesImported:
        """Count votes from a table with the columns document, first, second and verdict, and perhaps others.

        These are repeat, voter, both_bad and reason. All lines count, or none. A line that repeats a vote changes
        nothing. `voter` is for lines without a voter.
        """
        body = {"csv": csv} if voter is None else {"csv": csv, "voter": voter}
        return await self._calls.post(f"{_path(run_id)}/import", VotesImported, body)

    async def undo(self, run_id: str, vote_id: str) -> VoteUndone:
        """Undo the last vote of a voter, with its reason; its pair is shown again.

        Raises:
            Conflict: `vote-not-last`, the voter has voted since.
        """
        return await self._calls.post(f"{_path(run_id)}/{segment(vote_id)}/undo", VoteUndone)

    async def withdraw(self, run_id: str, vote_id: str) -> None:
        """Withdraw a vote, or skip a pair. The pair is not shown again."""
        await self._calls.delete(f"{_path(run_id)}/{segment(vote_id)}")
