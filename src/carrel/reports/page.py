"""Writes a report as one page of HTML: no scripts, nothing from outside, harmless texts of models and documents.

Only the worker imports this module, because the service starts without templates and without the Markdown reader.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from carrel.evaluation.ranking.ranking import Row
from carrel.evaluation.words import listed
from carrel.kit.money import brief, micros_of
from carrel.providers.hosts import ModelAt
from carrel.reports import prose
from carrel.reports.report import AnswerReport, CandidateReport, DocumentReport, Report, VerdictReport

PROSE_WORK = 100_000
"""How much work one page does to render answers as Markdown; the rest stays plain text. It is about a second, or a
million characters of plain answers."""
Field = Literal["win_share", "score"]

_SHADES = 10
_CASES = 3
_OPEN_ROWS = 40
"""The page folds a table by document with more rows."""

_OUTCOMES = {
    "nothing": "Nothing compared",
    "disconnected": "Not connected",
    "anecdote": "One document",
    "too_few": "Too few documents",
    "level": "Level",
    "undecided": "Undecided",
    "decided": "Decided",
}
_WHY_NO_LIFT = {
    "cannot be told": "cannot be told: no judge of another family",
    "no candidate of its family": "no candidate of its family",
    "every candidate is of its family": "every candidate is of its family",
}


class PlotPoint(NamedTuple):
    """A candidate in the plot of quality against cost; positions from 0 to 1, `y` upwards."""

    label: str
    x: float
    y: float


def render(report: Report) -> bytes:
    """The page. The same report gives the same bytes."""
    rows = {row.candidate: row for row in report.ranking.rows}
    candidates = {candidate.candidate: candidate for candidate in report.candidates}
    place = {row.candidate: number for number, row in enumerate(report.ranking.rows)}
    words = report.verdict

    def in_order(answers: Sequence[AnswerReport]) -> list[AnswerReport]:
        return sorted((one for one in answers if one.candidate in place), key=lambda one: place[one.candidate])

    pieces = (
        _environment()
        .get_template("report.html")
        .generate(
            r=report,
            rows=rows,
            candidates=candidates,
            order=list(place),
            in_order=in_order,
            shares=_shares(report),
            costs_differ=costs_differ(report.candidates),
            points=_points(rows, candidates),
            outcome=_outcome(report),
            is_clear=words.outcome == "decided" and not words.doubted,
            others=[*(note for note in words.notes if not (words.doubt or "").startswith(note)), *words.checks],
            why_no_lift=_WHY_NO_LIFT,
            configuration=_indented(bytes(report.run.configuration)),
            cells={
                (document.document, cell.candidate): cell for document in report.documents for cell in document.standing
            },
            best=_best,
            extent=lambda field: _extent(report, field),
            has_scores=_extent(report, "score") is not None
            or (report.ranking.measure is None and any(row.score is not None for row in report.ranking.rows)),
            has_shares=_extent(report, "win_share") is not None,
            open_rows=_OPEN_ROWS,
            prose=_Prose(),
            said=_said,
        )
    )
    # Encoded as it is made: of a long page, its small pieces and its characters would take four times its bytes.
    page = bytearray()
    for piece in pieces:
        page += piece.encode()
    return bytes(page)


def memo(report: Report) -> bytes:
    """One or two sides for somebody who was not there: the decision, its figures, examples, doubts, and the method."""
    first, beside = report.decision.first, report.decision.beside
    cases = [] if first is None or beside is None else list(_cases(report, first, beside))
    rates = {} if report.checks is None else {row.candidate: row.rates for row in report.checks.rows}
    doubts = list(dict.fromkeys([*([report.decision.doubt] if report.decision.doubt else []), *report.verdict.notes]))
    page = (
        _environment()
        .get_template("memo.html")
        .render(
            r=report,
            costs={one.candidate: one.cost_per_answer for one in report.candidates},
            words={one.candidate: one.mean_words for one in report.candidates},
            rates=rates,
            cases=cases,
            doubts=doubts[:_CASES],
            outcome=_outcome(report),
            is_clear=report.verdict.outcome == "decided" and not report.verdict.doubted,
        )
    )
    return page.encode()


class _Case(NamedTuple):
    """A document on which one candidate is worse, with both answers and a judge's words."""

    document: DocumentReport
    better: str
    worse: str
    said: str | None


def _cases(report: Report, first: str, beside: str) -> Iterator[_Case]:
    """The documents on which the other one is worse, the worst first."""
    documents = {document.document: document for document in report.documents}
    for number in report.decision.worse_on[:_CASES]:
        if (document := documents.get(f"d{number}")) is not None:
            texts = {answer.candidate: answer.text for answer in document.answers if answer.repeat == 1}
            met = [one for one in document.verdicts or () if {one.a, one.b} == {first, beside}]
            said = next((words for one in met if (words := one.said_ab or one.said_ba)), None)
            yield _Case(document, texts.get(first) or "", texts.get(beside) or "", said)


def costs_differ(candidates: Sequence[CandidateReport]) -> bool:
    """Whether the costs of two candidates differ, so that a plot of quality against cost is useful."""
    return len({candidate.cost_per_answer for candidate in candidates if candidate.cost_per_answer is not None}) > 1


def prepare() -> None:
    """Do what needs files: read every template, and import what compiles one.

    The first page compiles the others, because most workers never make one.
    """
    _environment().get_template("parts.html")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=DictLoader({file.name: file.read_text() for file in Path(__file__).with_name("templates").iterdir()}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "cell": _cell,
        "exact": _exact,
        "lead": _lead,
        "lean": _lean,
        "listed": listed,
        "model": lambda one: str(ModelAt(one.model, one.host)),
        "number": _number,
        "percent": _percent,
        "thousand": lambda cost: "–" if cost is None else brief(1_000 * micros_of(cost)),
        "shade": _shade,
        "signed": _signed,
    }
    return environment


class _Prose:
    """Answers as HTML, until the work for Markdown is done. Not seconds are counted: equal reports give equal pages."""

    def __init__(self) -> None:
        self._left = PROSE_WORK

    def __call__(self, answer: AnswerReport) -> Markup:
        text = answer.text or ""
        shown, work = prose.rendered(text) if self._left > 0 else (prose.plain(text), 0)
        self._left -= work
        # Both functions return only harmless HTML; the page escapes everything else.
        return Markup(shown)  # noqa: S704


def _shares(report: Report) -> dict[tuple[str, str], float]:
    """The share of each pair's wins, from both sides."""
    found = {(pair.a, pair.b): pair.share for pair in report.pairs}
    return found | {(b, a): 1.0 - share for (a, b), share in found.items()}


def _points(rows: Mapping[str, Row], candidates: Mapping[str, CandidateReport]) -> list[PlotPoint]:
    known = [
        (label, micros_of(cost), share)
        for label, row in rows.items()
        if (share := row.win_share) is not None and (cost := candidates[label].cost_per_answer) is not None
    ]
    most = max((cost for _, cost, _ in known), default=0)
    return [PlotPoint(label, cost / most if most else 0.0, share) for label, cost, share in known]


def _best(document: DocumentReport, field: Field) -> float | None:
    return max((value for cell in document.standing if (value := getattr(cell, field)) is not None), default=None)


def _extent(report: Report, field: Field) -> tuple[float, float] | None:
    """The least and the greatest of all cells."""
    values = [getattr(cell, field) for document in report.documents for cell in document.standing]
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known else None


def _said(verdict: VerdictReport, order: str) -> str:
    """Who won in one order, in words; the answers are named by their candidates."""
    word = verdict.ab if order == "ab" else verdict.ba
    first, second = (verdict.a, verdict.b) if order == "ab" else (verdict.b, verdict.a)
    return {"first": first, "second": second}.get(word, word)


def _indented(text: bytes) -> str:
    return json.dumps(json.loads(text), indent=2, ensure_ascii=False)


def _outcome(report: Report) -> str:
    """The outcome in a word, as strong as the evidence; the app says the same."""
    if report.ranking.exploratory:
        return "Exploratory"
    if report.verdict.outcome == "nothing" and not report.finished:
        return "Nothing compared yet"
    said = _OUTCOMES[report.verdict.outcome]
    return f"{said}, with doubts" if report.verdict.outcome == "decided" and report.verdict.doubted else said


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


def _number(number: float | None, digits: int = 2) -> str:
    return "–" if number is None else f"{number:,.{digits}f}".replace("-", "−")


def _signed(number: float | None, digits: int = 2) -> str:
    return "–" if number is None else f"{number:+,.{digits}f}".replace("-", "−")


def _exact(share: float) -> str:
    """A length in a drawing."""
    return f"{100 * share:.1f}%"


def _lead(lead: float, scale: str) -> str:
    """A difference of ratings or of scores, or of win shares in percentage points."""
    if scale != "win_share":
        return _signed(lead)
    # A lead that is not 0 must not look like 0, because its sign matters.
    return _signed(100 * lead, 0 if abs(lead) >= 0.005 or not lead else 1)


def _cell(value: float | None, field: Field) -> str:
    return _percent(value) if field == "win_share" else _number(value)


def _shade(value: float | None, reach: tuple[float, float]) -> str:
    """The class of a cell, by where it lies between the least and the greatest."""
    if value is None:
        return "none"
    least, greatest = reach
    return f"h{round((value - least) / (greatest - least) * _SHADES) if greatest > least else _SHADES // 2}"


def _lean(share: float | None) -> str:
    """The class of a cell that is more or less than one half."""
    if share is None:
        return "none"
    return f"{'w' if share >= 0.5 else 'l'}{round(abs(share - 0.5) * 2 * _SHADES)}"
