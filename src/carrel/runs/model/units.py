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
    by, suggested = conn.one(
        "SELECT json_extract(configuration, '$.groups.by'), suggested FROM run_snapshots WHERE run = ?", run
    ) or (None, None)
    same, of, near = {}, {}, {}
    firsts: dict[tuple[int, int | None, int | None], int] = {}
    numbers: dict[str, str] = {}
    for ordinal, text, turns, reference, belongs, like in conn.each(
        "SELECT ordinal, text, messages, reference, belongs, near FROM run_documents WHERE run = ? ORDER BY ordinal",
        run,
    ):
        first = firsts.setdefault((text, turns, reference), ordinal)
        if first != ordinal:
            same[f"d{ordinal}"] = f"d{first}"
        if belongs is not None:
            # Without the groups' names: nobody needs them to compute anything.
            of[f"d{ordinal}"] = numbers.setdefault(belongs, f"g{len(numbers) + 1}")
        if like is not None:
            near[f"d{ordinal}"] = f"d{like}"
    return Units(same, Groups(by=by, of=of, near=near, suggested=suggested))
