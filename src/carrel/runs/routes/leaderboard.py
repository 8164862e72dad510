"""`/evaluation/leaderboard`: what finished runs show together."""

from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.errors import NotFound
from carrel.http.requests.describe import raises
from carrel.http.requests.routing import Query, Router, get
from carrel.kit.processes.pool import WorkerPool
from carrel.runs.findings import leaderboard
from carrel.runs.findings.leaderboard import Leaderboard
from carrel.runs.model.setup import RunId
from carrel.vault.workspace import Workspace


@get("/leaderboard", guards=[guard.session], opt=scopes.READ | raises(NotFound))
async def read_leaderboard(
    workspace: Workspace,
    workers: WorkerPool,
    like: Annotated[
        RunId | None, Query(max_length=100, description="The board of this run; else of the newest.")
    ] = None,
) -> Leaderboard:
    """Runs that share inputs and judges, ranked as if they were one. It costs no calls."""
    return await leaderboard.leaderboard(workspace, workers, like)


router = Router("/evaluation", route_handlers=[read_leaderboard], tags=["Evaluation"])
