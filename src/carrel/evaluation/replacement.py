"""The cheapest candidate that is not worse than today's by a margin, over all candidates together. Pure.

Whoever looks at several candidates finds one that seems good enough by luck. So the claims share one error of 5 % (Holm
1979): that any of those that pass is worse by the margin happens in about 5 % of runs.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from carrel.evaluation.gate import Differences, GateResult
from carrel.evaluation.statistics import noninferiority
from carrel.evaluation.words import listed
from carrel.kit.money import DollarsText, brief, text_of

_ANSWERS: Final = 1_000


class Cost(NamedTuple):
    """What an answer costs in millionths, where that is known, and the last day of the model, where that is."""

    per_answer: int | None
    ends_on: str | None


class ReplacementOption(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate beside today's. `holds`: not worse by the margin, among all candidates together.

    `gate` looks at this candidate alone. `saves_per_month` is below 0 if it costs more; null where a cost is unknown.
    """

    candidate: str
    holds: bool
    gate: GateResult
    cost_per_answer: DollarsText | None
    saves_per_month: DollarsText | None
    ends_on: str | None


class Replacement(msgspec.Struct, frozen=True, kw_only=True):
    """Which candidate may take the place of today's, the `baseline`. `options` are in the order of their costs."""

    sentence: str
    chosen: str | None
    baseline: str
    margin: float
    calls_per_month: int
    cost_per_answer: DollarsText | None
    cost_per_month: DollarsText | None
    ends_on: str | None
    options: tuple[ReplacementOption, ...]


class GatedCandidate(NamedTuple):
    """A candidate's gate, and where its differences from today's come from."""

    gate: GateResult
    differences: Sequence[Differences]


def choose(
    baseline: str,
    margin: float,
    calls_per_month: int,
    compared: Sequence[GatedCandidate],
    costs: Mapping[str, Cost],
    groups: Mapping[str, str],
    caution: str = "",
) -> Replacement:
    """Choose the cheapest that holds; of those whose cost is unknown, the first, if there are no others.

    `caution`, what speaks against the judges, is said with it.
    """
    chances = {one.gate.candidate: _chance(one, margin, groups) for one in compared}
    holding = _hold(chances)
    today = costs[baseline]
    options = tuple(
        ReplacementOption(
            candidate=gate.candidate,
            holds=gate.candidate in holding,
            gate=gate,
            cost_per_answer=_text(cost.per_answer),
            saves_per_month=_text(_saved(today, cost, calls_per_month)),
            ends_on=cost.ends_on,
        )
        for gate, cost in sorted(((one.gate, costs[one.gate.candidate]) for one in compared), key=_order)
    )
    chosen = next((one for one in options if one.holds), None)
    sentence = _sentence(baseline, margin, calls_per_month, chosen, options, costs)
    return Replacement(
        sentence=f"{sentence} {caution}" if caution and chosen is not None else sentence,
        chosen=None if chosen is None else chosen.candidate,
        baseline=baseline,
        margin=margin,
        calls_per_month=calls_per_month,
        cost_per_answer=_text(today.per_answer),
        cost_per_month=_text(None if today.per_answer is None else today.per_answer * calls_per_month),
        ends_on=today.ends_on,
        options=options,
    )


def _chance(one: GatedCandidate, margin: float, groups: Mapping[str, str]) -> float:
    """The chance to see this of one that is worse by the margin; every source that decides has to exclude it."""
    if one.gate.outcome == "worse":
        return 1.0
    found = [
        noninferiority.chance_of_worse(differences.at_worst(groups), margin=margin, reach=differences.reach)
        if differences.by_document
        else 1.0
        for differences in one.differences
        if differences.decides
    ]
    return max(found, default=1.0)


def _hold(chances: Mapping[str, float]) -> set[str]:
    """Step by step: once some pass, the others share what is left of the error."""
    found: set[str] = set()
    for number, candidate in enumerate(sorted(chances, key=lambda one: chances[one])):
        if chances[candidate] > noninferiority.ERROR / (len(chances) - number):
            break
        found.add(candidate)
    return found


def _order(option: tuple[GateResult, Cost]) -> tuple[bool, int]:
    _, cost = option
    return cost.per_answer is None, cost.per_answer or 0


def _saved(today: Cost, other: Cost, calls: int) -> int | None:
    if today.per_answer is None or other.per_answer is None:
        return None
    return (today.per_answer - other.per_answer) * calls


def _text(micros: int | None) -> str | None:
    return None if micros is None else text_of(micros)


def _sentence(
    baseline: str,
    margin: float,
    calls: int,
    chosen: ReplacementOption | None,
    options: Sequence[ReplacementOption],
    costs: Mapping[str, Cost],
) -> str:
    today = costs[baseline]
    ends = f" {baseline} is switched off on {today.ends_on}." if today.ends_on is not None else ""
    worse = f"worse than {baseline} by {100 * margin:g} points or more"
    if chosen is None:
        needed = [one.gate.needed for one in options if one.gate.needed is not None]
        tell = f" About {min(needed):,} documents would tell of one." if needed else ""
        return f"Of no candidate can it be said that it is not {worse}.{tell}{ends}"
    other = costs[chosen.candidate]
    what = "the cheapest that is not" if other.per_answer is not None and len(options) > 1 else "not"
    told = f"{chosen.candidate} is {what} {worse}"
    if today.per_answer is None or other.per_answer is None:
        unknown = listed(
            [name for name, cost in ((baseline, today), (chosen.candidate, other)) if cost.per_answer is None]
        )
        return f"{told}. What an answer of {unknown} costs is not known.{ends}"
    prices = f"{brief(_ANSWERS * other.per_answer)} instead of {brief(_ANSWERS * today.per_answer)}"
    moved = (today.per_answer - other.per_answer) * calls
    saves = f"saves {brief(moved)}" if moved >= 0 else f"costs {brief(-moved)} more"
    return f"{told}. {_ANSWERS:,} answers cost {prices}, which {saves} a month at {calls:,} calls.{ends}"
