"""How far judges agree with each other: Krippendorff's α, nominal for verdicts and ordinal for scores.

α = 1 − D_o/D_e, observed over expected disagreement (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability").
Both sums have a closed form that is linear in the number of values, and use whole numbers until the last division.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Literal

import msgspec

from carrel.evaluation import records
from carrel.evaluation.records import Score, Verdict
from carrel.evaluation.statistics.intervals import rounded_or_none
from carrel.providers.base import Criterion

Metric = Literal["nominal", "ordinal"]
Meeting = tuple[str, str, str, int]
"""What was compared: document, pair and repeat."""
Unit = tuple[float, ...]
"""The values that judges gave to one thing, one value for each judge."""


class Alpha(msgspec.Struct, frozen=True, kw_only=True):
    """α, or the reason why there is none; `units` are the things that at least two judges judged.

    `undefined`: nothing varied, or nothing was judged twice.
    """

    value: float | None
    reason: Literal["needs two judges", "undefined"] | None
    judges: int
    units: int


class CriterionAlpha(msgspec.Struct, frozen=True, kw_only=True):
    """Agreement on one criterion's scores."""

    criterion: str
    alpha: Alpha


class JudgeAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """The number of comparisons on which two judges agreed, of those that both judged."""

    first: str
    second: str
    same: int
    of: int
    alpha: Alpha


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """Agreement on verdicts, on each criterion's scores, and between each two judges on verdicts."""

    verdicts: Alpha
    scores: tuple[CriterionAlpha, ...]
    pairs: tuple[JudgeAgreement, ...]


def agreement(verdicts: Sequence[Verdict], scores: Sequence[Score], criteria: Sequence[Criterion]) -> Agreement:
    """Agreement of all judges; it leaves out outcomes that a rule decided, because no judge gave them."""
    judges = sorted({verdict.judge for verdict in verdicts if _is_told(verdict)})
    # The outcomes of a single judge agree with nobody's, and there may be a hundred thousand.
    found = outcomes(verdicts) if len(judges) > 1 else {}
    # Of fifty voters hardly two saw the same: looking for each two of them in all takes a second.
    met: defaultdict[tuple[str, str], Counter[Unit]] = defaultdict(Counter)
    for voices in found.values():
        for (first, ours), (second, theirs) in combinations(sorted(voices.items()), 2):
            met[first, second][ours, theirs] += 1
    return Agreement(
        verdicts=_alpha_of(alpha((list(voices.values()) for voices in found.values()), "nominal"), judges),
        scores=tuple(CriterionAlpha(criterion=one.name, alpha=_on_scores(scores, one.name)) for one in criteria),
        pairs=tuple(_pair(met[first, second], first, second) for first, second in combinations(judges, 2)),
    )


def _on_scores(scores: Sequence[Score], criterion: str) -> Alpha:
    given = [score for score in scores if score.fate == "given" and criterion in score.values]
    judges = {score.judge for score in given}
    found: defaultdict[tuple[str, str, int], dict[str, float]] = defaultdict(dict)
    if len(judges) > 1:
        for score in given:
            found[score.document, score.candidate, score.repeat][score.judge] = score.values[criterion]
    return _alpha_of(alpha((list(voices.values()) for voices in found.values()), "ordinal"), judges)


def with_each(verdicts: Iterable[Verdict], votes: Iterable[Verdict], voter: str) -> tuple[JudgeAgreement, ...]:
    """Each judge that gave `verdicts` against `votes`. Of several votes on one thing each counts."""
    of_judges = outcomes(verdicts)
    judges = sorted({judge for voices in of_judges.values() for judge in voices})
    told = (_told(vote) for vote in votes)
    units = [of_judges.get(one[0], {}) | {voter: one[1]} for one in told if one is not None]
    # Each unit has a vote, and hardly any judge gave a verdict of each.
    return tuple(
        _pair(Counter((voices[judge], voices[voter]) for voices in units if judge in voices), judge, voter)
        for judge in judges
    )


def alpha(units: Iterable[Sequence[float]], metric: Metric) -> tuple[float | None, int]:
    """Krippendorff's α and the number of units that hold at least two values; `None` where it is undefined."""
    return _alpha(Counter(tuple(sorted(unit)) for unit in units if len(unit) > 1), metric)


def _alpha(pairable: Mapping[Unit, int], metric: Metric) -> tuple[float | None, int]:
    """The same of units of at least two values, and how often there is each."""
    units = sum(pairable.values())
    counts: Counter[float] = Counter()
    for values, times in pairable.items():
        for value in values:
            counts[value] += times
    total = sum(counts.values())
    if len(counts) < 2:
        return None, units
    ranks = _middle_ranks(counts)
    # Fractions of one denominator are added up before: the sum is exact.
    by_others: Counter[int] = Counter()
    for values, times in pairable.items():
        by_others[len(values) - 1] += times * _disagreement(Counter(values), ranks, metric)
    observed = sum((Fraction(found, others) for others, found in by_others.items()), Fraction(0))
    expected = Fraction(_disagreement(counts, ranks, metric), total - 1)
    return float(1 - observed / expected), units


def _disagreement(counts: Mapping[float, int], ranks: Mapping[float, int], metric: Metric) -> int:
    """Σ δ² over ordered pairs of values. For ordinal data δ² is the squared difference of middle ranks."""
    n = sum(counts.values())
    if metric == "nominal":
        return n * n - sum(count * count for count in counts.values())
    first = sum(count * ranks[value] for value, count in counts.items())
    second = sum(count * ranks[value] ** 2 for value, count in counts.items())
    return 2 * (n * second - first * first)


def _middle_ranks(counts: Mapping[float, int]) -> dict[float, int]:
    """Twice the middle rank of each value, so that it stays whole; α does not depend on the unit of δ."""
    below, ranks = 0, {}
    for value in sorted(counts):
        ranks[value] = 2 * below + counts[value]
        below += counts[value]
    return ranks


def _alpha_of(found: tuple[float | None, int], judges: Collection[str]) -> Alpha:
    """α of what these judges gave."""
    value, units = found
    reason: Literal["needs two judges", "undefined"] | None = None
    if len(judges) < 2:
        reason = "needs two judges"
    elif value is None:
        reason = "undefined"
    return Alpha(value=rounded_or_none(value), reason=reason, judges=len(judges), units=units)


def outcomes(verdicts: Iterable[Verdict]) -> dict[Meeting, dict[str, float]]:
    """What was compared → judge → outcome from the side of the pair's first name."""
    found: defaultdict[Meeting, dict[str, float]] = defaultdict(dict)
    for verdict in verdicts:
        told = _told(verdict)
        if told is not None:
            found[told[0]][verdict.judge] = told[1]
    return found


def _told(verdict: Verdict) -> tuple[Meeting, float] | None:
    """What was compared, and the outcome from the side of the pair's first name; `None` if nobody judged it."""
    y = records.value(verdict)
    if y is None or verdict.by_rule is not None:
        return None
    if verdict.a < verdict.b:
        return (verdict.document, verdict.a, verdict.b, verdict.repeat), y
    return (verdict.document, verdict.b, verdict.a, verdict.repeat), 1.0 - y


def _is_told(verdict: Verdict) -> bool:
    return records.value(verdict) is not None and verdict.by_rule is None


def _pair(both: Counter[Unit], first: str, second: str) -> JudgeAgreement:
    return JudgeAgreement(
        first=first,
        second=second,
        same=sum(times for (ours, theirs), times in both.items() if ours == theirs),
        of=both.total(),
        alpha=_alpha_of(_alpha(both, "nominal"), {first, second} if both else ()),
    )
