"""Another round over the answers that a run has: other judges, criteria or instructions; earlier rounds stay."""

from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from carrel.config import Settings
from carrel.errors import BadInput, CarrelError, FieldError
from carrel.kit.sqlite.database import Connection
from carrel.models import listing
from carrel.presets.check import BudgetUnpriced, CriterionNotSupported
from carrel.presets.configuration import Configuration, Judge
from carrel.providers.base import Criterion
from carrel.providers.local import supported_criterion
from carrel.providers.prices import is_priced
from carrel.providers.registry import Registry, is_built_in, name_of
from carrel.runs.creation.text_cache import TextCache
from carrel.runs.engine import commands
from carrel.runs.model import moves, rounds
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
    """Plan the round and let the run go on with it.

    Raises:
        NotFound: there is no such run.
        RunStateConflict: it has not ended.
        BadInput: a model or content is not there or does not fit.
        BudgetUnpriced: the run has a budget, and nobody knows what a judge costs.
        ProviderKeyMissing, CreditsUnavailable: as `keyed.require` says.
    """
    found = moves.require(conn, run_id, "reevaluate")
    before = setups.load(conn, found.seq)
    if before is None:
        raise CarrelError
    configuration = store.get(conn, run_id).configuration
    text_cache = TextCache(conn, found.seq, {}, settings)
    planned = _planned(conn, text_cache, before.round, data, configuration, registry)
    text_cache.refuse_open()
    if before.budget_micros is not None:
        _refuse_unpriced(data.judges or ())
    rounds.put(conn, found.seq, planned)
    conn.run("UPDATE runs SET round = ?, phase = NULL, verdict = NULL WHERE seq = ?", planned.number, found.seq)
    phases.begin(conn, replace(before, round=planned))
    moves.run(conn, found.seq, "run-resumed")
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
    planned = replace(before, number=before.number + 1, compared=None, sources=None, looks=0, stopped=False)
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
        faults = tuple(_model_faults(data.judges, registry))
        if faults:
            raise BadInput(errors=faults)
        planned = replace(
            planned,
            judges=rounds.bench(
                data.judges if scoring is not None else (),
                data.judges if comparison is not None else (),
                scoring.repeats if scoring is not None else 1,
                registry,
            ),
        )
    unsupported = tuple(_criterion_faults([judge.model for judge in planned.judges], planned.criteria))
    if unsupported:
        raise CriterionNotSupported(errors=unsupported)
    return planned


def _type_of(conn: Connection, content_id: ContentId, path: str, allowed: tuple[str, ...]) -> str:
    row = conn.one("SELECT type FROM contents WHERE id = ?", content_id)
    if row is None:
        raise BadInput.at(path, "is not the id of a content")
    if row[0] not in allowed:
        raise BadInput.at(path, f"must be a content of type {' or '.join(allowed)}")
    kind: str = row[0]
    return kind


def _model_faults(judges: list[Judge], registry: Registry) -> Iterator[FieldError]:
    for index, judge in enumerate(judges):
        message = listing.fault(registry, judge.model, "judge")
        if message is not None:
            yield FieldError(f"judges[{index}].model", message)


def _refuse_unpriced(judges: Sequence[Judge]) -> None:
    faults = tuple(
        FieldError(f"judges[{index}].model", "has no known price, so the run's budget cannot be kept")
        for index, judge in enumerate(judges)
        if not is_priced(judge.model)
    )
    if faults:
        raise BudgetUnpriced(errors=faults)


def _criterion_faults(models: list[str], criteria: tuple[Criterion, ...]) -> Iterator[FieldError]:
    for index, model in enumerate(models):
        for number, criterion in enumerate(criteria, start=1):
            if is_built_in(model) and not supported_criterion(name_of(model), criterion):
                yield FieldError(f"judges[{index}]", f"cannot judge by criterion number {number}")
