"""Results by classes on a terminal: the means, each class, and what was mistaken for what."""

from carrel_sdk.models import CandidateClasses, ClassResults
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from carrel.cli.interface.terminal import printable, rate

_MOST_COLUMNS = 10
"""Of more classes, nobody can read a confusion matrix on a terminal."""


def class_tables(found: ClassResults) -> RenderableType:
    """The candidates beside each other, then the classes of each."""
    if not found.rows:
        return printable(found.sentence)
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("candidate", "right", "macro F1", "micro F1", "weighted F1", "macro precision", "macro recall"):
        table.add_column(name, overflow="fold", justify="left" if name == "candidate" else "right")
    for row in found.rows:
        means = (row.micro_f1, row.weighted_f1, row.macro_precision, row.macro_recall)
        table.add_row(
            printable(row.candidate), rate(row.accuracy), rate(row.macro_f1), *(f"{value:.3f}" for value in means)
        )
    most = Text.assemble("The most frequent answer is ", printable(found.majority or ""), ".")
    return Group(table, most, *(part for row in found.rows[:-1] for part in _of_candidate(row, found)))


def _of_candidate(row: CandidateClasses, found: ClassResults) -> list[RenderableType]:
    shown = len(found.classes) <= _MOST_COLUMNS
    given = [*found.classes, "none of them"] if shown else []
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("class", "precision", "recall", "F1"):
        table.add_column(name, overflow="fold", justify="left" if name == "class" else "right")
    for name in given:
        table.add_column(Text.assemble("as ", printable(name)), justify="right", overflow="fold")
    for one in row.classes:
        counts = [f"{number:g}" for number in one.confused] if shown else []
        table.add_row(printable(one.name), rate(one.precision), rate(one.recall), rate(one.f1), *counts)
    return [Text(), Text.assemble((printable(row.candidate).plain, "bold")), table]
