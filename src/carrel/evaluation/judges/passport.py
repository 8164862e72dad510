"""A judge's passport: how it behaves over everything that it has judged, each figure with an interval by document."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from carrel.evaluation import records
from carrel.evaluation.ranking import doubts, scores
from carrel.evaluation.ranking.cells import gathered
from carrel.evaluation.ranking.doubts import LongerText
from carrel.evaluation.records import Score, Verdict
from carrel.evaluation.statistics import intervals
from carrel.evaluation.statistics.intervals import rounded, rounded_or_none
from carrel.evaluation.statistics.means import mean
from carrel.providers.base import Criterion

_P = 0.975
"""Two-sided intervals at 95 %."""


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """A share of `of` things; each document has one voice. The interval is `None` for a single document."""

    share: float | None
    low: float | None
    high: float | None
    of: int
    documents: int


class Leniency(msgspec.Struct, frozen=True, kw_only=True):
    """How much higher a judge scores than the other judges of the same answers, on scales from 0 to 1."""

    difference: float | None
    low: float | None
    high: float | None
    documents: int


class Passport(msgspec.Struct, frozen=True, kw_only=True):
    """How a judge behaves.

    `verdicts` were asked for in both orders, and `invalid` of them stayed malformed; the rates are of the others.
    `consistent`: the same word in both orders. `flips`: opposite winners. `first`: of the words that name a winner,
    those for the answer shown first; a judge without a lean to a position has one half. `longer`: the longer text won.
    `with_people`: agreement with a person's blind votes, where a tie or a flip agrees by half with a winner.
    """

    verdicts: int
    invalid: int
    consistent: Rate
    flips: Rate
    first: Rate
    longer: LongerText
    with_people: Rate
    leniency: Leniency


def passports(
    verdicts: Iterable[Verdict], scored: Sequence[Score], votes: Sequence[Verdict], criteria: Sequence[Criterion]
) -> dict[str, Passport]:
    """The passport of each judge with a verdict or a score, by name."""
    given: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.by_rule is None:
            given[verdict.judge].append(verdict)
    judges = sorted(given.keys() | {score.judge for score in scored})
    cells = _cells(scored, criteria)
    return {judge: _passport(given[judge], votes, _leniency(judge, cells)) for judge in judges}


def agreement_with(verdicts: Iterable[Verdict], truth: Iterable[Verdict]) -> Rate:
    """How far a judge agrees with `truth`, people's votes or known answers, on the pairs that both judged.

    1 for the same winner, 0 for the other one, ½ where one of the two names none: the mean over both orders of being
    right, when the truth always names a winner.
    """
    known: defaultdict[tuple[str, str, str, int], list[float]] = defaultdict(list)
    for verdict in truth:
        y = _value(verdict)
        if y is not None:
            known[_meeting(verdict)].append(y)
    found: defaultdict[str, list[float]] = defaultdict(list)
    for verdict in verdicts if known else ():
        y, others = _value(verdict), known.get(_meeting(verdict))
        if y is not None and others:
            found[verdict.document].append(1.0 - abs(y - mean(others)))
    return _rate(found)


def _passport(verdicts: Sequence[Verdict], votes: Iterable[Verdict], leniency: Leniency) -> Passport:
    fates = Counter(map(records.fate, verdicts))
    valid = [verdict for verdict in verdicts if records.fate(verdict) not in ("invalid", "missing")]
    return Passport(
        verdicts=len(verdicts) - fates["missing"],
        invalid=fates["invalid"],
        consistent=_rate(_grouped((verdict.document, float(records.fate(verdict) == "agreed")) for verdict in valid)),
        flips=_rate(_grouped((verdict.document, float(records.fate(verdict) == "flip")) for verdict in valid)),
        first=_rate(_grouped(_firsts(valid))),
        longer=doubts.longer_text(gathered(sorted({one for v in verdicts for one in (v.a, v.b)}), verdicts, {})),
        with_people=agreement_with(verdicts, votes),
        leniency=leniency,
    )


def _firsts(verdicts: Iterable[Verdict]) -> Iterator[tuple[str, float]]:
    for verdict in verdicts:
        for word in (verdict.ab, verdict.ba):
            if word != "tie":
                yield verdict.document, float(word == "first")


def _cells(scored: Sequence[Score], criteria: Sequence[Criterion]) -> dict[tuple[str, str, int], dict[str, float]]:
    """Document, candidate and repeat → judge → score from 0 to 1, where a judge gave one."""
    found: defaultdict[tuple[str, str, int], dict[str, float]] = defaultdict(dict)
    for score in scored:
        value = scores.normalised(score, criteria) if score.fate == "given" else None
        if value is not None:
            found[score.document, score.candidate, score.repeat][score.judge] = value
    return found


def _leniency(judge: str, cells: Mapping[tuple[str, str, int], Mapping[str, float]]) -> Leniency:
    by_document: defaultdict[str, list[float]] = defaultdict(list)
    # In any order: the sums are exact.
    for (document, _, _), given in cells.items():
        others = [value for other, value in given.items() if other != judge]
        if judge in given and others:
            by_document[document].append(given[judge] - mean(others))
    if not by_document:
        return Leniency(difference=None, low=None, high=None, documents=0)
    found = intervals.difference([mean(values) for _, values in sorted(by_document.items())])
    low, high = found.bounds(_P, -1.0, 1.0)
    return Leniency(
        difference=rounded(found.mean),
        low=rounded_or_none(low),
        high=rounded_or_none(high),
        documents=found.documents,
    )


def _grouped(values: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    found: defaultdict[str, list[float]] = defaultdict(list)
    for document, value in values:
        found[document].append(value)
    return found


def _rate(by_document: Mapping[str, Sequence[float]]) -> Rate:
    if not by_document:
        return Rate(share=None, low=None, high=None, of=0, documents=0)
    found = intervals.share([mean(values) for _, values in sorted(by_document.items())])
    low, high = found.bounds(_P, 0.0, 1.0)
    return Rate(
        share=rounded(found.mean),
        low=rounded_or_none(low),
        high=rounded_or_none(high),
        of=sum(len(values) for values in by_document.values()),
        documents=found.documents,
    )


def _value(verdict: Verdict) -> float | None:
    """From the side of the pair's first name."""
    return records.value(verdict if verdict.a < verdict.b else records.mirrored(verdict))


def _meeting(verdict: Verdict) -> tuple[str, str, str, int]:
    first, second = sorted((verdict.a, verdict.b))
    return verdict.document, first, second, verdict.repeat
