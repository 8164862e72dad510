"""The parts of an export, each written in steps that hold about a megabyte.

Every step is a scan in its own snapshot, so that a slow reader keeps none open. Contents come first. Their last step
writes their index and the presets in the same snapshot. So every content that the index or a preset names has been
written by then: contents are written in the order of their numbers.
"""

from collections.abc import Callable
from itertools import islice, zip_longest
from operator import attrgetter
from typing import Final, NamedTuple

import msgspec

from carrel.contents.schemas import ContentSummary
from carrel.contents.store import SUMMARIES, VERSIONED
from carrel.contents.versions import EARLIER
from carrel.datasets.schemas import Column, DataSetSummary, DataSetVersion
from carrel.keys import store as keys
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import MAX_LIMIT, Paging
from carrel.kit.sqlite.rows import Select, fields_of
from carrel.metering.store import CALLS
from carrel.presets import drafts as preset_drafts
from carrel.presets import store as presets
from carrel.providers import own_prices
from carrel.rate_limits import store as rate_limits
from carrel.reports.archive import Archive, csv_rows
from carrel.reports.export_parts import START, ExportedRun, Place
from carrel.runs.model.names import numbered
from carrel.runs.model.setup import RunId
from carrel.runs.progress import store as runs
from carrel.settings import store as settings
from carrel.transfer.entries import (
    CONTENTS,
    DATA_SETS,
    DRAFTS,
    MANIFEST,
    MODEL_PRICES,
    PRESETS,
    SETTINGS,
    ContentLine,
    ExportManifest,
    KeyEntry,
)

STEP_BYTES = 1024 * 1024
_ROWS_AT_ONCE = 200

README: Final = """\
What is in this archive
=======================

contents/             every text of the library as it is now, one file each
contents.jsonl        what belongs to them, one JSON object a line: id, file, name, type, variables, description, tags
earlier_versions.jsonl  the versions before the present ones, with their texts
originals/            uploaded files as they came
originals.jsonl       which file became which content, one JSON object a line
data_sets/            the rows of tables, one JSON object a line
data_sets.jsonl       what belongs to them, one JSON object a line: id, file, name, columns with their roles
data_set_versions.jsonl  the versions before the present ones
presets.jsonl         the presets, one JSON object a line
preset_drafts.jsonl   set-ups that are not finished, one JSON object a line
settings.json         your settings
rate_limits.json      the limits that you set for providers
model_prices.jsonl    what you said that models cost, one JSON object a line
provider_keys.json    for which providers you stored a key; the keys themselves are nowhere in here
calls.csv             one row for each call to a model; an empty cost is unknown, not 0
runs/                 one folder for each run, oldest first:
  report.html         the report to read in any browser, if there are answers yet and it could be made in time
  run.json            the run as it stands, with its configuration
  rankings.json       the ranking and the verdict of each round that ended
  documents/ references/ generated/ answers.csv scores.csv comparisons.csv votes.csv notes.csv calls.csv logs.jsonl
                      as in the export of that run, which has the report for programs besides
carrel.json           what kind of archive this is

Contents, data sets, presets, drafts, prices and settings can be brought into a workspace again. In CSV files, an
apostrophe stands before whatever a spreadsheet could take for a formula.
"""

_CALL_COLUMNS = (
    "run_id", "task_key", "phase", "attempt", "provider", "model", "outcome", "code", "input_tokens",
    "cached_read_tokens", "cached_write_tokens", "output_tokens", "price_id", "latency_ms", "started_at",
    "finished_at", "cost", "charged",
)  # fmt: skip

_call_cells = attrgetter(*_CALL_COLUMNS)
_CONTENT_FIELDS = [
    name for name in fields_of(ContentSummary) if name in fields_of(ContentLine) and name not in ("id", "file")
]
_SUMMARIES = Select(DataSetSummary)
_EARLIER_TABLES = Select(DataSetVersion, table="earlier")
_columns = msgspec.json.Decoder(list[Column])
_cells = msgspec.json.Decoder(list[str | None])
_EARLIER_FIELDS = [name for name in VERSIONED if name not in ("version", "body")]


class Outgoing:
    """An export that is being made: the zip, and the file names of contents and of the rows of data sets in it."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.files: dict[int, str] = {}
        self.row_files: dict[tuple[int, int], str] = {}
        self.last_row = 0


Step = Callable[[Connection, Outgoing, Place], Place | None]


class NextRun(NamedTuple):
    """A run, and the folder that it gets."""

    run: ExportedRun
    folder: str


def begin(archive: Archive) -> None:
    """Write the entries that do not depend on the workspace."""
    archive.add(MANIFEST, msgspec.json.encode(ExportManifest()) + b"\n")
    archive.add("README.txt", README.encode())


def data_set_rows(conn: Connection, outgoing: Outgoing, after: Place) -> Place | None:
    """Write the rows of data sets, in the order in which they were stored: a file for each table that was uploaded."""
    archive = outgoing.archive
    rows = conn.execute(
        "SELECT data_set_rows.seq, data_set, data_set_rows.batch, ordinal, name, cells, coalesce("
        " (SELECT columns FROM data_set_versions AS earlier WHERE earlier.data_set = data_sets.seq"
        " AND earlier.batch = data_set_rows.batch LIMIT 1), columns)"
        " FROM data_set_rows CROSS JOIN data_sets ON data_sets.seq = data_set WHERE data_set_rows.seq > ?"
        " ORDER BY data_set_rows.seq",
        after[:1],
    )
    room = STEP_BYTES
    for seq, data_set, batch, _, name, cells, columns in rows:
        if (data_set, batch) not in outgoing.row_files:
            archive.end()
            file = outgoing.row_files[data_set, batch] = f"data_sets/{numbered(f'{data_set}.{batch}', name)}.jsonl"
            archive.begin(file)
        names = [column.name for column in _columns.decode(columns)]
        line = msgspec.json.encode(dict(zip_longest(names, _cells.decode(cells)))) + b"\n"
        archive.write(line)
        outgoing.last_row = seq
        room -= len(line)
        if room <= 0:
            return (seq,)
    archive.end()
    return None


def contents(conn: Connection, outgoing: Outgoing, after: Place) -> Place | None:
    """Write the contents and, in the last step, everything that refers to them."""
    rows = conn.execute("SELECT seq, name, body FROM contents WHERE seq > ? ORDER BY seq", (after[0],))
    room = STEP_BYTES
    for seq, name, body in rows:
        outgoing.files[seq] = f"contents/{numbered(str(seq), name)}.md"
        outgoing.archive.add(outgoing.files[seq], body.encode())
        room -= len(body)
        if room <= 0:
            return (seq,)
    _index(conn, outgoing)
    # Those that came since the step before, which is nearly always nothing.
    while data_set_rows(conn, outgoing, (outgoing.last_row,)) is not None:
        pass
    _data_sets(conn, outgoing)
    _presets(conn, outgoing.archive)
    _small(conn, outgoing.archive)
    return None


def drafts(conn: Connection, outgoing: Outgoing, after: Place) -> Place | None:
    """Write the unfinished set-ups."""
    archive = outgoing.archive
    if after == START:
        archive.begin(DRAFTS)
    room = STEP_BYTES
    for seq, draft_id in conn.execute("SELECT seq, id FROM preset_drafts WHERE seq > ? ORDER BY seq", (after[0],)):
        line = msgspec.json.encode(preset_drafts.get(conn, draft_id)) + b"\n"
        archive.write(line)
        room -= len(line)
        if room <= 0:
            return (seq,)
    archive.end()
    return None


def earlier_versions(conn: Connection, outgoing: Outgoing, after: Place) -> Place | None:
    """Write the earlier versions of contents."""
    archive = outgoing.archive
    if after == START:
        archive.begin("earlier_versions.jsonl")
    rows = conn.execute(
        f"SELECT content_seq, {EARLIER.sql} FROM content_versions AS earlier JOIN contents ON seq = content_seq"
        " WHERE (content_seq, earlier.version) > (?, ?) ORDER BY content_seq, earlier.version",
        after[:2],
    )
    room = STEP_BYTES
    for seq, *columns in rows:
        earlier = EARLIER.record(columns)
        line = {name: getattr(earlier, name) for name in ("id", "version", *_EARLIER_FIELDS, "body")}
        archive.write(msgspec.json.encode(line) + b"\n")
        room -= len(earlier.body)
        if room <= 0:
            return (seq, earlier.version)
    archive.end()
    return None


def originals(conn: Connection, outgoing: Outgoing, after: Place) -> Place | None:
    """Write the uploaded files from their pieces."""
    archive = outgoing.archive
    rows = conn.execute(
        # In this order: each piece is read once, and nothing is sorted.
        "SELECT seq, ordinal, file_name, format, body FROM document_pieces CROSS JOIN documents ON seq = document"
        " WHERE (document, ordinal) > (?, ?) ORDER BY document, ordinal",
        after[:2],
    )
    room = STEP_BYTES
    for seq, ordinal, name, suffix, body in rows:
        if ordinal == 0:
            archive.end()
            archive.begin(_original_file(seq, name, suffix))
        archive.write(body)
        room -= len(body)
        if room <= 0:
            return (seq, ordinal)
    archive.end()
    return None


def index_of_originals(conn: Connection, outgoing: Outgoing, after: Place) -> Place | None:
    """Write which file became which content."""
    outgoing.archive.begin("originals.jsonl")
    for seq, content_id, name, suffix in conn.execute("SELECT seq, content_id, file_name, format FROM documents"):
        line = {"content_id": content_id, "file": _original_file(seq, name, suffix), "file_name": name}
        outgoing.archive.write(msgspec.json.encode(line) + b"\n")
    outgoing.archive.end()
    return None


def calls(conn: Connection, outgoing: Outgoing, after: Place) -> Place | None:
    """Write the metering rows."""
    archive = outgoing.archive
    if after == START:
        archive.begin("calls.csv")
        archive.write(csv_rows([_CALL_COLUMNS]))
    rows = conn.execute(f"SELECT seq, {CALLS.sql} FROM calls WHERE seq > ? ORDER BY seq", (after[0],))
    room = STEP_BYTES
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        body = csv_rows(map(_call_cells, CALLS.records(some, start=1)))
        archive.write(body)
        room -= len(body)
        if room <= 0:
            return (some[-1][0],)
    archive.end()
    return None


STEPS: tuple[Step, ...] = (data_set_rows, contents, drafts, earlier_versions, originals, index_of_originals, calls)


def next_run(conn: Connection, after: int) -> NextRun | None:
    """The next run after this one; `None` after the last."""
    row = conn.one("SELECT seq, id, name FROM runs WHERE seq > ? ORDER BY seq LIMIT 1", after)
    if row is None:
        return None
    seq, run_id, name = row
    return NextRun(ExportedRun(seq, RunId(run_id)), f"runs/{numbered(str(seq), name)}/")


def run_head(conn: Connection, run: ExportedRun, archive: Archive) -> bool:
    """Write the run and its rankings. Return whether there is anything to report.

    Raises:
        NotFound: it was deleted meanwhile.
    """
    archive.add("run.json", _readable(runs.get(conn, run.id)))
    rounds = conn.all("SELECT round, verdict, ranking FROM run_rankings WHERE run = ? ORDER BY round", run.seq)
    rankings = [
        {"round": number, "verdict": verdict, "ranking": msgspec.Raw(ranking.encode())}
        for number, verdict, ranking in rounds
    ]
    archive.add("rankings.json", _readable(rankings))
    return conn.one("SELECT 1 FROM generated WHERE run = ? LIMIT 1", run.seq) is not None


def _index(conn: Connection, outgoing: Outgoing) -> None:
    outgoing.archive.begin(CONTENTS)
    for seq, *columns in conn.execute(f"SELECT seq, {SUMMARIES.sql} FROM contents ORDER BY seq"):
        content = SUMMARIES.record(columns)
        line = {"id": content.id, "file": outgoing.files[seq]}
        line |= {name: getattr(content, name) for name in _CONTENT_FIELDS}
        outgoing.archive.write(msgspec.json.encode(line) + b"\n")
    outgoing.archive.end()


def _data_sets(conn: Connection, outgoing: Outgoing) -> None:
    """Write what belongs to the rows: of the present versions, and of the earlier ones."""
    archive = outgoing.archive
    archive.begin(DATA_SETS)
    for seq, batch, *columns in conn.execute(f"SELECT seq, batch, {_SUMMARIES.sql} FROM data_sets ORDER BY seq"):
        found = _SUMMARIES.record(columns)
        file = outgoing.row_files[seq, batch]
        archive.write(msgspec.json.encode({"file": file} | msgspec.structs.asdict(found)) + b"\n")
    archive.end()
    archive.begin("data_set_versions.jsonl")
    for data_set, batch, data_set_id, *columns in conn.execute(
        f"SELECT data_set, earlier.batch, data_sets.id, {_EARLIER_TABLES.sql}"
        " FROM data_set_versions AS earlier JOIN data_sets ON seq = data_set ORDER BY data_set, earlier.version"
    ):
        earlier = msgspec.structs.asdict(_EARLIER_TABLES.record(columns))
        archive.write(msgspec.json.encode({"id": data_set_id, "file": outgoing.row_files[data_set, batch]} | earlier))
        archive.write(b"\n")
    archive.end()


def _presets(conn: Connection, archive: Archive) -> None:
    archive.begin(PRESETS)
    for (preset_id,) in conn.execute("SELECT id FROM presets ORDER BY seq"):
        archive.write(msgspec.json.encode(presets.get(conn, preset_id)) + b"\n")
    archive.end()


def _small(conn: Connection, archive: Archive) -> None:
    archive.add(SETTINGS, _readable(settings.get(conn)[0]))
    archive.add("rate_limits.json", _readable(rate_limits.own(conn)))
    archive.begin(MODEL_PRICES)
    for price in own_prices.listed(conn):
        archive.write(msgspec.json.encode(price) + b"\n")
    archive.end()
    stored = keys.listed(conn, Paging(MAX_LIMIT)).items
    shown = [KeyEntry(one.provider, one.base_url, one.created_at, one.updated_at) for one in stored]
    archive.add("provider_keys.json", _readable(shown))


def _readable(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def _original_file(seq: int, name: str, suffix: str) -> str:
    return f"originals/{numbered(str(seq), name.rpartition('.')[0])}.{suffix}"
