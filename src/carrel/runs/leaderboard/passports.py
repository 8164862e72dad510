"""The passports of judges over the newest finished runs: read in a scan, drawn up by a worker."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from carrel.errors import Unavailable
from carrel.evaluation.judges import passport
from carrel.evaluation.judges.passport import Passport
from carrel.kit.processes.jobs import WorkerError
from carrel.kit.processes.pool import WorkerPool
from carrel.runs.judging import judgement
from carrel.runs.judging.judgement import Packed
from carrel.runs.judging.whatif import RANKING_SECONDS
from carrel.runs.leaderboard import finished
from carrel.vault.workspace import Workspace


class InRuns(NamedTuple):
    """One model as a judge in finished runs."""

    family: str | None
    runs: int
    passport: Passport


async def in_runs(workspace: Workspace, workers: WorkerPool) -> dict[str, InRuns]:
    """Every model that judged in the newest finished runs, by name.

    Leniency comes from the runs with the criteria of the newest one.

    Raises:
        Unavailable: it takes too much time or memory.
    """
    async with workers.turn(workspace.uuid) as worker:
        found = await workspace.scan(finished.newest)
        if found is None:
            return {}
        judges = [judge for run in found.chosen for judge in run.setup.round.judges]
        names = {judge.name: judge.model for judge in judges}
        try:
            drawn_up = await worker.run(drawn, found.packed, names, timeout_seconds=RANKING_SECONDS)
        except WorkerError:
            raise Unavailable from None
    families = {judge.model: judge.family for judge in judges}
    runs = Counter(model for run in found.chosen for model in {judge.model for judge in run.setup.round.judges})
    return {model: InRuns(families.get(model), runs[model], one) for model, one in sorted(drawn_up.items())}


def drawn(packed: Packed, models: Mapping[str, str]) -> dict[str, Passport]:
    """The passports, for the worker. `models` are those of judges whose names carry a number."""
    pooled = judgement.unpack(packed)
    return passport.passports(
        [replace(verdict, judge=models.get(verdict.judge, verdict.judge)) for verdict in pooled.verdicts],
        [replace(score, judge=models.get(score.judge, score.judge)) for score in pooled.scores],
        [vote.verdict for vote in pooled.votes],
        pooled.criteria,
    )
