"""Which documents of a run are one and the same, and which belong together: what counts as one unit of chance."""

from typing import NamedTuple

from carrel.evaluation.ranking.grouping import Groups
from carrel.kit.sqlite.database import Connection


class Units(NamedTuple):
    """`same` names the first document with the same text and reference for each later one; `groups` is of all."""

    same: dict[str, str]
    groups: Groups


def of(conn: Connection, run: int) -> Units:
    """Which documents of the run are one and the same, and which belong together."""
    return Units(_copies(conn, run), _groups(conn, run))


def _groups(conn: Connection, run: int) -> Groups:
    """Which documents belong together, without the groups' names: nobody needs them to compute anything."""
    by, suggested = conn.one(
        "SELECT json_extract(configuration, '$.groups.by'), suggested FROM run_snapshots WHERE run = ?", run
    ) or (None, None)
    of, near = {}, {}
    numbers: dict[str, str] = {}
    for ordinal, belongs, like in conn.all(
        "SELECT ordinal, belongs, near FROM run_documents WHERE run = ? ORDER BY ordinal", run
    ):
        if belongs is not None:
            of[f"d{ordinal}"] = numbers.setdefault(belongs, f"g{len(numbers) + 1}")
        if like is not None:
            near[f"d{ordinal}"] = f"d{like}"
    return Groups(by=by, of=of, near=near, suggested=suggested)


def _copies(conn: Connection, run: int) -> dict[str, str]:
    """The first document with the same text, turns and reference, for each later one."""
    firsts: dict[tuple[int, int | None, int | None], str] = {}
    same = {}
    for ordinal, text, turns, reference in conn.all(
        "SELECT ordinal, text, messages, reference FROM run_documents WHERE run = ? ORDER BY ordinal", run
    ):
        first = firsts.setdefault((text, turns, reference), f"d{ordinal}")
        if first != f"d{ordinal}":
            same[f"d{ordinal}"] = first
    return same
