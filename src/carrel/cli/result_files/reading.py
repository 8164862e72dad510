"""Reads a file of finished answers, whichever program wrote it."""

import io
import json
import resource
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import PurePath
from typing import Any, Final, Literal

from carrel.cli.result_files import inspect_log, langfuse, promptfoo
from carrel.cli.result_files.answers import AnswerTable, Unreadable, get
from carrel.cli.result_files.json_text import MAX_ELEMENTS, MAX_FILE_BYTES, decoded, require_few, too_many
from carrel.datasets import reading as tables
from carrel.datasets.schemas import FORMATS, SPREADSHEETS, Format
from carrel.errors import CarrelError

Source = Literal["table", "promptfoo", "inspect", "langfuse"]

_MOST_MEMORY: Final = 4 << 30
_SPREADSHEET: Final = b"xl/workbook.xml"
_ZIP: Final = b"PK\x03\x04"


def read_results(file_name: str, body: bytes, source: Source | None = None) -> AnswerTable | None:
    """The answers in a file of promptfoo, Inspect or Langfuse; `None` for a table. `source` says which it is.

    Raises:
        Unreadable: naming what is wrong.
    """
    try:
        return _results(file_name, body, source)
    except RecursionError:
        raise Unreadable("its values are nested too deep") from None


def _results(file_name: str, body: bytes, source: Source | None) -> AnswerTable | None:
    if source == "table":
        return None
    ending = PurePath(file_name).suffix.lower()
    if source is None and FORMATS.get(ending) in SPREADSHEETS:
        return None
    if body.startswith(_ZIP):
        if ending != ".eval" and _SPREADSHEET in body:
            raise Unreadable("the file is a spreadsheet: its name should end in .xlsx")
        return inspect_log.read_packed(body)
    if ending not in (".json", ".jsonl", ".ndjson"):
        if source is not None:
            raise Unreadable(f"a file of {source} ends in .json or .jsonl, or in .eval")
        return None
    document = _decoded(body) if ending == ".json" else _lines(body)
    if document is None:
        if source is not None:
            raise Unreadable("the file is not valid JSON")
        # A data set's own message names the row.
        return None
    return _of(document, source)


def read_table(file_name: str, body: bytes) -> AnswerTable:
    """The rows of a CSV, TSV, JSONL or JSON file, or of the first sheet of a spreadsheet.

    Raises:
        Unreadable: naming row and column.
    """
    kind = FORMATS.get(PurePath(file_name).suffix.lower())
    if kind is None:
        raise Unreadable("only csv, tsv, jsonl, json, xlsx, xls and ods files are read")
    if kind in SPREADSHEETS:
        return _in_a_process(kind, body)
    return _table(kind, body)


def _in_a_process(kind: Format, body: bytes) -> AnswerTable:
    """The rows, read by a process with bounded memory: a small spreadsheet may say that it has a billion cells."""
    bounds = (resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    with ProcessPoolExecutor(1, get_context("spawn"), initializer=resource.setrlimit, initargs=bounds) as pool:
        try:
            return pool.submit(_table, kind, body).result()
        except BrokenProcessPool:
            raise Unreadable("reading it takes too much memory") from None


def _table(kind: Format, body: bytes) -> AnswerTable:
    try:
        # A row of a spreadsheet is longer than what it is packed to.
        table = tables.read(kind, [body], max(len(body), MAX_FILE_BYTES))
        cells = list(table.rows)
    except CarrelError as error:
        raise Unreadable("; ".join(f"{fault.path} {fault.message}" for fault in error.errors)) from None
    if not cells:
        raise Unreadable("the table has no rows")
    places = [(place, name) for place, name in enumerate(table.columns) if place not in table.hollow]
    return AnswerTable(
        rows=[{name: row[place] if place < len(row) else None for place, name in places} for row in cells]
    )


def _of(document: Any, source: Source | None) -> AnswerTable | None:
    records = document if isinstance(document, list) else get(document, "data")
    first = get(records, 0)
    if source == "promptfoo" or (source is None and (promptfoo.is_results(document) or promptfoo.is_result(first))):
        if promptfoo.is_results(document):
            return promptfoo.of_results(document)
        if promptfoo.is_result(first):
            return promptfoo.read(records, "lines")
        raise Unreadable("results.results is missing: this is no results file of promptfoo")
    if source == "inspect" or (source is None and inspect_log.is_log(document)):
        if not inspect_log.is_log(document):
            raise Unreadable("eval and version are missing: this is no log of Inspect")
        return inspect_log.read(document)
    if source == "langfuse" or (source is None and langfuse.is_record(first)):
        if not isinstance(records, list) or not records:
            raise Unreadable("the file is no list of traces or observations of Langfuse")
        return langfuse.read(records)
    if isinstance(document, dict):
        raise Unreadable("the file is no array of rows, and no file of promptfoo, Inspect or Langfuse")
    return None


def _decoded(body: bytes) -> Any:
    try:
        return decoded(body)
    except ValueError:
        return None


def _lines(body: bytes) -> list[Any] | None:
    """The values of all lines; `None` if one is not JSON."""
    if body.count(b"\n") > MAX_ELEMENTS:
        raise too_many()
    require_few(body)
    found = []
    # Not all lines at once, which would take as much memory as the file.
    for line in io.BytesIO(body):
        if line.strip():
            try:
                found.append(json.loads(line))
            except ValueError:
                return None
    return found
