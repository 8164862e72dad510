"""A ranking on a terminal: places, win shares, and their intervals drawn to one scale."""

from collections.abc import Sequence

import msgspec
from carrel_sdk.models import (
    CheckResults,
    FieldFigures,
    Figures,
    LookTaken,
    PeopleVerdict,
    Recommendation,
    Row,
    Statement,
)
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from carrel.cli.interface.terminal import printable, rate

WIDTH = 31
"""Columns of the scale from 0 to 1; odd, so that ½ has one of its own."""

_BESIDE_COLUMNS = 24
"""The columns of place, win share and interval, with the gaps between them."""
_SCORE_COLUMNS = 7
_MARKS = 4
_LUCK = "Luck helps a candidate to come first, so the first interval begins lower."


def decision_panel(decision: Recommendation) -> RenderableType:
    """What to do, why, how sure that is, and the doubt that matters most."""
    lines = [printable(decision.headline)]
    lines[0].stylize("bold")
    if decision.reason:
        lines.append(printable(decision.reason))
    if decision.sure:
        dots = "●" * decision.marks + "○" * (_MARKS - decision.marks)
        lines.append(Text.assemble((dots, "green"), " ", printable(decision.sure)))
    if decision.doubt:
        lines.append(Text.assemble("One doubt: ", printable(decision.doubt)))
    return Panel(
        Group(*lines), title="Decision", title_align="left", border_style="green", padding=(0, 1), expand=False
    )


def verdict_panel(verdict: Statement) -> RenderableType:
    """The verdict's sentence with its scope, the doubt that could change it, and the method with all others."""
    lines = [printable(verdict.sentence)]
    lines[0].stylize("bold")
    lines.append(Text(f"This is {verdict.scope}.", style="dim"))
    lines += [Text.assemble("· ", printable(verdict.doubt))] if verdict.doubt else []
    others = [note for note in verdict.notes if not (verdict.doubt or "").startswith(note)]
    if others or verdict.checks:
        lines.append(Text("Method, and what could overturn it:", style="dim"))
        lines += [Text.assemble("· ", printable(one), style="dim") for one in (*others, *verdict.checks)]
    title = "Verdict, with doubts" if verdict.doubted else "Verdict"
    return Panel(Group(*lines), title=title, title_align="left", border_style="cyan", padding=(0, 1), expand=False)


def people_panel(people: PeopleVerdict) -> RenderableType:
    """What people would say, with the interval of each candidate."""
    lines = [printable(people.sentence), *(Text.assemble("· ", printable(note)) for note in people.notes)]
    lines += [
        Text.assemble(printable(row.candidate), f"  {_share(row.share)} ({_share(row.low)} – {_share(row.high)})")
        for row in people.rows
        if row.share is not None
    ]
    return Panel(Group(*lines), title="What people would say", title_align="left", padding=(0, 1), expand=False)


def checks_table(checks: CheckResults | None) -> Table | None:
    """How often each candidate passes each check; nothing for a run without checks."""
    if checks is None:
        return None
    table = Table(title="Checks", title_justify="left", title_style="bold", box=None, header_style="bold")
    table.pad_edge = False
    table.add_column("check", overflow="fold")
    for row in checks.rows:
        table.add_column(printable(row.candidate), justify="right", overflow="fold")
    for place, check in enumerate(checks.checks):
        named = Text.assemble(printable(check.name), " (required)" if check.required else "")
        table.add_row(named, *(rate(row.rates[place]) for row in checks.rows))
        if check.lenient:
            table.add_row(Text(f"  {check.lenient:,} pass only by what it ignores", style="dim"))
    if any(row.required for row in checks.rows):
        table.add_row("all required", *(rate(row.required) for row in checks.rows), style="bold")
    by_row = [{(one.check, one.field): one for one in row.fields} for row in checks.rows]
    for path in dict.fromkeys(path for fields in by_row for path in fields):
        table.add_row(printable(f"  {path[1] or 'all'}"), *(_field(fields.get(path)) for fields in by_row))
    return table


def _field(counts: FieldFigures | None) -> str:
    """Of how many it is right, and what is wrong with the others."""
    if counts is None:
        return ""
    of = counts.right + counts.wrong + counts.missing
    faults = {"wrong": counts.wrong, "missing": counts.missing, "extra": counts.extra}
    told = ", ".join(f"{number:,} {fault}" for fault, number in faults.items() if number)
    return f"{counts.right:,} of {of:,}" + (f" ({told})" if told else "")


def looks_table(looks: Sequence[LookTaken]) -> Table | None:
    """What the looks of a run found and saved; nothing if they saved nothing."""
    if not any(look.saved for look in looks):
        return None
    table = Table(title="Looks on the way", title_justify="left", title_style="bold", box=None, header_style="bold")
    table.pad_edge = False
    table.add_column("look", justify="right", no_wrap=True)
    table.add_column("documents", justify="right", no_wrap=True)
    table.add_column("found", overflow="fold")
    table.add_column("calls saved", justify="right", no_wrap=True)
    for look in looks:
        table.add_row(str(look.number), f"{look.documents:,}", printable(_found(look)), f"{look.saved:,}")
    table.add_row("", "", "together", f"{sum(look.saved for look in looks):,}", style="bold")
    return table


def _found(look: LookTaken) -> str:
    if look.decided:
        return f"{look.leader} is best: the run ended"
    return f"dropped {', '.join(look.dropped)}" if look.dropped else "nobody was dropped"


def ranking_table(figures: Figures, *, grey: bool, width: int | None = None) -> Table:
    """All candidates, ordered by scores if nothing was compared. `grey` marks intervals that decide nothing.

    If `width` columns are not enough, the drawing is left out first and then the score, never a name.
    """
    names = max((printable(row.candidate).cell_len for row in figures.rows), default=0)
    drawing = width is None or width >= names + _BESIDE_COLUMNS + _SCORE_COLUMNS + WIDTH + 2
    scoring = width is None or width >= names + _BESIDE_COLUMNS + _SCORE_COLUMNS
    luck = any(row.first_low is not None for row in figures.rows)
    table = Table(
        caption=_LUCK if luck else None,
        caption_justify="left",
        box=None,
        header_style="bold",
        pad_edge=False,
        padding=(0, 1),
    )
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("candidate", overflow="fold")
    table.add_column("won", justify="right", no_wrap=True)
    if drawing:
        table.add_column("".join(_scale()), no_wrap=True)
    table.add_column("95 % interval" if figures.look is None else "95 %, repeated", justify="center", no_wrap=True)
    if scoring:
        table.add_column("score", justify="right", no_wrap=True)
    for row in figures.rows:
        leads = row.candidate in figures.leaders
        colour = "grey50" if grey else "green" if leads else "cyan"
        shown = _by_score(row) if figures.basis in ("scores", "checks") else row
        table.add_row(
            "–" if row.place is None else str(row.place),
            Text.assemble((printable(row.candidate).plain, "bold" if leads else "")),
            _share(row.win_share),
            *([Text(drawn(shown), style=colour)] if drawing else []),
            "not compared" if shown.win_share is None else _interval(shown),
            *([_share(row.score)] if scoring else []),
        )
    return table


def drawn(row: Row) -> str:
    """The interval on the scale: `├──●──┤`, with a dotted line at ½."""
    cells = [" "] * WIDTH
    cells[WIDTH // 2] = "┊"
    if row.win_share is None:
        return "".join(cells)
    low = _low(row)
    if low is not None and row.high is not None:
        left, right = _column(low), _column(row.high)
        cells[left : right + 1] = "─" * (right - left + 1)
        cells[left], cells[right] = "├", "┤"
    cells[_column(row.win_share)] = "●"
    return "".join(cells)


def _by_score(row: Row) -> Row:
    """The row with its score in place of the win share."""
    return msgspec.structs.replace(row, win_share=row.score, low=row.score_low, high=row.score_high)


def _column(share: float) -> int:
    return round(min(1.0, max(0.0, share)) * (WIDTH - 1))


def _scale() -> list[str]:
    cells = [" "] * WIDTH
    cells[0], cells[WIDTH // 2], cells[-1] = "0", "½", "1"
    return cells


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}".removeprefix("0")


def _interval(row: Row) -> str:
    low = _low(row)
    return "none" if low is None or row.high is None else f"{_share(low)} – {_share(row.high)}"


def _low(row: Row) -> float | None:
    """The lower end; for whoever is first of several, it allows for the luck that helped to be first."""
    return row.low if row.first_low is None else row.first_low
