"""`/evaluation/leaderboard` and `/evaluation/judges`: what finished runs show together."""

from typing import Annotated

from litestar import Router, get
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.errors import NotFound
from carrel.kit.http.describe import raises
from carrel.kit.processes.pool import WorkerPool
from carrel.runs.leaderboard import across
from carrel.runs.leaderboard.across import JudgeRecords, Leaderboard
from carrel.runs.model.setup import RunId
from carrel.vault.workspace import Workspace


@get("/leaderboard", guards=[guard.session], opt=scopes.READ | raises(NotFound))
async def read_leaderboard(
    workspace: NamedDependency[Workspace],
    workers: NamedDependency[WorkerPool],
    like: Annotated[
        RunId | None, QueryParameter(max_length=100, description="The board of this run; else of the newest.")
    ] = None,
) -> Leaderboard:
    """Runs that share inputs and judges, ranked as if they were one. It costs no calls."""
    return await across.leaderboard(workspace, workers, like)


@get("/judges", guards=[guard.session], opt=scopes.READ)
async def list_judges(workspace: NamedDependency[Workspace], workers: NamedDependency[WorkerPool]) -> JudgeRecords:
    """The record of each judge in the newest fifty finished runs.

    It holds flips, malformed replies, agreement with the other judges, and how much the judge favours models of its own
    family.
    """
    return await across.judges(workspace, workers)


router = Router("/evaluation", route_handlers=[read_leaderboard, list_judges], tags=["Evaluation"])
