"""Keeps the ledger bounded: entries that are older than the newest hundred thousand become two, with their sums."""

from typing import Final

from carrel.kit.sqlite.database import Connection

KEPT: Final = 100_000
"""The newest entries, each by itself: about 20 MB."""
STEP: Final = 1_000
"""So many more have to be there before any are summed up, and at most twice as many are in one transaction."""
_REASON: Final = "The sum of earlier entries."


def fold(conn: Connection) -> None:
    """Sum up entries beyond the newest. The sum of all amounts stays what it was, and so does every later balance."""
    first, last = conn.one("SELECT min(seq), max(seq) FROM ledger") or (None, None)
    if first is None or last is None or last - first < KEPT + STEP:
        return
    end: int = min(last - KEPT, first + 2 * STEP)
    added, rest = conn.one(
        "SELECT coalesce(sum(amount_micros) FILTER (WHERE kind = 'add'), 0),"
        " coalesce(sum(amount_micros) FILTER (WHERE kind <> 'add'), 0) FROM ledger WHERE seq <= ?",
        end,
    ) or (0, 0)
    balance: int = conn.value("SELECT balance_micros FROM ledger WHERE seq <= ? ORDER BY seq DESC LIMIT 1", end)
    conn.run("DELETE FROM ledger WHERE seq <= ?", end)
    for seq, kind, amount, after in ((end - 1, "add", added, balance - rest), (end, "settle", rest, balance)):
        conn.run(
            "INSERT INTO ledger (seq, id, kind, amount_micros, balance_micros, reference, reason, created_at)"
            " VALUES (?, ?, ?, ?, ?, NULL, ?, ?)",
            *(seq, conn.new_id(), kind, amount, after, _REASON, conn.now()),
        )
