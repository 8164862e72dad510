"""The passports of judges over the newest finished runs: read in a scan, drawn up by a worker."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from carrel.evaluation.judges import agreement, health, passport
from carrel.evaluation.judges.agreement import JudgeAgreement
from carrel.evaluation.judges.health import JudgeHealth
from carrel.evaluation.judges.passport import Passport
from carrel.kit.processes.pool import WorkerPool
from carrel.providers.hosts import ModelAt
from carrel.runs.findings import finished_runs
from carrel.runs.verdicts import judgement
from carrel.runs.verdicts.computing import computed
from carrel.runs.verdicts.judgement import PackedEvidence
from carrel.vault.workspace import Workspace


class JudgeRecord(NamedTuple):
    """What the verdicts of several runs tell of one judge. `agreement` is with each other judge."""

    passport: Passport
    health: JudgeHealth | None
    agreement: tuple[JudgeAgreement, ...]


class InRuns(NamedTuple):
    """One model as a judge in so many finished runs."""

    family: str | None
    runs: int
    drawn: JudgeRecord


class JudgeRecords(NamedTuple):
    """Every judge of the newest finished runs by its model and host, and how many runs these are."""

    judges: dict[ModelAt, InRuns]
    runs: int


async def in_runs(workspace: Workspace, workers: WorkerPool) -> JudgeRecords:
    """Every model that judged in the newest finished runs.

    Leniency comes from the runs with the criteria of the newest one.

    Raises:
        Unavailable: it takes too much time or memory.
    """
    async with workers.turn(workspace.uuid) as worker:
        found = await workspace.scan(finished_runs.newest)
        if found is None:
            return JudgeRecords({}, 0)
        judges = [judge for run in found.chosen for judge in run.setup.round.judges]
        models = {str(ModelAt(judge.model, judge.host)): ModelAt(judge.model, judge.host) for judge in judges}
        names = {judge.name: str(ModelAt(judge.model, judge.host)) for judge in judges}
        families = {names[judge.name]: judge.family for judge in judges}
        drawn_up = await computed(worker, drawn, found.packed, names, found.families, families)
    runs = Counter(name for run in found.chosen for name in {names[judge.name] for judge in run.setup.round.judges})
    known = {models[name]: InRuns(families[name], runs[name], one) for name, one in drawn_up.items() if name in models}
    return JudgeRecords(known, len(found.chosen))


def drawn(
    packed: PackedEvidence,
    models: Mapping[str, str],
    families: Mapping[str, str | None],
    judge_families: Mapping[str, str | None],
) -> dict[str, JudgeRecord]:
    """The passports, for the worker. `models` are judges' names without the number that some carry.

    `families` are those of the candidates, `judge_families` those of the models that judged.
    """
    pooled = judgement.unpack(packed)
    verdicts = [replace(verdict, judge=models.get(verdict.judge, verdict.judge)) for verdict in pooled.verdicts]
    scores = [replace(score, judge=models.get(score.judge, score.judge)) for score in pooled.scores]
    votes = [vote.verdict for vote in pooled.votes]
    found = {one.judge: one for one in health.health(pooled.candidates, verdicts, scores, families, judge_families)}
    pairs = agreement.agreement(verdicts, (), ()).pairs
    return {
        judge: JudgeRecord(one, found.get(judge), tuple(pair for pair in pairs if judge in (pair.first, pair.second)))
        for judge, one in passport.passports(verdicts, scores, votes, pooled.criteria).items()
    }
