"""What a task needs: a call with all its texts, an existing text, or a rule that decides it. This module only reads."""

from typing import NamedTuple

import msgspec

from carrel.datasets import conversations
from carrel.evaluation import records
from carrel.evaluation.records import Side
from carrel.kit.sqlite.database import Connection
from carrel.providers.base import CompareMatter, Criterion, Grounding, Matter, Parameters, ScoreMatter, Turn
from carrel.runs.model import prompts, texts
from carrel.runs.model.plan import Kind, Presented, answer_repeat
from carrel.runs.model.prompts import Instructions
from carrel.runs.model.setup import RunCandidate, Setup
from carrel.runs.tasks import answers
from carrel.runs.verdicts import combining


class TaskRow(NamedTuple):
    """The columns of a task's row that decide what it needs."""

    seq: int
    key: str
    kind: Kind
    attempts: int
    error: str | None
    document: int
    candidate: int
    opponent: int | None
    repeat: int
    judge: int | None
    judge_repeat: int | None
    presented: Presented | None


class ModelCall(NamedTuple):
    """The task calls a model with these texts. `schema` is what the answer of a candidate has to follow, as JSON."""

    model: str
    parameters: Parameters
    matter: Matter
    instructions: Instructions | None
    reference: str | None = None
    criteria: tuple[Criterion, ...] = ()
    grounding: Grounding = "off"
    schema: str | None = None


class ExistingAnswer(NamedTuple):
    """The answer exists already."""

    text: str


class ByRule(NamedTuple):
    """A rule decides the outcome: an answer was not delivered, or fails a required check. `side` is for comparisons."""

    side: Side | None = None


_numbers = msgspec.json.Decoder(dict[str, int])

Need = ModelCall | ExistingAnswer | ByRule | None
"""`None`: there is nothing to judge or to combine."""


def of(conn: Connection, setup: Setup, task: TaskRow) -> Need:
    """Find out what `task` needs now."""
    if task.kind == "generate":
        return _generation(conn, setup, task)
    if task.kind == "combine":
        return _combination(conn, setup, task)
    return _score(conn, setup, task) if task.kind == "score" else _comparison(conn, setup, task)


def _generation(conn: Connection, setup: Setup, task: TaskRow) -> Need:
    existing = conn.value(
        "SELECT text FROM run_existing WHERE run = ? AND candidate = ? AND document = ?",
        *(setup.seq, task.candidate, task.document),
    )
    if existing is not None:
        return ExistingAnswer(texts.read(conn, existing))
    candidate = setup.candidate(task.candidate)
    if candidate.model is None:
        return None
    document, reference = _document(conn, setup, task.document)
    named = texts.read_instructions(conn, candidate.instructions) or Instructions("", ())
    row = _row(conn, setup, task.document)
    # A prompt that names the conversation gets its transcript in that place.
    turns = () if any(slot.name in row.named for slot in named.slots) else row.turns
    return ModelCall(
        model=candidate.model,
        parameters=candidate.parameters,
        matter=prompts.matter(named, document, reference, row.fields, turns),
        instructions=prompts.with_fields(named, row.fields),
        reference=reference,
        criteria=setup.round.criteria if setup.show_criteria else (),
        grounding=candidate.grounding,
        schema=_schema(conn, candidate),
    )


def _combination(conn: Connection, setup: Setup, task: TaskRow) -> Need:
    candidate = setup.candidate(task.candidate)
    sources = combining.sources(conn, setup.seq, task.document)
    if candidate.model is None or not sources:
        return None
    document, reference = _document(conn, setup, task.document)
    instructions = texts.read_instructions(conn, candidate.instructions)
    return ModelCall(
        model=candidate.model,
        parameters=candidate.parameters,
        matter=prompts.combine_matter(instructions, document, sources, reference),
        instructions=instructions,
        reference=reference,
        criteria=setup.round.criteria if setup.show_criteria else (),
        schema=_schema(conn, candidate),
    )


def _schema(conn: Connection, candidate: RunCandidate) -> str | None:
    return None if candidate.response_schema is None else texts.read(conn, candidate.response_schema)


def _score(conn: Connection, setup: Setup, task: TaskRow) -> Need:
    answer = answers.brought(conn, setup.seq, task.document, task.candidate, task.repeat)
    if answer is None:
        return None
    if not (answer.delivered and answer.passes):
        return ByRule()
    judge = setup.judge(task.judge or 0)
    document, reference = _document(conn, setup, task.document)
    return ModelCall(
        model=judge.model,
        parameters=judge.parameters,
        matter=ScoreMatter(document, answer.body, setup.round.criteria, reference),
        instructions=texts.read_instructions(conn, setup.round.scoring_instructions),
    )


def _comparison(conn: Connection, setup: Setup, task: TaskRow) -> Need:
    pair = []
    for ordinal in (task.candidate, task.opponent or 0):
        repeat = answer_repeat(setup.candidate(ordinal).repeats, task.repeat)
        answer = answers.brought(conn, setup.seq, task.document, ordinal, repeat)
        if answer is None:
            return None
        pair.append(answer)
    side = records.by_rule(pair[0].delivered, pair[1].delivered) or records.by_checks(pair[0].passes, pair[1].passes)
    if side is not None:
        return ByRule(side)
    if task.presented == "ba":
        pair.reverse()
    judge = setup.judge(task.judge or 0)
    document, reference = _document(conn, setup, task.document)
    return ModelCall(
        model=judge.model,
        parameters=judge.parameters,
        matter=CompareMatter(document, pair[0].body, pair[1].body, setup.round.criteria, reference),
        instructions=texts.read_instructions(conn, setup.round.comparison_instructions),
    )


class _Row(NamedTuple):
    """What a row has besides its text; nothing if the input is a document.

    `fields` are the texts that prompts name, by their placeholders. `turns` are its conversation, which `named` name.
    """

    fields: dict[str, str]
    turns: tuple[Turn, ...]
    named: frozenset[str]


def _row(conn: Connection, setup: Setup, ordinal: int) -> _Row:
    kept, messages = conn.one(
        "SELECT fields, messages FROM run_documents WHERE run = ? AND ordinal = ?", setup.seq, ordinal
    ) or (None, None)
    numbers = {} if kept is None else _numbers.decode(kept)
    turns = () if messages is None else conversations.parse(texts.read(conn, messages))
    fields = {
        name: conversations.transcript(turns) if number == messages else texts.read(conn, number)
        for name, number in numbers.items()
    }
    conversation = {name for name, number in numbers.items() if number == messages}
    return _Row(fields, turns, frozenset({"document", *conversation}))


def _document(conn: Connection, setup: Setup, ordinal: int) -> tuple[str, str | None]:
    """A document's text and its reference."""
    row = conn.one("SELECT text, reference FROM run_documents WHERE run = ? AND ordinal = ?", setup.seq, ordinal)
    text, reference = row if row is not None else (0, None)
    return texts.read(conn, text), None if reference is None else texts.read(conn, reference)
