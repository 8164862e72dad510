"""Reads which class each answer of a run has and was given, and has a worker compute the figures."""

from carrel.evaluation import classes
from carrel.evaluation.classes import ClassEvidence, ClassResults
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.sqlite.database import Connection
from carrel.runs.checking import results
from carrel.runs.model import setup as setups
from carrel.runs.model.setup import RunId
from carrel.runs.verdicts.computing import computed
from carrel.vault.workspace import Workspace


async def answer(workspace: Workspace, workers: WorkerPool, run_id: RunId) -> ClassResults:
    """The figures by classes. They cost no calls.

    Raises:
        NotFound: there is no such run.
        Unavailable: it takes too much time or memory.
    """
    async with workers.turn(workspace.uuid) as worker:
        found = await workspace.scan(_gather, run_id)
        return classes.NO_CLASSES if found is None else await computed(worker, classes.results, found)


def _gather(conn: Connection, run_id: RunId) -> ClassEvidence | None:
    return results.classes(conn, setups.require(conn, run_id, None))
