"""Before anything is spent: what executing would take, and what the planned number of documents can decide."""

from carrel.config import Settings
from carrel.evaluation.power import power
from carrel.kit.database import Connection
from carrel.presets import rules
from carrel.presets.configuration import Configuration
from carrel.providers.registry import Registry
from carrel.runs import evidence, plan, snapshot
from carrel.runs.foresight import Work, foresee
from carrel.runs.keeper import Keeper
from carrel.runs.pricing import output_limit
from carrel.runs.schemas import Calls, DryRun, ExecuteIn, RunIn
from carrel.runs.setup import shape_of
from carrel.vault.ids import PresetId

_NO_SEED = ""


def rehearse(conn: Connection, preset_id: PresetId, data: ExecuteIn, registry: Registry, settings: Settings) -> DryRun:
    """Check everything that executing a preset checks, make nothing, and say what it would take. To be scanned.

    Raises:
        NotFound: there is no such preset.
        BadInput, VariablesOpen: as `snapshot.create` says.
    """
    return estimate(conn, snapshot.of_preset(conn, preset_id, data), registry, settings)


def estimate(conn: Connection, data: RunIn, registry: Registry, settings: Settings) -> DryRun:
    """What making and starting this run would take.

    Raises:
        BadInput, VariablesOpen: as `snapshot.create` says.
    """
    configuration = snapshot.recipe(conn, data, registry).configuration
    keeper = Keeper(conn, None, data.variables, settings)
    _check_texts(keeper, configuration)
    judging = snapshot.first_round(keeper, configuration, registry)
    keeper.refuse_open()
    documents, candidates = len(configuration.inputs), configuration.generation.candidates
    repeats = [snapshot.answers_per_document(configuration, candidate) for candidate in candidates]
    compared = evidence.finalist_count(len(candidates), judging)
    everyone = rules.everyone(configuration)
    combined = len(everyone) - len(candidates)
    shape = shape_of(documents, [*repeats, *[1] * combined], judging.judges, _NO_SEED, combined)
    size = plan.size(shape, compared)
    generate = size.generate - sum(len(one.existing) * often for one, often in zip(candidates, repeats, strict=True))
    made = [(one.model, one.parameters) for one in candidates if one.model is not None]
    mixed = [(one.model, one.parameters) for one in everyone[len(candidates) :] if one.model is not None]
    judges = [(judge.model, judge.parameters) for judge in judging.judges]
    works = (
        Work("generate", generate, made),
        Work("combine", size.combine, mixed, len(candidates)),
        Work("score", size.score, judges, 1),
        Work("compare", size.compare, judges, 2),
    )
    longest = max((output_limit("generate", parameters) for _, parameters in (*made, *mixed)), default=0)
    costs = foresee(works, _sizes(conn, configuration), longest, conn.clock.now())
    return DryRun(
        calls=Calls(
            generate, size.score, size.compare, generate + size.score + size.compare + size.combine, size.combine
        ),
        likely_cost=costs.likely,
        worst_cost=costs.worst,
        documents=documents,
        candidates=len(everyone),
        power=power(documents, compared + combined),
    )


def _sizes(conn: Connection, configuration: Configuration) -> list[int]:
    """The bytes of each document with its reference and the longest instructions."""
    told = [configuration.instructions, *(one.instructions for one in configuration.generation.candidates)]
    longest = max((_bytes(conn, text) for text in told if text is not None), default=0)
    return [
        longest + _bytes(conn, one) + _bytes(conn, configuration.references.get(one)) for one in configuration.inputs
    ]


def _bytes(conn: Connection, content_id: str | None) -> int:
    row = conn.one("SELECT body_bytes FROM contents WHERE id = ?", content_id)
    return 0 if row is None else row[0]


def _check_texts(keeper: Keeper, configuration: Configuration) -> None:
    """The texts of documents and candidates; those of the judges come with the round."""
    for input_id in configuration.inputs:
        keeper.material(input_id)
    for reference in configuration.references.values():
        keeper.material(reference)
    for candidate in configuration.generation.candidates:
        if candidate.model is not None:
            keeper.instructions(candidate.instructions or configuration.instructions)
        for answer in candidate.existing.values():
            keeper.material(answer)
    if configuration.combination is not None:
        for candidate in configuration.combination.candidates:
            keeper.instructions(candidate.instructions or configuration.combination.instructions)
