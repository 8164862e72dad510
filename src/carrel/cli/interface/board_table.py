"""What the candidates of a leaderboard cost and how fast they are, on a terminal."""

from collections.abc import Sequence
from decimal import Decimal

from carrel_sdk.models import BoardCandidate
from rich.table import Table

from carrel.cli.interface.terminal import dollars, printable, rate


def board_table(candidates: Sequence[BoardCandidate]) -> Table:
    """One line for each candidate; checks only if any run makes some."""
    checked = any(one.passes is not None for one in candidates)
    table = Table(box=None, header_style="bold")
    table.pad_edge = False
    table.add_column("candidate", overflow="fold")
    for name in (*(["checks"] if checked else []), "1,000 answers", "median", "95 %", "answers", "runs"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in candidates:
        table.add_row(
            printable(one.candidate),
            *([rate(one.passes)] if checked else []),
            "–" if one.cost_per_answer is None else dollars(str(1_000 * Decimal(one.cost_per_answer))),
            _seconds(one.median_latency_ms),
            _seconds(one.p95_latency_ms),
            f"{one.answers:,}",
            f"{len(one.runs):,}",
        )
    return table


def _seconds(milliseconds: int | None) -> str:
    return "–" if milliseconds is None else f"{milliseconds / 1000:.1f} s"
