"""Everything that the rows hold about one round of a run, read in one snapshot for its report.

It takes texts in while there is room, so that a report has a greatest size; the export holds all texts.
"""

from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from carrel.errors import NotFound
from carrel.evaluation.passing import CheckResults
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.metering.store import HOST
from carrel.presets.configuration import DroppedPart
from carrel.reports import document_input
from carrel.reports.document_input import MAX_JUDGEMENTS, DocumentsInput
from carrel.reports.text_budget import TextBudget
from carrel.runs.checking import results
from carrel.runs.model import run_transitions, texts
from carrel.runs.model import setup as setups
from carrel.runs.model.plan import PHASES, Kind
from carrel.runs.model.schemas import LookTaken
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.model.states import PauseReason, State, TaskState
from carrel.runs.publishing import library
from carrel.runs.verdicts import combining, evidence, looks, votes, wording

ROOM_BYTES = 3_000_000
"""The most that instructions, answers, judges' words and documents take in a report, as JSON or in its page. They are
taken in this order."""
OTHER_BYTES = 500_000
"""The most that the instructions of a run take that is set beside another one."""
MAX_TROUBLES = 500


class ReportHead(msgspec.Struct, frozen=True):
    """The run's row and its snapshot."""

    id: RunId
    name: str
    preset_id: str | None
    state: State
    pause_reason: PauseReason | None
    rounds: int
    seed: str
    configuration: str
    created_at: str
    started_at: str | None
    finished_at: str | None


class ReportCounts(msgspec.Struct, frozen=True):
    """The round's tasks by state; `to_come` tasks are certain but not planned yet, `saved` ones are not needed."""

    to_come: int
    pending: int
    running: int
    succeeded: int
    failed: int
    skipped: int
    cancelled: int
    saved: int = 0
    saved_micros: int | None = None


class Trouble(msgspec.Struct, frozen=True):
    """A task without a result."""

    key: str
    kind: Kind
    state: TaskState
    error: str | None
    failures: int
    malformed: int


class Spending(msgspec.Struct, frozen=True):
    """The calls of all rounds for one kind of task to one model at one host; `cost_micros` sums up the known costs."""

    kind: Kind
    model: str
    host: str | None
    calls: int
    failed: int
    malformed: int
    input_tokens: int
    output_tokens: int
    cost_micros: int
    unknown: int


class ReportInput(DocumentsInput, frozen=True, kw_only=True):
    """The input of a report.

    `digests` are those of the documents' texts, where two runs are compared, `prompt_digests` those of the instructions
    by their numbers.

    `order` are the candidates that answered by themselves, best first, once answers are combined. `outputs` are the
    contents that answers became, by task key. `median_ms` is how long answers took, by the labels of the candidates.
    `looks` are those that the round took on its way, `checks` what its checks come to, `both_bad` votes for neither,
    `dropped` what an imported suite has besides.
    """

    head: ReportHead
    counts: ReportCounts
    ranking: bytes | None
    instructions: dict[int, str | None]
    prompt_digests: dict[int, bytes]
    digests: tuple[bytes, ...]
    troubles: tuple[Trouble, ...]
    more_troubles: int
    spending: tuple[Spending, ...]
    lost_calls: int
    left_out: int
    order: tuple[int, ...] = ()
    outputs: dict[str, str] = msgspec.field(default_factory=dict)
    looks: tuple[LookTaken, ...] = ()
    checks: CheckResults | None = None
    both_bad: int = 0
    dropped: list[DroppedPart] = msgspec.field(default_factory=list)
    median_ms: dict[str, int] = msgspec.field(default_factory=dict)


_heads = Select(ReportHead, rounds="round")
_round_counts = Select(ReportCounts)
_given_up = Select(Trouble)
_spent = Select(
    Spending,
    host=HOST,
    calls="count(*)",
    failed="sum(outcome = 'failed')",
    malformed="sum(outcome = 'malformed')",
    input_tokens="coalesce(sum(input_tokens), 0)",
    output_tokens="coalesce(sum(output_tokens), 0)",
    cost_micros="coalesce(sum(calls.cost_micros), 0)",
    unknown="sum(calls.cost_micros IS NULL)",
)


class RunRound(NamedTuple):
    """A run and one of its rounds."""

    seq: int
    setup: Setup


def find(conn: Connection, run_id: RunId, round_number: int | None) -> RunRound | None:
    """The run in a round, or in the present one if none is named; `None` if there is no such round.

    Raises:
        NotFound: there is no run with this id.
    """
    seq = run_transitions.present(conn, run_id).seq
    setup = setups.load(conn, seq, round_number)
    # The fence is a secret of the run's prompts and says nothing to a reader.
    return None if setup is None else RunRound(seq, replace(setup, fence=""))


def gather(
    conn: Connection, seq: int, setup: Setup, room_bytes: int = ROOM_BYTES, *, is_other: bool = False,
    has_documents: bool = True, has_digests: bool = True,
) -> ReportInput:  # fmt: skip
    """Read everything about the round but its verdicts and scores as evidence. Unbounded: to be scanned.

    Of a run that `is_other`, set beside the report's own, or without documents, only instructions' texts are taken.
    """
    is_brief = is_other or not has_documents
    room = TextBudget(OTHER_BYTES if is_other else room_bytes)
    number = setup.round.number
    instructions = _instructions(conn, setup, room)
    if is_brief:
        room = TextBudget(0)
    given = tuple(document_input.answers(conn, seq, room, is_brief=is_brief))
    counted = "SELECT count(*) FROM tasks WHERE run = ? AND round = ? AND kind = ?"
    # Two comparisons, one in each order, are a verdict.
    is_listed = conn.value(counted, seq, number, "compare") <= 2 * MAX_JUDGEMENTS and has_documents
    said = dict(document_input.said(conn, seq, number, room)) if is_listed else {}
    is_listed = conn.value(counted, seq, number, "score") <= MAX_JUDGEMENTS and has_documents
    marks = tuple(document_input.marks(conn, seq, number, room)) if is_listed else ()
    documents = tuple(document_input.documents(conn, seq, room, is_brief=is_brief))
    troubles = _troubles(conn, seq, number)
    stored = conn.value("SELECT ranking FROM run_rankings WHERE run = ? AND round = ?", seq, number)
    return ReportInput(
        head=_head(conn, seq),
        counts=_counts(conn, seq, number),
        setup=setup,
        evidence=evidence.rest(conn, setup),
        ranking=None if stored is None else stored.encode(),
        instructions=instructions,
        prompt_digests={number: texts.digest(conn, number) for number in instructions},
        documents=documents,
        digests=_digests(conn, seq) if has_digests else (),
        answers=given,
        marks=marks,
        said=said,
        troubles=tuple(troubles[:MAX_TROUBLES]),
        more_troubles=max(0, len(troubles) - MAX_TROUBLES),
        spending=_spending(conn, seq, setup.id),
        lost_calls=_lost_calls(conn, setup.id),
        left_out=room.left_out if has_documents else 0,
        order=combining.order(conn, seq),
        sources=combining.kept(conn, seq),
        outputs=library.kept(conn, seq),
        looks=looks.taken(conn, setup),
        checks=results.kept(conn, seq, number) or results.of(conn, setup),
        both_bad=votes.count_both_bad(conn, seq),
        dropped=wording.dropped_parts(conn, seq),
        median_ms=_medians(conn, seq, setup),
    )


def _head(conn: Connection, seq: int) -> ReportHead:
    head = _heads.one(conn, "FROM runs JOIN run_snapshots ON run = seq WHERE seq = ?", seq)
    if head is None:
        raise NotFound
    return head


def _counts(conn: Connection, seq: int, number: int) -> ReportCounts:
    counts = _round_counts.one(conn, "FROM run_rounds WHERE run = ? AND number = ?", seq, number)
    if counts is None:
        raise NotFound
    return counts


def _instructions(conn: Connection, setup: Setup, room: TextBudget) -> dict[int, str | None]:
    """Every text of instructions by its number, in the order in which the setup names them."""
    numbers = [candidate.instructions for candidate in setup.candidates]
    numbers += [setup.round.scoring_instructions, setup.round.comparison_instructions]
    return {number: room.take(texts.read(conn, number)) for number in dict.fromkeys(numbers) if number is not None}


def _digests(conn: Connection, seq: int) -> tuple[bytes, ...]:
    sql = (
        "SELECT digest FROM run_documents JOIN run_texts ON run_texts.seq = text WHERE run_documents.run = ?"
        " ORDER BY ordinal"
    )
    return tuple(conn.column(sql, seq))


def _troubles(conn: Connection, seq: int, number: int) -> list[Trouble]:
    """The tasks that failed or were skipped: judgements of the round, and answers, which only the first round makes."""
    return _given_up.all(
        conn,
        "FROM tasks WHERE run = ? AND state IN ('failed', 'skipped')"
        " AND (round = ? OR kind IN ('generate', 'combine')) ORDER BY seq",
        *(seq, number),
    )


def _spending(conn: Connection, seq: int, run_id: RunId) -> tuple[Spending, ...]:
    spent = _spent.all(
        conn,
        "FROM calls JOIN tasks ON run = ? AND key = task_key"
        f" WHERE run_id = ? AND outcome IN ('answered', 'malformed', 'failed') GROUP BY kind, model, {HOST}",
        *(seq, run_id),
    )
    return tuple(sorted(spent, key=lambda one: (PHASES.index(one.kind), one.model, one.host or "")))


def _medians(conn: Connection, seq: int, setup: Setup) -> dict[str, int]:
    """How long the calls took that made answers, as the leaderboard counts them."""
    times: dict[int, list[int]] = {}
    for candidate, took_ms in conn.each(
        "SELECT candidate, latency_ms FROM calls JOIN tasks ON tasks.run = ? AND key = task_key"
        " WHERE run_id = ? AND outcome = 'answered' AND latency_ms IS NOT NULL AND phase IN ('generate', 'combine')",
        *(seq, setup.id),
    ):
        times.setdefault(candidate, []).append(took_ms)
    return {setup.candidate(one).label: sorted(each)[len(each) // 2] for one, each in sorted(times.items())}


def _lost_calls(conn: Connection, run_id: RunId) -> int:
    """Calls of which nobody knows what became: the process ended, or they were cancelled on their way."""
    lost: int = conn.value("SELECT count(*) FROM calls WHERE run_id = ? AND outcome = 'unknown-outcome'", run_id)
    return lost
