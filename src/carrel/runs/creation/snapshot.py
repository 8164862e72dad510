"""Makes a run: resolves the configuration and every text that it needs, and keeps them, so later edits change nothing.

It resolves and keeps texts one by one: a run over a thousand long documents takes no more memory than one over ten.
"""

import hashlib
import os
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from carrel.config import Settings
from carrel.errors import BadInput, CarrelError, NotFound
from carrel.evaluation.ranking.grouping import By
from carrel.kit.money import micros_of
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import as_json
from carrel.presets import rows, rules
from carrel.presets import store as presets
from carrel.presets.check import checked
from carrel.presets.configuration import Candidate, Configuration
from carrel.presets.schemas import Preset
from carrel.providers.registry import Registry, replays
from carrel.runs.checking import marks
from carrel.runs.creation import belonging, likeness, narrowing, row_inputs
from carrel.runs.creation.likeness import Sketch
from carrel.runs.creation.row_inputs import RowInput, RowInputs
from carrel.runs.creation.text_cache import TextCache
from carrel.runs.model import log, rounds, run_hosts, texts
from carrel.runs.model import setup as setups
from carrel.runs.model.schemas import ExecuteIn, RunIn
from carrel.runs.model.setup import Round, RunId
from carrel.runs.publishing.library import Library
from carrel.runs.tasks import phases
from carrel.runs.verdicts import evidence
from carrel.vault.ids import ContentId, PresetId

_NAMELESS = "Run"
TEXTS_AT_ONCE: Final = 200
_CHARACTERS_AT_ONCE: Final = 64 * 1024


class Recipe(NamedTuple):
    """What a run is made from: a checked configuration, the texts for its variables, and the run's name and tags.

    `shown` are the criteria that candidates see.
    """

    configuration: Configuration
    given: Mapping[str, str]
    name: str
    preset_id: PresetId | None
    tags: list[str]
    trial: bool
    shown: ContentId | None


def recipe(conn: Connection, data: RunIn, registry: Registry) -> Recipe:
    """Check everything that `data` names, and return it as a recipe.

    Raises:
        BadInput: not exactly one of preset and configuration, no such preset, or as `presets.check.checked` says.
    """
    if (data.preset_id is None) == (data.configuration is None):
        raise BadInput.at("preset_id", "must be given, or configuration, but not both")
    if data.configuration is not None:
        named, tags, root = data.name or _NAMELESS, list[str](), "configuration"
        configuration = data.configuration
    else:
        preset = _preset(conn, data.preset_id or PresetId(""))
        named, tags, root = data.name or preset.name, preset.tags, ""
        configuration = presets.configuration_of(preset)
    if data.inputs is not None:
        configuration = narrowing.with_inputs(configuration, data.inputs)
    if data.rows is not None:
        configuration = replace(narrowing.with_inputs(configuration, []), rows=data.rows, groups=None)
    if data.groups is not None:
        configuration = replace(configuration, groups=data.groups)
    if data.economy is not None:
        configuration = replace(configuration, economy=data.economy)
    if data.reuse is not None:
        configuration = replace(configuration, reuse=data.reuse)
    shown = _shown_criteria(configuration)
    if data.trial:
        configuration = narrowing.to_trial(conn, configuration)
    configuration = _at_version(conn, checked(conn, configuration, registry, root))
    return Recipe(configuration, data.variables, named, data.preset_id, tags, data.trial, shown)


def _shown_criteria(configuration: Configuration) -> ContentId | None:
    """The criteria that candidates see. Those of a trial see them, too, although nobody scores its answers."""
    scoring = configuration.scoring
    return scoring.criteria if scoring is not None and configuration.generation.show_criteria else None


def _at_version(conn: Connection, configuration: Configuration) -> Configuration:
    """The configuration with the version of the data set from which the run takes its rows."""
    table = rows.table(conn, configuration)
    if configuration.rows is None or table is None:
        return configuration
    return replace(configuration, rows=replace(configuration.rows, version=table.version))


def of_preset(conn: Connection, preset_id: PresetId, data: ExecuteIn) -> RunIn:
    """The body of a run that executes a preset.

    Raises:
        NotFound: there is no such preset.
    """
    if conn.one("SELECT 1 FROM presets WHERE id = ?", preset_id) is None:
        raise NotFound
    return RunIn(
        preset_id=preset_id,
        name=data.name,
        variables=data.variables,
        inputs=data.inputs,
        rows=data.rows,
        groups=data.groups,
        economy=data.economy,
        reuse=data.reuse,
        trial=data.trial,
    )


def _preset(conn: Connection, preset_id: PresetId) -> Preset:
    try:
        return presets.get(conn, preset_id)
    except NotFound:
        raise BadInput.at("preset_id", "is not the id of a preset") from None


def create(conn: Connection, data: RunIn, registry: Registry, settings: Settings) -> RunId:
    """Create a pending run with its plan.

    Raises:
        BadInput: as `recipe` says.
        VariablesOpen: see there. Nothing was made.
    """
    # The texts of a run are found by their digests, which lie at random places of an index.
    with conn.large_cache():
        return _create(conn, data, registry, settings)


def _create(conn: Connection, data: RunIn, registry: Registry, settings: Settings) -> RunId:
    made_from = recipe(conn, data, registry)
    run_id = RunId(conn.new_id())
    conn.run(
        "INSERT INTO runs (id, name, preset_id, state, tags, created_at, trial) VALUES (?, ?, ?, 'pending', ?, ?, ?)",
        *(run_id, made_from.name, made_from.preset_id, as_json(made_from.tags), conn.now(), made_from.trial),
    )
    seq = conn.last_insert_rowid()
    conn.run(
        "INSERT OR IGNORE INTO run_tags (tag, run) SELECT value, ? FROM json_each(?)", seq, as_json(made_from.tags)
    )
    fields = row_inputs.placeholders(conn, made_from.configuration)
    text_cache = TextCache(conn, seq, made_from.given, settings, fields)
    suggested = _keep_inputs(conn, seq, text_cache, made_from.configuration)
    _keep_candidates(conn, seq, text_cache, made_from.configuration, registry)
    judging = first_round(text_cache, made_from, registry)
    rounds.put(conn, seq, judging)
    candidates = rules.everyone(made_from.configuration)
    marks.keep(conn, seq, made_from.configuration.checks, [candidate.response_schema for candidate in candidates])
    text_cache.refuse_open()
    _keep_snapshot(conn, seq, made_from.configuration, judging, settings, suggested)
    setup = setups.load(conn, seq)
    if setup is None:
        raise CarrelError
    run_hosts.expect(conn, setup)
    phases.begin(conn, setup)
    log.write(conn, seq, "run-created", state="pending")
    return run_id


def _keep_inputs(conn: Connection, seq: int, text_cache: TextCache, configuration: Configuration) -> By | None:
    """Keep the inputs with their groups, and return what seems to make groups where none are given."""
    if configuration.rows is None:
        return _keep_documents(conn, seq, text_cache, configuration)
    # First what the prompts name of each row.
    for candidate in configuration.generation.candidates:
        if candidate.model is not None:
            text_cache.instructions(candidate.instructions or configuration.instructions, of_rows=True)
    inputs = RowInputs(conn, configuration)
    inputs.require_room(text_cache.used_fields)
    sketches: list[Sketch] = []
    for some in _batches(inputs.each(text_cache.used_fields)):
        _keep_rows(conn, seq, text_cache, len(sketches) + 1, some)
        sketches += (array("I", likeness.sketch(row.text)) for row in some)
    for place, first in likeness.near(sketches).items():
        conn.run("UPDATE run_documents SET near = ? WHERE run = ? AND ordinal = ?", first + 1, seq, place + 1)
    return None


def _batches(rows: Iterable[RowInput]) -> Iterator[list[RowInput]]:
    """The rows, some at a time: statements for each of 100,000 finished answers take most of the time."""
    batch: list[RowInput] = []
    texts = characters = 0
    for row in rows:
        batch.append(row)
        found = _texts_of(row)
        texts += len(found)
        characters += sum(map(len, found))
        if texts >= TEXTS_AT_ONCE or characters >= _CHARACTERS_AT_ONCE:
            yield batch
            batch, texts, characters = [], 0, 0
    yield batch


def _keep_rows(conn: Connection, seq: int, text_cache: TextCache, first: int, some: list[RowInput]) -> None:
    numbers = iter(text_cache.texts([text for row in some for text in _texts_of(row)]))
    documents, existing = [], []
    for ordinal, row in enumerate(some, start=first):
        text = next(numbers)
        reference = None if row.reference is None else next(numbers)
        messages = next(numbers) if row.turns else None
        fields = as_json({name: next(numbers) for name in row.fields})
        existing += [(candidate, ordinal, next(numbers)) for candidate in row.outputs]
        documents.append(
            (ordinal, row.id, row.name, text, reference, row.group, fields, messages, as_json(row.metadata))
        )
    conn.executemany(
        "INSERT INTO run_documents (run, ordinal, content_id, name, text, reference, belongs, fields, messages,"
        f" metadata) VALUES ({seq}, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        documents,
    )
    # Candidate by candidate, as the table has them.
    conn.executemany(
        f"INSERT INTO run_existing (run, candidate, document, text) VALUES ({seq}, ?, ?, ?)", sorted(existing)
    )
    os.sched_yield()


def _texts_of(row: RowInput) -> list[str]:
    """The texts that a run keeps of a row; whoever takes their numbers takes them in this order."""
    reference = [] if row.reference is None else [row.reference]
    messages = [as_json(row.turns)] if row.turns else []
    return [row.text, *reference, *messages, *row.fields.values(), *row.outputs.values()]


def _keep_documents(conn: Connection, seq: int, text_cache: TextCache, configuration: Configuration) -> By | None:
    """Keep the documents with their groups, and return what seems to make groups where none are given."""
    numbers = [text_cache.material(content_id) for content_id in configuration.inputs]
    near = likeness.near([text_cache.sketch(content_id) for content_id in configuration.inputs])
    groups, suggested = belonging.belonging(conn, configuration.inputs, configuration.groups)
    for place, content_id in enumerate(configuration.inputs):
        reference = configuration.references.get(content_id)
        name = conn.value("SELECT name FROM contents WHERE id = ?", content_id) or ""
        conn.run(
            "INSERT INTO run_documents (run, ordinal, content_id, name, text, reference, belongs, near)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            *(seq, place + 1, content_id, name, numbers[place]),
            None if reference is None else text_cache.material(reference),
            *(groups[place], near[place] + 1 if place in near else None),
        )
    return suggested


def _keep_candidates(
    conn: Connection, seq: int, text_cache: TextCache, configuration: Configuration, registry: Registry
) -> None:
    candidates, combination = configuration.generation.candidates, configuration.combination
    for ordinal, candidate in enumerate(candidates, start=1):
        instructions = candidate.instructions or configuration.instructions
        number = text_cache.instructions(instructions, of_rows=True) if candidate.model is not None else None
        often = answers_per_document(configuration, candidate)
        schema = text_cache.schema(candidate.response_schema)
        _keep_candidate(conn, seq, ordinal, candidate, registry, (number, often, False, schema))
        for document, content_id in enumerate(configuration.inputs, start=1):
            if content_id in candidate.existing:
                conn.run(
                    "INSERT INTO run_existing (run, candidate, document, text) VALUES (?, ?, ?, ?)",
                    *(seq, ordinal, document, text_cache.material(candidate.existing[content_id])),
                )
    if combination is not None:
        for ordinal, candidate in enumerate(combination.candidates, start=len(candidates) + 1):
            number = text_cache.instructions(candidate.instructions or combination.instructions)
            schema = text_cache.schema(candidate.response_schema)
            _keep_candidate(conn, seq, ordinal, candidate, registry, (number, 1, True, schema))


def _keep_candidate(
    conn: Connection,
    seq: int,
    ordinal: int,
    candidate: Candidate,
    registry: Registry,
    how: tuple[int | None, int, bool, int | None],
) -> None:
    """Keep a candidate.

    `how`: the number of its instructions, its answers to each document, whether it combines, the number of its schema.
    """
    conn.run(
        "INSERT INTO run_candidates (run, ordinal, label, model, family, parameters, instructions, repeats, combines,"
        " response_schema, grounding) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        *(seq, ordinal, candidate.label, candidate.model, registry.family(candidate.model)),
        *(as_json(candidate.parameters), *how, candidate.grounding),
    )


def first_round(text_cache: TextCache, made_from: Recipe, registry: Registry) -> Round:
    """The first round: how the configuration wants its answers judged, with the judges' texts kept for the run.

    It goes block by block if it may stop early, compares everybody, and nobody wants an answer to every document.
    """
    configuration = made_from.configuration
    scoring, comparison = configuration.scoring, configuration.comparison
    criteria = made_from.shown if scoring is None else scoring.criteria
    planned = Round(
        number=1,
        criteria=() if criteria is None else text_cache.criteria(criteria, "scoring.criteria"),
        scoring_instructions=text_cache.instructions(scoring.instructions) if scoring is not None else None,
        comparison_instructions=text_cache.instructions(comparison.instructions) if comparison is not None else None,
        finalists=comparison.finalists if comparison is not None else None,
        compared=None,
        judges=rounds.bench(
            scoring.judges if scoring is not None else [],
            comparison.judges if comparison is not None else [],
            scoring.repeats if scoring is not None else 1,
            registry,
        ),
    )
    candidates = len(configuration.generation.candidates)
    stops = comparison is not None and comparison.stop_when_decided and configuration.combination is None
    whole = configuration.output.destination != "none" or evidence.finalist_count(candidates, planned) < candidates
    return replace(planned, in_blocks=stops and not whole and candidates > 1)


def _keep_snapshot(
    conn: Connection,
    seq: int,
    configuration: Configuration,
    judging: Round,
    settings: Settings,
    suggested: By | None,
) -> None:
    limits, combination, output = configuration.limits, configuration.combination, configuration.output
    library = Library(output.answers, settings.max_name_characters) if output.destination == "library" else None
    conn.run(
        "INSERT INTO run_snapshots (run, configuration, seed, fence, concurrency, timeout_seconds, max_attempts,"
        " budget_micros, show_criteria, sources, output, suggested) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        *(seq, as_json(configuration), _seed(conn, seq, configuration, judging), conn.new_id(), limits.concurrency),
        *(float(limits.timeout_seconds), limits.max_attempts),
        None if limits.budget is None else micros_of(limits.budget),
        *(configuration.generation.show_criteria, 0 if combination is None else combination.sources),
        None if library is None else as_json(library),
        suggested,
    )


def _seed(conn: Connection, seq: int, configuration: Configuration, judging: Round) -> str:
    """The seed. It is the same for the same texts, candidates and judges, whoever runs them and when."""
    digest = hashlib.sha256()
    for text in texts.digests(conn, seq):
        digest.update(text)
    candidates = [(one.label, one.model, one.parameters) for one in rules.everyone(configuration)]
    digest.update(as_json((candidates, judging.criteria, judging.judges)).encode())
    return digest.hexdigest()


def answers_per_document(configuration: Configuration, candidate: Candidate) -> int:
    """How often a candidate answers each document: once if a second answer could only be the same."""
    if candidate.model is None or replays(candidate.model):
        return 1
    return configuration.generation.repeats
