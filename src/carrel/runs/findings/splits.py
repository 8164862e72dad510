"""Reads which rows of a run have which value of a column, and what judges and checks say of them."""

from collections import Counter
from typing import Final

from carrel.errors import BadInput
from carrel.evaluation.split import Split
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.sqlite.database import Connection
from carrel.runs.checking import results
from carrel.runs.findings import split_parts
from carrel.runs.findings.split_parts import PartRows, RowParts
from carrel.runs.model import setup as setups
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.verdicts import evidence, judgement
from carrel.runs.verdicts.computing import computed
from carrel.runs.verdicts.judgement import PackedEvidence
from carrel.vault.workspace import Workspace

MOST_VALUES: Final = 20
"""So many values are parts of their own, the most frequent ones; the rows of all others are one part."""
_VALUE_CHARACTERS: Final = 200
"""Values are told apart by their beginnings: a column may hold long texts."""
GROUP: Final = "group"
"""What the groups of rows or documents are called, unless a column is."""


async def answer(
    workspace: Workspace, workers: WorkerPool, run_id: RunId, column: str | None, round_number: int | None
) -> Split:
    """The results by the values of the column; without one, only which columns there are. It costs no calls.

    Raises:
        NotFound: there is no such run, or it has no such round.
        BadInput: its rows have no such column.
        Unavailable: it takes too much time or memory.
    """
    async with workers.turn(workspace.uuid) as worker:
        packed, found = await workspace.scan(_gather, run_id, column, round_number)
        return await computed(worker, split_parts.split_packed, packed, found)


def _gather(
    conn: Connection, run_id: RunId, column: str | None, round_number: int | None
) -> tuple[PackedEvidence, RowParts]:
    setup = setups.require(conn, run_id, round_number)
    if column is None:
        return judgement.pack(evidence.rest(conn, setup)), cut(conn, setup, None)
    return evidence.packed(conn, setup, has_marks=False), cut(conn, setup, column)


def cut(conn: Connection, setup: Setup, column: str | None, parameter: str = "column") -> RowParts:
    """Which row is in which part. Goes through all rows and answers: to be scanned.

    `parameter` is what the client calls the column, for the error.

    Raises:
        BadInput: the rows have no such column.
    """
    columns = _columns(conn, setup.seq)
    if column is None:
        return RowParts(None, columns)
    if column not in columns:
        raise BadInput.at(parameter, "must be a metadata column of the run's rows, or `group` if they have groups")
    values = _values(conn, setup, column)
    counts = Counter(value for value in values if value is not None)
    ordered = sorted(counts, key=lambda value: (-counts[value], value))
    place: dict[str | None, int] = {value: number for number, value in enumerate(ordered[:MOST_VALUES])}
    parts = [PartRows("value", value, 1, counts[value]) for value in ordered[:MOST_VALUES]]
    rare = ordered[MOST_VALUES:]
    if rare:
        place |= dict.fromkeys(rare, len(parts))
        parts.append(PartRows("others", None, len(rare), sum(counts[value] for value in rare)))
    if None in values:
        place[None] = len(parts)
        parts.append(PartRows("none", None, 0, values.count(None)))
    places = tuple(place[value] for value in values)
    checked = results.by_part(conn, setup, places, len(parts))
    return RowParts(
        column,
        columns,
        places,
        tuple(
            PartRows(part.kind, part.value, part.values, part.documents, found)
            for part, found in zip(parts, checked, strict=True)
        ),
    )


def _columns(conn: Connection, run: int) -> tuple[str, ...]:
    rows = conn.all("SELECT DISTINCT key FROM run_documents, json_each(metadata) WHERE run = ? ORDER BY key", run)
    found = [str(key) for (key,) in rows]
    grouped = conn.value("SELECT EXISTS (SELECT 1 FROM run_documents WHERE run = ? AND belongs IS NOT NULL)", run)
    return tuple([*found, GROUP] if grouped and GROUP not in found else found)


def _values(conn: Connection, setup: Setup, column: str) -> list[str | None]:
    values: list[str | None] = [None] * setup.documents
    short = f"substr(value, 1, {_VALUE_CHARACTERS})"
    found = conn.all(
        f"SELECT ordinal, {short} FROM run_documents, json_each(metadata) WHERE run = ? AND key = ?", setup.seq, column
    )
    if not found and column == GROUP:
        found = conn.all(
            f"SELECT ordinal, substr(belongs, 1, {_VALUE_CHARACTERS}) FROM run_documents"
            " WHERE run = ? AND belongs IS NOT NULL",
            setup.seq,
        )
    for ordinal, value in found:
        values[ordinal - 1] = value
    return values
