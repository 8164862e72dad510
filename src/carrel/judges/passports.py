"""Puts together what is known of each judge: in runs, in its check, and what it costs."""

from typing import NamedTuple

from carrel.errors import NotFound
from carrel.judges import checks
from carrel.judges.schemas import JudgeCheck, JudgePassport, JudgePassports
from carrel.kit.money import text_if_known
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.sqlite.database import Connection
from carrel.metering import verdict_costs
from carrel.providers import families
from carrel.providers.registry import name_of, provider_of
from carrel.runs.leaderboard import passports
from carrel.vault.workspace import Workspace


class _Known(NamedTuple):
    costs: dict[str, int]
    checks: dict[str, JudgeCheck]


async def listed(workspace: Workspace, workers: WorkerPool) -> JudgePassports:
    """Every judge of the newest finished runs, and every judge that was checked.

    Raises:
        Unavailable: it takes too much time or memory.
    """
    in_runs = await passports.in_runs(workspace, workers)
    known = await workspace.scan(_known)
    found = []
    for model in sorted(in_runs.judges.keys() | known.checks.keys()):
        seen = in_runs.judges.get(model)
        found.append(
            JudgePassport(
                model=model,
                family=families.family_of(provider_of(model), name_of(model)) if seen is None else seen.family,
                runs=0 if seen is None else seen.runs,
                in_runs=None if seen is None else seen.drawn.passport,
                health=None if seen is None else seen.drawn.health,
                agreement=[] if seen is None else list(seen.drawn.agreement),
                cost_per_verdict=text_if_known(known.costs.get(model)),
                check=known.checks.get(model),
            )
        )
    return JudgePassports(found, in_runs.runs)


async def one(workspace: Workspace, workers: WorkerPool, model: str) -> JudgePassport:
    """The passport of one model.

    Raises:
        NotFound: it has neither judged in the newest finished runs nor been checked.
        Unavailable: as `listed` says.
    """
    for found in (await listed(workspace, workers)).items:
        if found.model == model:
            return found
    raise NotFound


def _known(conn: Connection) -> _Known:
    return _Known(verdict_costs.by_model(conn), checks.newest(conn))
