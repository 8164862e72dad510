"""`/evaluation/leaderboard`: what finished runs show together."""

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
from carrel.runs.leaderboard.across import Leaderboard
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


router = Router("/evaluation", route_handlers=[read_leaderboard], tags=["Evaluation"])
