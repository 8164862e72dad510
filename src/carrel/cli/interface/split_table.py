"""The results of a run by the values of a column, on a terminal."""

from carrel_sdk.models import Split, SplitPart
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from carrel.cli.interface.terminal import printable, rate


def split_table(split: Split) -> RenderableType:
    """One line for each candidate in each part; then why nothing may be concluded from a part alone."""
    table = Table(box=None, header_style="bold")
    table.pad_edge = False
    table.add_column(printable(split.column or ""), overflow="fold")
    table.add_column("rows", justify="right", no_wrap=True)
    table.add_column("candidate", overflow="fold")
    judged = split.basis != "none"
    if judged:
        table.add_column("score" if split.basis == "scores" else "preferred", justify="right")
    if split.checks:
        table.add_column("checks", justify="right")
    if judged:
        table.add_column("missing", justify="right", no_wrap=True)
    for part in split.parts:
        for place, row in enumerate(part.rows):
            first = place == 0
            cells: list[RenderableType] = [_named(part) if first else "", f"{part.documents:,}" if first else ""]
            cells.append(printable(row.candidate))
            if judged:
                cells.append(rate(row.preferred))
            if split.checks:
                cells.append(rate(row.passes))
            if judged:
                cells.append(f"{part.missing:,} of {part.planned:,}" if first and part.planned else "")
            table.add_row(*cells)
    return Group(table, *(Text.assemble("· ", printable(note)) for note in split.notes))


def _named(part: SplitPart) -> Text:
    if part.kind == "value":
        return printable(part.value or "")
    return Text("no value" if part.kind == "none" else f"{part.values:,} rarer values", style="dim")
