"""The ranking as it would be if all answers were equally long: a second view, if there are enough documents.

After Dubois, Galambosi, Liang & Hashimoto 2024, "Length-Controlled AlpacaEval: A Simple Way to Debias Automatic
Evaluators" (arXiv 2404.04475): a logistic model of the preference gets a term for the difference in length, tanh of it
in units of its own spread, and is then read at a difference of 0. Theirs sets one model against a baseline; here the
model is Bradley–Terry over all candidates, with one taste for length that all judges share. Prior and jackknife are
those of `bradley_terry`; the all-ties document stands half at either sign of the length, so that it stays finite.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from carrel.evaluation import records
from carrel.evaluation.ranking.bradley_terry import BASE_PRIOR, DELETED_PRIOR, PRIOR, Matrix, solve
from carrel.evaluation.ranking.table import parted
from carrel.evaluation.records import Verdict
from carrel.evaluation.statistics.intervals import Estimate, rounded, rounded_or_none
from carrel.evaluation.statistics.means import mean, weighted_mean

FROM_DOCUMENTS = 20
"""Fewer documents cannot separate the taste for length from the candidates' own merit well enough."""
_TOLD_APART = 0.05
"""The least part of the information about the taste for length that must remain after fitting the candidates'
merits."""
_STEPS = 100
_STRIDE = 1.5
_CONVERGED = 1e-10
_LEVEL = 1e-9

Reason = Literal["all are equally long", "length and candidate cannot be told apart"]


class AdjustedShare(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate's win share at equal lengths, with an interval at 95 %."""

    candidate: str
    win_share: float
    low: float | None
    high: float | None


class LengthAdjusted(msgspec.Struct, frozen=True, kw_only=True):
    """The second view; in `rows` the greatest share comes first. `reason` says why there is none.

    `taste` is the chance that the longer of two equally good answers wins which differ in length as answers here
    commonly do: ½ is indifference.
    """

    documents: int
    taste: float | None = None
    taste_low: float | None = None
    taste_high: float | None = None
    rows: tuple[AdjustedShare, ...] = ()
    leaders: tuple[str, ...] = ()
    reason: Reason | None = None


class _Meeting(NamedTuple):
    """The judges' result on one pair, a < b: a's share of the win, how much longer a's answer was, and a weight."""

    a: int
    b: int
    y: float
    longer: float
    weight: float


Documents = Sequence[Sequence[_Meeting]]


def adjusted(
    candidates: Sequence[str], verdicts: Iterable[Verdict], weights: Mapping[str, float], p: float = 0.975
) -> LengthAdjusted | None:
    """The view at equal lengths; `None` below `FROM_DOCUMENTS` documents, or where not everybody met.

    Its intervals reach as far as Student's t does with probability `p`.
    """
    measured = _measured(candidates, verdicts, weights)
    groups = parted(meeting[:2] for meetings in measured for meeting in meetings)
    if len(measured) < FROM_DOCUMENTS or len(groups) != 1:
        return None
    spread = math.sqrt(
        math.fsum(m.weight * m.longer**2 for meetings in measured for m in meetings)
        / math.fsum(m.weight for meetings in measured for m in meetings)
    )
    if not spread:
        return LengthAdjusted(documents=len(measured), reason="all are equally long")
    members = groups[0]
    place = {member: i for i, member in enumerate(members)}
    documents = [
        [m._replace(a=place[m.a], b=place[m.b], longer=math.tanh(m.longer / spread)) for m in meetings]
        for meetings in measured
    ]
    k = len(members)
    base = _fit(documents, k, BASE_PRIOR, [0.0] * (k + 1))
    parts = [_slopes(base, meetings, k) for meetings in documents]
    known = _sum([part.curve for part in parts])
    if not _told_apart(known, k):
        return LengthAdjusted(documents=len(documents), reason="length and candidate cannot be told apart")
    curve = _sum([known, _slopes(base, _ties(k, BASE_PRIOR), k).curve])
    values = _fit(documents, k, PRIOR, base)
    # One Newton step from the common fit is enough, because one of many documents moves the fit only a little.
    deleted = [_moved(base, curve, part) for part in parts]
    deleted.append(_fit(documents, k, DELETED_PRIOR, base))
    return _told([candidates[i] for i in members], values, base, deleted, p)


def _told(
    names: Sequence[str],
    values: Sequence[float],
    base: Sequence[float],
    deleted: Sequence[Sequence[float]],
    p: float,
) -> LengthAdjusted:
    documents = len(deleted) - 1
    shares, at_base, moved = _shares(values), _shares(base), [_shares(fit) for fit in deleted]
    rows = []
    for i, name in enumerate(names):
        error = _error([fit[i] - at_base[i] for fit in moved])
        low, high = Estimate(shares[i], error, documents).bounds(p, 0.0, 1.0)
        rows.append(
            AdjustedShare(
                candidate=name, win_share=rounded(shares[i]), low=rounded_or_none(low), high=rounded_or_none(high)
            )
        )
    taste = Estimate(values[-1], _error([fit[-1] - base[-1] for fit in deleted]), documents)
    low, high = taste.bounds(p, -math.inf, math.inf)
    return LengthAdjusted(
        documents=documents,
        taste=rounded(_logistic(taste.mean * math.tanh(1.0))),
        taste_low=None if low is None else rounded(_logistic(low * math.tanh(1.0))),
        taste_high=None if high is None else rounded(_logistic(high * math.tanh(1.0))),
        rows=tuple(sorted(rows, key=lambda row: -row.win_share)),
        leaders=tuple(name for name, share in zip(names, shares, strict=True) if max(shares) - share < _LEVEL),
    )


def _measured(
    candidates: Sequence[str], verdicts: Iterable[Verdict], weights: Mapping[str, float]
) -> list[list[_Meeting]]:
    """By document, in a fixed order, each pair of answers once; not those that a rule decided, whatever the length."""
    place = {candidate: i for i, candidate in enumerate(candidates)}
    heard: defaultdict[tuple[str, int, int], list[tuple[Verdict, float]]] = defaultdict(list)
    for listed in verdicts:
        verdict = listed if place[listed.a] < place[listed.b] else records.mirrored(listed)
        y = records.value(verdict)
        known = verdict.by_rule is not None or (verdict.a_length is not None and verdict.b_length is not None)
        if y is not None and known and weights.get(verdict.judge, 1.0) > 0:
            heard[verdict.document, place[verdict.a], place[verdict.b]].append((verdict, y))
    documents: defaultdict[str, list[_Meeting]] = defaultdict(list)
    for (document, a, b), said in sorted(heard.items(), key=lambda item: item[0]):
        documents[document].extend(_meetings(a, b, said, weights))
    return [meetings for _, meetings in sorted(documents.items())]


def _meetings(
    a: int, b: int, said: Sequence[tuple[Verdict, float]], weights: Mapping[str, float]
) -> Iterable[_Meeting]:
    """One for each repeat. Their weights add up to 1: as in the table, repeats are averaged, then judges."""
    times = {judge: sum(1 for v, _ in said if v.judge == judge) for judge in {v.judge for v, _ in said}}
    greatest = max(weights.get(judge, 1.0) for judge in times)
    voice = {judge: weights.get(judge, 1.0) / greatest for judge in times}
    total = math.fsum(voice.values())
    for repeat in sorted({v.repeat for v, _ in said}):
        here = sorted((v.judge, y, _longer(v)) for v, y in said if v.repeat == repeat)
        shares = [(voice[judge] / times[judge], y) for judge, y, _ in here]
        weight = math.fsum(share for share, _ in shares) / total
        yield _Meeting(a, b, weighted_mean(shares), mean([longer for *_, longer in here]), weight)


def _longer(verdict: Verdict) -> float:
    if verdict.by_rule is not None or verdict.a_length is None or verdict.b_length is None:
        return 0.0
    return float(verdict.a_length - verdict.b_length)


class _Slopes(NamedTuple):
    """First and (negative) second derivatives of the quasi-likelihood; the last coordinate is the taste for length."""

    gradient: list[float]
    curve: Matrix


def _slopes(fit: Sequence[float], meetings: Iterable[_Meeting], k: int) -> _Slopes:
    gradient = [0.0] * (k + 1)
    curve = [[0.0] * (k + 1) for _ in range(k + 1)]
    for a, b, y, x, weight in meetings:
        p = _logistic(fit[a] - fit[b] + fit[k] * x)
        surplus = weight * (y - p)
        bend = weight * p * (1.0 - p)
        gradient[a] += surplus
        gradient[b] -= surplus
        gradient[k] += surplus * x
        curve[a][a] += bend
        curve[b][b] += bend
        curve[a][b] -= bend
        curve[b][a] -= bend
        curve[k][k] += bend * x * x
        curve[a][k] += bend * x
        curve[k][a] += bend * x
        curve[b][k] -= bend * x
        curve[k][b] -= bend * x
    return _Slopes(gradient, curve)


def _ties(k: int, prior: float) -> list[_Meeting]:
    """The imagined document on which all candidates tie, whichever answer is longer."""
    return [_Meeting(a, b, 0.5, x, prior / 2) for a in range(k) for b in range(a + 1, k) for x in (1.0, -1.0)]


def _fit(documents: Documents, k: int, prior: float, start: Sequence[float]) -> list[float]:
    """Newton's method with steps of at most `_STRIDE`: a longer one could land where the curve is too flat."""
    everything = [*(meeting for meetings in documents for meeting in meetings), *_ties(k, prior)]
    fit = list(start)
    for _ in range(_STEPS):
        gradient, curve = _slopes(fit, everything, k)
        step = solve(_pinned(curve), gradient)
        longest = max(map(abs, step))
        fit = [value + change * min(1.0, _STRIDE / longest) for value, change in zip(fit, step, strict=True)]
        if longest < _CONVERGED:
            break
    return fit


def _moved(base: Sequence[float], curve: Matrix, part: _Slopes) -> list[float]:
    """The fit without one document."""
    rest = [[cell - less for cell, less in zip(*rows, strict=True)] for rows in zip(curve, part.curve, strict=True)]
    step = solve(_pinned(rest), [-slope for slope in part.gradient])
    return [value + change for value, change in zip(base, step, strict=True)]


def _told_apart(curve: Matrix, k: int) -> bool:
    """Whether enough information about the taste for length remains after fitting the candidates' merits."""
    pinned = _pinned(curve)
    shared = [pinned[i][k] for i in range(k)]
    explained = solve([row[:k] for row in pinned[:k]], shared)
    left = curve[k][k] - math.fsum(s * e for s, e in zip(shared, explained, strict=True))
    return left > _TOLD_APART * curve[k][k]


def _pinned(curve: Matrix) -> Matrix:
    """1 added to every cell between candidates pins their sum to 0 and makes the matrix definite."""
    k = len(curve) - 1
    return [[cell + (1.0 if i < k and j < k else 0.0) for j, cell in enumerate(row)] for i, row in enumerate(curve)]


def _sum(matrices: Sequence[Matrix]) -> Matrix:
    return [[math.fsum(cells) for cells in zip(*rows, strict=True)] for rows in zip(*matrices, strict=True)]


def _shares(fit: Sequence[float]) -> list[float]:
    """Each candidate's mean chance against the others if all lengths are equal."""
    merits = fit[:-1]
    return [
        mean([_logistic(merit - other) for j, other in enumerate(merits) if j != i]) for i, merit in enumerate(merits)
    ]


def _error(changes: Sequence[float]) -> float:
    units = len(changes)
    return math.sqrt((units - 1) / units * math.fsum(change * change for change in changes))


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0
