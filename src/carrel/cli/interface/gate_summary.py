"""What a gate has decided: in words, as Markdown for the page of a pipeline, and as JUnit XML."""

import html
import re
from typing import Final

import msgspec
from carrel_sdk.models import GateResult, GateSource, Replacement, RunSummary
from rich.table import Table

from carrel.cli.interface import terminal
from carrel.cli.interface.terminal import UserCommand, printable

_OUTCOMES: Final = {
    "better": "better",
    "not_worse": "not worse",
    "worse": "worse",
    "undecided": "cannot be told",
}
_KINDS: Final = {
    "comparisons": "win share",
    "scores": "mean score",
    "required": "all required checks",
    "checks": "mean of all checks",
    "macro_f1": "macro F1",
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~!&@])")


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The decision with the run that it was made from."""

    run: str
    cost: str | None
    unknown_calls: int
    gate: GateResult


def summary(run: RunSummary, gate: GateResult) -> Summary:
    """The decision on an ended run."""
    return Summary(run=run.id, cost=run.spend.cost, unknown_calls=run.spend.unknown_calls, gate=gate)


def exit_code(gate: GateResult) -> int:
    """How the program ends. An outcome that a newer service knows is none that lets a change pass."""
    if gate.outcome in ("better", "not_worse"):
        return terminal.EXIT_DONE
    return terminal.EXIT_WORSE if gate.outcome == "worse" else terminal.EXIT_UNDECIDED


def table(gate: GateResult) -> Table:
    """One row for each source."""
    made = Table(box=None, header_style="bold", pad_edge=False)
    for name in _COLUMNS:
        made.add_column(name, overflow="fold")
    for source in gate.sources:
        made.add_row(*map(printable, _cells(source)))
    return made


def replacement_table(found: Replacement) -> Table:
    """One row for each candidate, the cheapest first."""
    made = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("candidate", f"than {found.baseline}", "an answer", "saves a month", "switched off"):
        made.add_column(printable(name), overflow="fold")
    for one in found.options:
        outcome = "not worse" if one.holds else _OUTCOMES.get(one.gate.outcome, one.gate.outcome)
        told = outcome if one.holds or one.gate.outcome not in ("better", "not_worse") else "cannot be told of several"
        money = (one.cost_per_answer, one.saves_per_month)
        made.add_row(
            printable(one.candidate),
            told,
            *("unknown" if one is None else f"${one}" for one in money),
            one.ends_on or "",
        )
    return made


def markdown(found: Summary) -> str:
    """A heading, the sentence, and a table with a row for each source."""
    gate = found.gate
    title = f"{gate.candidate} against {gate.baseline}: {_OUTCOMES.get(gate.outcome, gate.outcome)}"
    rows = [_COLUMNS, tuple("---" for _ in _COLUMNS), *(tuple(map(_escaped, _cells(one))) for one in gate.sources)]
    cost = terminal.dollars(found.cost, found.unknown_calls)
    parts = [
        f"### {_escaped(title)}",
        _escaped(gate.sentence),
        "\n".join(f"| {' | '.join(row)} |" for row in rows),
        _escaped(f"Margin {100 * gate.margin:g} points, run {found.run}, cost {cost}."),
    ]
    return "\n\n".join(parts) + "\n"


def junit(found: Summary) -> str:
    """One test case for the decision and one for each source.

    What is worse has failed; what decides and cannot be told has an error.
    """
    gate = found.gate
    cases = [(f"{gate.candidate} against {gate.baseline}", _fault(gate.outcome, gate.sentence))]
    for source in gate.sources:
        change = source.change
        outcome = "undecided" if change is None else change.outcome
        is_open = outcome not in ("better", "not_worse", "worse") and not source.decides
        cases.append((_name(source), "" if is_open else _fault(outcome, "; ".join(_cells(source)[1:]))))
    failed = sum(fault.startswith("<failure") for _, fault in cases)
    erred = sum(fault.startswith("<error") for _, fault in cases)
    counts = f'tests="{len(cases)}" failures="{failed}" errors="{erred}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {counts}>",
        f'<testsuite name="carrel gate" {counts}>',
        *(f'<testcase classname="carrel gate" name="{_xml(name)}">{fault}</testcase>' for name, fault in cases),
        "</testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def margin_of(text: str) -> float:
    """A share of `5%`, or of `0.05`.

    Raises:
        ValueError: it is no number, or the share is not between 0 and 1.
    """
    number, percent, rest = text.strip().partition("%")
    share = float(number) / (100 if percent else 1)
    if rest or not 0 < share < 1:
        raise ValueError
    return share


def require_margin(cli: UserCommand, text: str) -> float:
    """The share that `--margin` names; ends the command where it names none."""
    try:
        return margin_of(text)
    except ValueError:
        terminal.end(terminal.EXIT_USAGE, "--margin takes a share such as 5% or 0.05", as_json=cli.as_json)


_COLUMNS: Final = ("source", "difference in points", "interval", "documents", "says")


def _cells(source: GateSource) -> tuple[str, ...]:
    change = source.change
    if change is None:
        return _name(source), "–", "–", "0", _OUTCOMES["undecided"]
    said = _OUTCOMES.get(change.outcome, change.outcome)
    if change.outcome == "undecided" and not source.decides:
        said = "no objection"
    interval = f"{_points(change.low)} to {_points(change.high)}"
    return _name(source), _points(change.difference), interval, f"{change.documents:,}", said


def _name(source: GateSource) -> str:
    return f"check {source.name}" if source.kind == "check" else _KINDS.get(source.kind, source.kind)


def _points(share: float) -> str:
    points = f"{100 * share:+.1f}"
    return "0.0" if float(points) == 0 else points.replace("-", "−")


def _fault(outcome: str, words: str) -> str:
    if outcome in ("better", "not_worse"):
        return ""
    tag = "failure" if outcome == "worse" else "error"
    return f'<{tag} type="{_xml(outcome)}" message="{_xml(words)}"/>'


def _xml(text: str) -> str:
    return html.escape(printable(text).plain)


def _escaped(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", printable(text).plain.replace("\n", " "))
