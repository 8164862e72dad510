"""Plans another round over the answers of a run, with other judges, criteria or instructions. Earlier rounds stay."""

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from carrel.config import Settings
from carrel.errors import BadInput, CarrelError
from carrel.kit.sqlite.database import Connection
from carrel.presets import check
from carrel.presets.check import BudgetUnpriced, CriterionNotSupported
from carrel.presets.configuration import Configuration, Judge
from carrel.providers.base import Role
from carrel.providers.registry import Registry
from carrel.runs.creation.text_cache import TextCache
from carrel.runs.engine import commands
from carrel.runs.model import rounds, run_transitions
from carrel.runs.model import setup as setups
from carrel.runs.model.schemas import ReevaluateIn, Run
from carrel.runs.model.setup import Round, RunId
from carrel.runs.progress import store
from carrel.runs.tasks import phases
from carrel.vault.ids import ContentId


def reevaluate(
    conn: Connection,
    run_id: RunId,
    data: ReevaluateIn,
    registry: Registry,
    settings: Settings,
    system: Collection[str] = (),
) -> Run:
    """Plan the round and let the run continue with it.

    Where the run was made without judges, they compare the answers of two or more candidates, and score all answers
    once there are criteria.

    Raises:
        NotFound: there is no such run.
        RunStateConflict: it has not ended.
        BadInput: a model or content is not there or does not fit.
        BudgetUnpriced: the run has a budget, and nobody knows what a judge costs.
        ProviderKeyMissing, CreditsUnavailable: as `keys.require` says.
    """
    found = run_transitions.require(conn, run_id, "reevaluate")
    before = setups.load(conn, found.seq)
    if before is None:
        raise CarrelError
    configuration = store.get(conn, run_id).configuration
    text_cache = TextCache(conn, found.seq, {}, settings)
    planned = _planned(conn, text_cache, before.round, data, configuration, registry)
    text_cache.refuse_open()
    if before.budget_micros is not None:
        check.refuse(BudgetUnpriced, check.price_faults(conn, before.billing, _judge_models(data.judges or ())))
    rounds.put(conn, found.seq, planned)
    conn.run("UPDATE runs SET round = ?, phase = NULL, verdict = NULL WHERE seq = ?", planned.number, found.seq)
    phases.begin(conn, replace(before, round=planned))
    run_transitions.run(conn, found.seq, "run-resumed")
    commands.start_round(conn, found.seq, system)
    return store.get(conn, run_id)


def _planned(
    conn: Connection,
    text_cache: TextCache,
    before: Round,
    data: ReevaluateIn,
    configuration: Configuration,
    registry: Registry,
) -> Round:
    planned = replace(before, number=before.number + 1, compared=None, sources=None, looks=0, stopped=False, beaten=())
    if data.criteria is not None:
        _type_of(conn, data.criteria, "criteria", ("criteria",))
        planned = replace(planned, criteria=text_cache.criteria(data.criteria, "criteria"))
    if data.instructions is not None:
        kinds = ("scoring_instructions", "comparison_instructions")
        kind = _type_of(conn, data.instructions, "instructions", kinds)
        number = text_cache.instructions(data.instructions)
        planned = replace(planned, **{kind: number})
    if data.judges is not None:
        scoring, comparison = configuration.scoring, configuration.comparison
        scores, compares = scoring is not None, comparison is not None
        if not scores and not compares:
            scores, compares = bool(planned.criteria), len(configuration.generation.candidates) > 1
        if not scores and not compares:
            raise BadInput.at("criteria", "are required: a single candidate can only be scored")
        named: list[tuple[str, str, Role]] = [(path, model, "judge") for path, model in _judge_models(data.judges)]
        check.refuse(BadInput, check.role_faults(named, registry))
        planned = replace(
            planned,
            judges=rounds.bench(
                data.judges if scores else (),
                data.judges if compares else (),
                scoring.repeats if scoring is not None else 1,
                registry,
            ),
        )
    if not planned.judges:
        raise BadInput.at("judges", "are required: the run has none yet")
    judges = [(f"judges[{index}]", judge.model) for index, judge in enumerate(planned.judges)]
    check.refuse(CriterionNotSupported, check.criteria_faults(judges, planned.criteria))
    return planned


def _type_of(conn: Connection, content_id: ContentId, path: str, allowed: tuple[str, ...]) -> str:
    kind: str | None = conn.value("SELECT type FROM contents WHERE id = ?", content_id)
    fault = check.type_fault(kind, allowed)
    if fault is not None:
        raise BadInput.at(path, fault)
    return str(kind)


def _judge_models(judges: Sequence[Judge]) -> list[tuple[str, str]]:
    """The models of the judges, each with the path where it is named."""
    return [(f"judges[{index}].model", judge.model) for index, judge in enumerate(judges)]
