"""Reads a file of finished answers, whichever program wrote it."""

import csv
import io
import json
import resource
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import islice
from multiprocessing import get_context
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from carrel.datasets import reading as tables
from carrel.datasets.result_files import inspect_log, langfuse, one_candidate, promptfoo
from carrel.datasets.result_files.answers import AnswerTable, ResultFile, Unreadable, get
from carrel.datasets.result_files.json_text import MAX_ELEMENTS, MAX_FILE_BYTES, decoded, require_few, too_many
from carrel.datasets.schemas import FORMATS, SPREADSHEETS, Source
from carrel.errors import CarrelError
from carrel.kit import yaml_values
from carrel.kit.yaml_values import YamlUnreadable


class _Reader(NamedTuple):
    """What reads the files of a program. `fits` tells them by their shape; some have the shape of a `table`, too."""

    source: Source
    fits: Callable[[ResultFile], bool]
    read: Callable[[ResultFile], AnswerTable]
    table: bool = False


_READERS: Final = (
    _Reader("promptfoo", promptfoo.fits, promptfoo.read),
    _Reader("inspect", inspect_log.fits, inspect_log.read),
    _Reader("langfuse", lambda file: bool(file.records) and langfuse.is_record(file.records[0]), langfuse.read),
    _Reader("openai", one_candidate.is_openai, one_candidate.read_openai),
    _Reader("lm-eval", one_candidate.is_harness, one_candidate.read_harness),
    _Reader("deepeval", one_candidate.is_deepeval, one_candidate.read_deepeval, table=True),
    _Reader("ragas", one_candidate.is_ragas, one_candidate.read_ragas, table=True),
)
"""By these a file is told. The first one that fits reads it; if none does, it is a table."""
_ENDINGS: Final = (".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".csv")
_PROGRAMS: Final = "promptfoo, Inspect, Langfuse, OpenAI's Evals, lm-evaluation-harness, deepeval or ragas"
_MOST_MEMORY: Final = 4 << 30
_SPREADSHEET: Final = b"xl/workbook.xml"
_ZIP: Final = b"PK\x03\x04"


def read_results(
    path: PurePath | str, body: bytes, source: Source | None = None, *, named: bool = False
) -> AnswerTable | None:
    """The answers in a file of another program; `None` for a table. `source` says which it is.

    Where somebody has `named` columns, a file that has the shape of a table, too, is one.

    Raises:
        Unreadable: naming what is wrong.
    """
    try:
        return _results(PurePath(path), body, source, named=named)
    except RecursionError:
        raise Unreadable("its values are nested too deep") from None


def _results(path: PurePath, body: bytes, source: Source | None, *, named: bool) -> AnswerTable | None:
    if source == "table":
        return None
    ending = path.suffix.lower()
    if source is None and FORMATS.get(ending) in SPREADSHEETS:
        return None
    if body.startswith(_ZIP):
        if ending != ".eval" and _SPREADSHEET in body:
            return None
        return replace(inspect_log.read_packed(body), source="inspect")
    if ending not in _ENDINGS:
        if source is not None:
            raise Unreadable(f"a file of {source} ends in {', '.join(_ENDINGS)} or .eval")
        return None
    file = _file(path, ending, body)
    if file is None:
        if source is not None:
            raise Unreadable("the file is not valid JSON" if "json" in ending else f"the file is no {ending[1:]} file")
        # A data set's own message names the row.
        return None
    if reader := _reader(file, source, named=named):
        return replace(reader.read(file), source=reader.source)
    if isinstance(file.document, dict) or ending in (".yaml", ".yml"):
        raise Unreadable(f"the file is no array of rows, and no file of {_PROGRAMS}")
    return None


def _reader(file: ResultFile, source: Source | None, *, named: bool) -> _Reader | None:
    if source is not None:
        return next((one for one in _READERS if one.source == source), None)
    return next((one for one in _READERS if not (named and one.table) and one.fits(file)), None)


def _file(path: PurePath, ending: str, body: bytes) -> ResultFile | None:
    """The file as it is decoded; `None` if it cannot be."""
    if ending == ".csv":
        return _csv(path, body)
    if ending in (".yaml", ".yml"):
        try:
            document = yaml_values.read(body.decode(), MAX_ELEMENTS)
        except (YamlUnreadable, UnicodeDecodeError) as error:
            raise Unreadable(f"the file {error}") from None
    else:
        document = _decoded(body) if ending == ".json" else _lines(body)
    if document is None:
        return None
    records = document if isinstance(document, list) else get(document, "data")
    return ResultFile(path, document, records if isinstance(records, list) else [])


def _csv(path: PurePath, body: bytes) -> ResultFile | None:
    """A CSV file of a program, which writes commas and UTF-8. Of another table only the first row is read."""
    csv.field_size_limit(1 << 31)
    rows = csv.reader(io.StringIO(body.decode("utf-8-sig", "replace"), newline=""))
    try:
        header, cells = next(rows, []), [row for row in islice(rows, 1) if row]
        file = ResultFile(path, None, _as_records(header, cells), header, cells)
        if not any(one.fits(file) for one in _READERS):
            return file
        if body.count(b",") + body.count(b"\n") > MAX_ELEMENTS:
            raise too_many()
        cells += (row for row in rows if row)
    except csv.Error:
        return None
    return file._replace(records=_as_records(header, cells))


def _as_records(header: Sequence[str], cells: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    return [dict(zip(header, row, strict=False)) for row in cells]


def read_table(file_name: str, body: bytes, sheet: str | None = None) -> AnswerTable:
    """The rows of a CSV, TSV, JSONL or JSON file, or of a sheet of a spreadsheet, the first one if none is named.

    Raises:
        Unreadable: naming row and column.
    """
    if FORMATS.get(PurePath(file_name).suffix.lower()) in SPREADSHEETS or body.startswith(tables.BOOKS):
        return _in_a_process(file_name, body, sheet)
    return table_of(file_name, body)


def _in_a_process(file_name: str, body: bytes, sheet: str | None) -> AnswerTable:
    """The rows, read by a process with bounded memory: a small spreadsheet may say that it has a billion cells."""
    bounds = (resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    with ProcessPoolExecutor(1, get_context("spawn"), initializer=resource.setrlimit, initargs=bounds) as pool:
        try:
            return pool.submit(table_of, file_name, body, sheet).result()
        except BrokenProcessPool:
            raise Unreadable("reading it takes too much memory") from None


def table_of(file_name: str, body: bytes, sheet: str | None = None) -> AnswerTable:
    """What `read_table` reads, in this process. For one with bounded memory.

    Raises:
        Unreadable: naming row and column.
    """
    kind = FORMATS.get(PurePath(file_name).suffix.lower())
    if kind is None:
        raise Unreadable("only csv, tsv, jsonl, json, xlsx, xls and ods files are read")
    try:
        # A row of a spreadsheet is longer than what it is packed to.
        table = tables.read(kind, [body], max(len(body), MAX_FILE_BYTES), sheet)
        cells = list(table.rows)
    except CarrelError as error:
        raise Unreadable("; ".join(f"{fault.path} {fault.message}" for fault in error.errors)) from None
    if not cells:
        raise Unreadable("the table has no rows")
    places = [(place, name) for place, name in enumerate(table.columns) if place not in table.hollow]
    return AnswerTable(
        rows=[{name: row[place] if place < len(row) else None for place, name in places} for row in cells],
        notes=tuple(table.notes),
    )


def _decoded(body: bytes) -> Any:
    try:
        return decoded(body)
    except ValueError:
        return None


def _lines(body: bytes) -> list[Any] | None:
    """The values of all lines; `None` if one is not JSON. A line may have several."""
    if body.count(b"\n") > MAX_ELEMENTS:
        raise too_many()
    require_few(body)
    found: list[Any] = []
    # Not all lines at once, which would take as much memory as the file.
    for line in io.BytesIO(body):
        try:
            found += _values(line.decode("utf-8-sig").strip())
        except ValueError:
            return None
    return found


def _values(text: str) -> Iterator[Any]:
    """promptfoo puts nothing between its batches of a hundred lines."""
    at, decoder = 0, json.JSONDecoder()
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        yield value
