"""One candidate over the runs of a preset, on a terminal."""

from carrel_sdk.models import Change, TrendPoint, Trends
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from carrel.cli.interface import terminal
from carrel.cli.interface.terminal import printable
from carrel.evaluation.words import counted


def trends_table(trends: Trends) -> RenderableType:
    """One line for each run, the newest first; then when a run is good, and which was the last good one."""
    if not trends.points:
        return Text("no run of this preset has finished")
    table = Table(box=None, header_style="bold", title=printable(trends.candidate or ""), title_justify="left")
    table.pad_edge = False
    against = trends.baseline is not None
    for name in ("made", "run", "preferred", *(("against",) if against else ()), "checks", "cost", "median", "good"):
        table.add_column(name, justify="left" if name in ("made", "run", "good") else "right", overflow="fold")
    for point in trends.points:
        table.add_row(
            point.created_at[:16].replace("T", " "),
            printable(point.name),
            terminal.rate(point.preferred),
            *((_change(point.against),) if against else ()),
            terminal.rate(point.passes),
            terminal.dollars(point.cost, point.unknown_calls),
            "–" if point.median_latency_ms is None else f"{point.median_latency_ms / 1000:.1f} s",
            printable(_good(point)),
        )
    last = next((point for point in trends.points if point.run == trends.last_good), None)
    told = "No run is known to be good." if last is None else f"The last good run is {last.name}: {last.run}."
    older = f" Not shown: {counted(trends.left_out, 'older run')}." if trends.left_out else ""
    return Group(table, printable(told), Text(f"{trends.rule}{older}", style="dim"))


def _good(point: TrendPoint) -> str:
    if point.good is None:
        return "cannot be told" if point.gate == "undecided" else "–"
    if point.good:
        return "yes"
    return f"no: {', '.join(point.fell)} fell" if point.fell else "no"


def _change(change: Change | None) -> str:
    if change is None:
        return "–"
    return f"{100 * change.difference:+.0f} ({100 * change.low:+.0f} to {100 * change.high:+.0f})"
