"""Puts together what is known of each judge: in runs, in its check, and what it costs."""

from collections.abc import Sequence
from typing import NamedTuple

from carrel.errors import BadInput, FieldError, NotFound
from carrel.evaluation.asking.judge import compare_prompt
from carrel.judges import bench, checks, defaults, run_passports
from carrel.judges.defaults import Competitor
from carrel.judges.schemas import DefaultJudges, JudgeCheck, JudgeCheckCost, JudgePassport, JudgePassports
from carrel.keys import store as keys
from carrel.kit.money import text_if_known
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.sqlite.database import Connection
from carrel.metering import store as metering
from carrel.models import listing
from carrel.providers import families, own_prices
from carrel.providers.base import Parameters, Usage
from carrel.providers.hosts import ModelAt
from carrel.providers.registry import Registry, name_of, provider_of
from carrel.runs.costs import quotes
from carrel.vault.workspace import Workspace

_BYTES_PER_TOKEN = 4
_LIKELY_REPLY_TOKENS = 150
"""Two sentences and a word, in JSON."""


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


def check_cost(conn: Connection, registry: Registry, model: str) -> JudgeCheckCost:
    """What a check of the model costs at the host of its key, by its price now.

    Raises:
        BadInput: it cannot judge.
    """
    fault = listing.fault(registry, model, "judge")
    if fault is not None:
        raise BadInput(errors=(FieldError("model", fault),))
    host = keys.host(conn, model)
    price = own_prices.price_of(conn, model, host, conn.clock.now(), "own_keys")
    prompts = [compare_prompt(one.matter, bench.INSTRUCTIONS, "") for one in bench.every(bench.drawn(""))]
    read = sum(len(one.system.encode()) + len(one.prompt.encode()) for one in prompts) // _BYTES_PER_TOKEN
    likely = Usage(input_tokens=read, output_tokens=_LIKELY_REPLY_TOKENS * len(prompts))
    most = [quotes.quote(price, "compare", Parameters(), (one.system, one.prompt)).most_micros for one in prompts]
    return JudgeCheckCost(
        model=model,
        host=host,
        calls=len(prompts),
        likely=text_if_known(None if price is None else price.cost_micros(likely)),
        most=text_if_known(None if price is None else sum(filter(None, most))),
    )


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
