"""What executing a preset would take, and what the planned number of documents can decide, before anything is spent."""

from collections.abc import Iterator, Sequence

from carrel.config import Settings
from carrel.evaluation.ranking.power import power, saved
from carrel.evaluation.ranking.stopping import LEAST_DOCUMENTS, Look
from carrel.evaluation.statistics import clusters
from carrel.evaluation.words import listed
from carrel.keys import store as keys
from carrel.kit.money import micros_of
from carrel.kit.sqlite.database import Connection
from carrel.presets import rules
from carrel.presets.check import may_be_batched
from carrel.presets.configuration import Candidate, Configuration
from carrel.providers import endings
from carrel.providers.hosts import ModelAt
from carrel.providers.prices import Price
from carrel.providers.registry import Registry
from carrel.runs.costs.quotes import output_limit, price_now
from carrel.runs.creation import row_inputs, snapshot
from carrel.runs.creation.belonging import belonging
from carrel.runs.creation.forecast import AnswerSizes, Work, foresee
from carrel.runs.creation.text_cache import TextCache
from carrel.runs.creation.text_sizes import RowSizes, SharedBytes
from carrel.runs.model import plan
from carrel.runs.model.plan import Kind, Shape
from carrel.runs.model.schemas import Calls, DryRun, EconomyCosts, ExecuteIn, RunIn, Saving
from carrel.runs.model.setup import Round, looks, shape_of
from carrel.runs.verdicts import evidence
from carrel.vault.ids import ContentId, PresetId

_NO_SEED = ""


def rehearse(conn: Connection, preset_id: PresetId, data: ExecuteIn, registry: Registry, settings: Settings) -> DryRun:
    """Check everything that executing a preset checks, create nothing, and return what it would take. To be scanned.

    Raises:
        NotFound: there is no such preset.
        BadInput, VariablesOpen: as `snapshot.create` says.
    """
    return estimate(conn, snapshot.of_preset(conn, preset_id, data), registry, settings)


def estimate(conn: Connection, data: RunIn, registry: Registry, settings: Settings) -> DryRun:
    """Return what creating and starting this run would take, also for a configuration that nobody saved. To be scanned.

    Raises:
        NotFound: there is no such preset.
        BadInput, VariablesOpen: as `snapshot.create` says.
    """
    made_from = snapshot.recipe(conn, data, registry)
    configuration = made_from.configuration
    text_cache = TextCache(conn, None, data.variables, settings, row_inputs.placeholders(conn, configuration))
    _check_texts(text_cache, configuration)
    rows = None if configuration.rows is None else RowSizes(conn, configuration, text_cache.used_fields)
    judging = snapshot.first_round(text_cache, made_from, registry)
    text_cache.refuse_open()
    documents = len(configuration.inputs) if rows is None else len(rows.documents)
    candidates = configuration.generation.candidates
    repeats = [snapshot.answers_per_document(configuration, candidate) for candidate in candidates]
    compared = evidence.finalist_count(len(candidates), judging)
    everyone = rules.everyone(configuration)
    combined = len(everyone) - len(candidates)
    shape = shape_of(documents, [*repeats, *[1] * combined], judging.judges, _NO_SEED, combined)
    size = plan.size(shape, compared)
    finished = [len(one.existing) for one in candidates] if rows is None else rows.finished
    generate = size.generate - sum(count * often for count, often in zip(finished, repeats, strict=True))
    shared = SharedBytes(text_cache, configuration, judging)
    sizes = shared.documents() if rows is None else rows.documents
    mixers = everyone[len(candidates) :]
    left = [(documents - done) * often for done, often in zip(finished, repeats, strict=True)]
    works = (
        *_answering("generate", candidates, left, shared.candidates(candidates, configuration.instructions)),
        *_answering(
            "combine",
            mixers,
            [documents] * combined,
            shared.candidates(mixers, _mixing(configuration)),
            len(candidates),
        ),
        *_judging("score", size.score, judging, shape, shared.judges(configuration.scoring)),
        *_judging("compare", size.compare, judging, shape, shared.judges(configuration.comparison)),
    )
    longest = max((output_limit("generate", one.parameters) for one in everyone if one.model is not None), default=0)
    existing = [text_cache.size(one).length for each in candidates for one in each.existing.values()]
    answers = AnswerSizes(longest, existing if rows is None else rows.outputs)
    stops = configuration.comparison is not None and configuration.comparison.stop_when_decided
    early = looks(documents, stops=stops, combines=combined > 0)
    economy, budget = configuration.economy, configuration.limits.budget

    def price_of(model: str, is_batched: bool) -> Price | None:
        return price_now(conn, configuration.billing, model, keys.host(conn, model), batched=is_batched)

    at_once, batched = (foresee(works, sizes, answers, price_of, economy=each) for each in (False, True))
    costs = batched if economy else at_once
    unneeded = _unneeded(works, documents, compared, in_blocks=judging.in_blocks) if early else ()
    return DryRun(
        calls=Calls(
            generate, size.score, size.compare, generate + size.score + size.compare + size.combine, size.combine
        ),
        likely_cost=costs.likely,
        worst_cost=costs.worst,
        documents=documents,
        candidates=len(everyone),
        power=power(
            documents,
            compared + combined,
            early=bool(early),
            judges=_comparing(configuration),
            independent=_independent(conn, configuration),
            checked=rules.is_by_checks(configuration),
        ),
        stopping=_stopping(documents, early, combines=combined > 0) if stops else None,
        saving=Saving(
            sum(work.calls for work in unneeded),
            foresee(unneeded, sizes, answers, price_of, economy=economy).likely,
        )
        if unneeded
        else None,
        economy=EconomyCosts(batched.likely, batched.worst, at_once.likely, at_once.worst)
        if may_be_batched(configuration)
        else None,
        known_part=costs.known_part,
        over_budget=None if budget is None else costs.over(micros_of(budget)),
        endings=endings.soon(
            (ModelAt(model, keys.host(conn, model)) for model in rules.models(configuration)), conn.clock.now()
        ),
    )


def _answering(
    kind: Kind, candidates: Sequence[Candidate], calls: Sequence[int], sizes: tuple[int, int], answers: int = 0
) -> Iterator[Work]:
    """What each candidate with a model has to do, by the number of its calls."""
    for one, count in zip(candidates, calls, strict=True):
        if one.model is not None:
            yield Work(kind, count, one.model, one.parameters, *sizes, answers, one.grounding != "off")


def _judging(kind: Kind, calls: int, judging: Round, shape: Shape, sizes: tuple[int, int]) -> Iterator[Work]:
    """What each judge has to do. All of them judge the same answers, each as often as the round asks it to."""
    often = [judge.score_repeats if kind == "score" else int(judge.compares) for judge in shape.judges]
    for judge, times in zip(judging.judges, often, strict=True):
        if times:
            count = calls * times // sum(often)
            yield Work(kind, count, judge.model, judge.parameters, *sizes, 1 if kind == "score" else 2)


def _comparing(configuration: Configuration) -> int:
    """How many judges compare, or score where nothing is compared; 0 where nobody does either."""
    judging = configuration.comparison or configuration.scoring
    return 0 if judging is None else len(judging.judges)


def _independent(conn: Connection, configuration: Configuration) -> int | None:
    """As many documents, or groups of them, as tell something of their own; `None` if no groups are given."""
    if configuration.groups is None or not configuration.inputs:
        return None
    found = belonging(conn, configuration.inputs, configuration.groups).groups
    of = {str(place): group for place, group in enumerate(found) if group is not None}
    numbers = clusters.numbers(map(str, range(len(found))), of)
    return clusters.effective(numbers) if numbers else None


def _unneeded(works: Sequence[Work], documents: int, candidates: int, *, in_blocks: bool) -> tuple[Work, ...]:
    """The calls that a run which may stop early does not make on average."""
    answers, comparisons = saved(documents, candidates)
    parts = {"compare": comparisons} | ({"generate": answers, "score": answers} if in_blocks else {})
    return tuple(work._replace(calls=round(work.calls * parts.get(work.kind, 0.0))) for work in works)


def _stopping(documents: int, early: Sequence[Look], *, combines: bool) -> str:
    """Say in words when a run that may stop early does so."""
    if combines:
        return "It compares everything, because all comparisons together decide which answers are combined."
    if not early:
        return f"It compares everything: fewer than {LEAST_DOCUMENTS} documents are too few to decide earlier."
    places = [str(look.documents) for look in early if not look.is_last]
    return (
        f"It may stop after {listed(places, 'or')} of {documents} documents, if one is best by then;"
        " calls and costs are those of the whole run."
    )


def _mixing(configuration: Configuration) -> ContentId | None:
    return None if configuration.combination is None else configuration.combination.instructions


def _check_texts(text_cache: TextCache, configuration: Configuration) -> None:
    """Resolve the texts of documents and candidates. Those of the judges come with the round."""
    for input_id in configuration.inputs:
        text_cache.material(input_id)
    for reference in configuration.references.values():
        text_cache.material(reference)
    for candidate in configuration.generation.candidates:
        if candidate.model is not None:
            text_cache.instructions(candidate.instructions or configuration.instructions, of_rows=True)
        for answer in candidate.existing.values():
            text_cache.material(answer)
    if configuration.combination is not None:
        for candidate in configuration.combination.candidates:
            text_cache.instructions(candidate.instructions or configuration.combination.instructions)
