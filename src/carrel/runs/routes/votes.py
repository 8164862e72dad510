"""`/runs/{id}/votes`: people judge pairs of answers without knowing who wrote them."""

from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.http.requests.describe import raises
from carrel.http.requests.parameters import RoundNumber
from carrel.http.requests.routing import Query, Router, delete, get, post
from carrel.kit.sqlite.paging import Page, Paging
from carrel.runs.engine.engine import Engine
from carrel.runs.model.setup import RunId
from carrel.runs.verdicts import against_judges, ballots, imported_votes, votes
from carrel.runs.verdicts.against_judges import AgainstJudges
from carrel.runs.verdicts.ballots import Ballot, NothingToVoteOn, VoteCount
from carrel.runs.verdicts.imported_votes import VotesImported, VotesIn
from carrel.runs.verdicts.votes import (
    MAX_VOTER,
    TooManyVotes,
    Vote,
    VoteCounted,
    Voted,
    VoteId,
    VoteIn,
    VoteNotLast,
    VoteUndone,
)
from carrel.vault.workspace import Workspace

Voter = Annotated[
    str,
    Query(
        max_length=MAX_VOTER, description="Who votes, if several people do: each sees every pair, and sees it blind."
    ),
]


@post("/next", guards=[guard.full], status_code=200, opt=scopes.WRITE | raises(NothingToVoteOn))
async def show_pair(run_id: RunId, workspace: Workspace, engine: Engine, voter: Voter = "") -> Ballot:
    """Two answers without names, in random order. The pair stays the same until it is voted on or skipped."""
    chosen = await workspace.scan(ballots.choose, run_id, voter)
    shown = await engine.write(workspace, ballots.show, run_id, chosen, voter)
    return await workspace.scan(ballots.ballot, run_id, shown)


@post("", guards=[guard.full], opt=scopes.WRITE | raises(VoteCounted, TooManyVotes))
async def cast_vote(
    run_id: RunId,
    data: VoteIn,
    workspace: Workspace,
    engine: Engine,
) -> Voted:
    """Say which answer of a pair is better. It counts once, as a verdict of judge `human`."""
    return await engine.write(workspace, votes.cast, run_id, data)


@get("", guards=[guard.session], opt=scopes.READ)
async def list_votes(run_id: RunId, workspace: Workspace, paging: Paging) -> Page[Vote]:
    """The votes, newest first, with the names. After reading them, nobody can vote blindly on these pairs."""
    return await workspace.scan(votes.page, run_id, paging)


@get("/count", guards=[guard.session], opt=scopes.READ)
async def count_votes(run_id: RunId, workspace: Workspace, voter: Voter = "") -> VoteCount:
    """How many votes of all voters count, and how many pairs are left for this one."""
    return await workspace.scan(ballots.count, run_id, voter)


@get("/against-judges", guards=[guard.session], opt=scopes.READ)
async def votes_against_judges(run_id: RunId, workspace: Workspace, round_number: RoundNumber = None) -> AgainstJudges:
    """How often the votes came to the judges' outcome, and where not, with the judges' reasons.

    It tells the names; afterwards nobody can vote blindly on these pairs.
    """
    return await workspace.scan(against_judges.compare, run_id, round_number)


@post("/import", guards=[guard.full], status_code=200, opt=scopes.WRITE | raises(TooManyVotes))
async def import_votes(
    run_id: RunId,
    data: VotesIn,
    workspace: Workspace,
    engine: Engine,
) -> VotesImported:
    """Count votes that people gave elsewhere, from a table in CSV. All lines or none; each fault names its line."""
    return await engine.write(workspace, imported_votes.bring_in, run_id, data)


@post("/{vote_id:str}/undo", guards=[guard.full], status_code=200, opt=scopes.WRITE | raises(VoteNotLast))
async def undo_vote(
    run_id: RunId,
    vote_id: VoteId,
    workspace: Workspace,
    engine: Engine,
) -> VoteUndone:
    """Undo a voter's last vote, as after a slip of the hand: its pair is shown again."""
    return await engine.write(workspace, votes.undo, run_id, vote_id)


@delete("/{vote_id:str}", guards=[guard.session], opt=scopes.WRITE)
async def withdraw_vote(
    run_id: RunId,
    vote_id: VoteId,
    workspace: Workspace,
    engine: Engine,
) -> None:
    """Take a vote back, or skip a pair. Carrel does not show the pair again."""
    await engine.write(workspace, votes.withdraw, run_id, vote_id)


router = Router(
    "/runs/{run_id:str}/votes",
    route_handlers=[
        show_pair,
        cast_vote,
        list_votes,
        count_votes,
        votes_against_judges,
        import_votes,
        undo_vote,
        withdraw_vote,
    ],
    tags=["Run votes"],
)
