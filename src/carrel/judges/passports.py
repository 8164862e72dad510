"""Puts together what is known of each judge: in runs, in its check, and what it costs."""

from collections.abc import Sequence
from typing import NamedTuple

from carrel.errors import NotFound
from carrel.judges import checks, defaults, run_passports
from carrel.judges.defaults import Competitor
from carrel.judges.schemas import DefaultJudges, JudgeCheck, JudgePassport, JudgePassports
from carrel.keys import store as keys
from carrel.kit.money import text_if_known
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.sqlite.database import Connection
from carrel.metering import store as metering
from carrel.models import listing
from carrel.providers import families
from carrel.providers.hosts import ModelAt
from carrel.providers.registry import Registry, name_of, provider_of
from carrel.vault.workspace import Workspace


class _OutsideRuns(NamedTuple):
    costs: dict[ModelAt, int]
    checks: dict[ModelAt, JudgeCheck]


async def listed(workspace: Workspace, workers: WorkerPool) -> JudgePassports:
    """Every judge of the newest finished runs, and every judge that was checked.

    Raises:
        Unavailable: it takes too much time or memory.
    """
    in_runs = await run_passports.in_runs(workspace, workers)
    known = await workspace.scan(_known)
    found = []
    for judge in sorted(in_runs.judges.keys() | known.checks.keys(), key=str):
        seen = in_runs.judges.get(judge)
        provider, name = provider_of(judge.model), name_of(judge.model)
        found.append(
            JudgePassport(
                model=judge.model,
                host=judge.host,
                family=families.family_of(provider, name, judge.host) if seen is None else seen.family,
                runs=0 if seen is None else seen.runs,
                in_runs=None if seen is None else seen.drawn.passport,
                health=None if seen is None else seen.drawn.health,
                agreement=[] if seen is None else list(seen.drawn.agreement),
                cost_per_verdict=text_if_known(known.costs.get(judge)),
                check=known.checks.get(judge),
            )
        )
    return JudgePassports(found, in_runs.runs)


async def one(workspace: Workspace, workers: WorkerPool, model: str, host: str | None) -> JudgePassport:
    """The passport of one model at this host, or else at the host that its key names now.

    Raises:
        NotFound: it has neither judged in the newest finished runs nor been checked.
        Unavailable: as `listed` says.
    """
    judge = ModelAt(model, host or workspace.read(keys.host, model))
    for found in (await listed(workspace, workers)).items:
        if (found.model, found.host) == judge:
            return found
    raise NotFound


def _known(conn: Connection) -> _OutsideRuns:
    return _OutsideRuns(metering.verdict_costs(conn), checks.newest(conn))


def default_judges(
    conn: Connection, registry: Registry, found: Sequence[str], candidates: Sequence[str]
) -> DefaultJudges:
    """Who judges these candidates by default, with the models that were `found` at the servers of the stored keys.

    Raises:
        BadInput: no model can have the name of a candidate.
    """
    listing.require_known(registry, "candidate", candidates)
    competing = [
        Competitor(name, families.family_of(provider_of(name), name_of(name), keys.host(conn, name)))
        for name in candidates
    ]
    models = listing.everything(conn, registry, found).items
    return defaults.chosen(models, competing, checks.newest(conn, finished=True), conn.clock.now())
