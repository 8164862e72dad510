"""What a run promises about other runs: how often a true lead would be found, and how many documents would decide.

    python -m tests.evaluation.promises 1000

prints the tables of `docs/coverage` for so many tournaments a row; for a quarter of them in the first one, of judges
that nobody had looked at, and for three tenths in the last one. In every world the first candidate is
preferred to the second in 69 % and to the others in 77 % of comparisons, ties and flips counting half, whatever its
judges are like; runs of level candidates with the same judges are told a chance, too.
"""

import sys
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from carrel.evaluation.judges.trust import USEFUL
from carrel.evaluation.ranking import own_power
from carrel.evaluation.ranking.own_power import Chance
from carrel.evaluation.ranking.power import power
from carrel.evaluation.statistics import intervals
from tests.evaluation import vectorised, worlds
from tests.evaluation.vectorised import Array
from tests.evaluation.worlds import World

SECOND, REST = 0.69, 0.77
JUDGES: dict[str, World] = {
    "decides anew": World(deviation=0.3, judge_deviation=0.0, lean=0.0),
    "decides anew, documents differ": World(deviation=0.8, judge_deviation=0.4),
    "leans to the first place": World(deviation=0.3, judge_deviation=0.4, lean=0.8),
    "says the same in most pairs": World(deviation=0.7, sureness=3.0, lean=0.1),
    "always says the same": World(sureness=30.0, lean=0.0),
    "30 % ties": World(sureness=3.0, ties=0.3),
    "three that decide anew": World(judges=3),
    "three that always say the same": World(judges=3, sureness=30.0, lean=0.0),
}
FRESH: dict[str, World] = {
    "in between": World(deviation=0.5, sureness=2.0),
    "five judges": World(judges=5, judge_deviation=0.8),
    "two judges, 20 % ties": World(judges=2, sureness=2.0, ties=0.2),
    "families": World(judges=2, family=0.8),
    "length": World(length=0.8),
    "heavy tails": World(tail=3.0),
    "a third by position": World(first=0.33),
    "10 % missing": World(missing=0.1, sureness=4.0),
}
"""Kinds of judges that nobody looked at when `own_power` was written."""
FRESH_SIZES = ((2, 30), (3, 15), (4, 25), (8, 16))
SIZES = ((2, 20), (3, 12), (3, 20), (3, 50), (5, 20), (10, 20))
NEEDED_WORLDS = ("plain", "three judges", "consistent judge", "20 % by position", "length", "heavy tails")
NEEDED_SIZES = ((2, 20), (3, 12), (3, 30), (5, 20))
NEEDED_LEADS = (0.3, 0.5, 0.8, 1.2)
"""In logits: nobody knows which one is there, so a range has to hold over all of them."""
_GRID = (5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 140, 200, 300, 450, 700)


class Kept(NamedTuple):
    """How often the lead was found, what runs said about that, and how far off they were; all parts of 1.

    `told_level` is what runs of level candidates said on average, `near` how many of both kinds were within .05. `held`
    is how many of their ranges held it, of a mean `width`.
    """

    found: float
    told: float
    told_level: float
    near: float
    held: float
    width: float
    low: float
    high: float


def strengths(world: World, candidates: int) -> Array:
    """Logits with which the first wins as often as it should, by bisection over one large draw each."""
    first = _strength(world, SECOND)
    rest = _strength(world, REST)
    return np.array([first, 0.0, *[first - rest] * (candidates - 2)])


def _strength(world: World, share: float) -> float:
    low, high = 0.0, 8.0
    for _ in range(16):
        middle = (low + high) / 2
        y = worlds.draw(world, "led", 2, 1, 60_000, np.random.default_rng(5), np.array([middle, 0.0]))
        low, high = (middle, high) if float(np.nanmean(y)) < share else (low, middle)
    return (low + high) / 2


def kept(world: World, candidates: int, documents: int, count: int, seed: int = 11) -> Kept:
    """`count` runs in which the lead is there, and as many of level candidates."""
    random = np.random.default_rng([seed, candidates, documents])
    lead = strengths(world, candidates)
    spoken = worlds.spoken(world, "led", candidates, documents, count, random, lead)
    y = worlds.averaged(spoken)
    best = _best(spoken, candidates)
    # With ties, half a win is no flip.
    found = float(((best if world.ties else _trusted(spoken, best, candidates)) == 0).mean())
    level = worlds.draw(world, "led", candidates, documents, count, random, np.zeros(candidates))
    said = [_said(one, candidates, documents) for one in y[: max(100, count // 5)]]
    said_level = [_said(one, candidates, documents) for one in level[: max(100, count // 5)]]
    every = np.array([*said, *said_level])
    near = float((np.abs(every[:, 0] - found) <= 0.05).mean())
    held = float(((every[:, 1] <= found) & (found <= every[:, 2])).mean())
    width = float((every[:, 2] - every[:, 1]).mean())
    mean, mean_level = (float(np.mean([one.likely for one in told])) for told in (said, said_level))
    before = power(documents, candidates, judges=world.judges)
    return Kept(found, mean, mean_level, near, held, width, before.chance, before.chance_high)


def _best(spoken: Array, candidates: int) -> npt.NDArray[np.int64]:
    return vectorised.claims(*vectorised.by_documents(worlds.averaged(spoken), candidates))[1]


def _trusted(spoken: Array, best: npt.NDArray[np.int64], candidates: int) -> npt.NDArray[np.int64]:
    """Who stays best after the doubt about coins, which is decisive if the other judges do not find the same."""
    a, b = np.triu_indices(candidates, 1)
    led = ((a == best[:, None]) | (b == best[:, None]))[:, None, None]
    clear = led & ~np.isnan(spoken)
    agreed = (clear & (spoken != 0.5)).sum(axis=3) / np.where(clear.any(axis=3), clear.sum(axis=3), np.nan)
    useless = (best[:, None] >= 0) & (vectorised.upper_ends(agreed.transpose(0, 2, 1)) < USEFUL)
    some = np.flatnonzero(useless.any(axis=1))
    trusted = best.copy()
    if len(some):
        left = np.where(useless[some][:, :, None, None], np.nan, spoken[some])
        trusted[some] = np.where(_best(left, candidates) == best[some], best[some], -1)
    return trusted


def _said(y: Array, candidates: int, documents: int) -> Chance:
    a, b = np.triu_indices(candidates, 1)
    both = np.full((documents, candidates, candidates), np.nan)
    both[:, a, b], both[:, b, a] = y, 1.0 - y
    return own_power.chance(both, documents, early=False) or Chance(0.0, 0.0, 1.0)


class Needed(NamedTuple):
    """Undecided runs: how many, how many of them were told a range, and in how many of these ranges the number lay with
    which 80 of 100 fresh runs decide, `truth`; and how often fresh runs decided with the ranges' ends, in all."""

    undecided: int
    told: int
    held: int
    at_low: float
    at_high: float
    truth: float


def needed(name: str, candidates: int, documents: int, lead: float, count: int, seed: int = 12) -> Needed:
    """The leader of an undecided run is told how many documents would decide."""
    world = worlds.WORLDS[name]
    curve = _decided(name, candidates, lead, count)
    random = np.random.default_rng([seed, candidates, documents])
    y = worlds.draw(world, "led", candidates, documents, count, random, _led(lead, candidates))
    met, won = vectorised.by_documents(y, candidates)
    best = vectorised.claims(met, won)[1]
    first = np.argmax(np.round((won.sum(axis=3) / np.maximum(met.sum(axis=3), 1)).mean(axis=1), 9), axis=1)
    gaps = vectorised.leads(met, won, first)
    ranges = []
    undecided = np.flatnonzero(best < 0)
    for place in undecided:
        found = _range(gaps[place], int(first[place]), documents)
        if found is not None:
            ranges.append(found)
    truth = float(np.interp(0.8, curve, _GRID[: len(curve)]))
    low, high = np.array(ranges).T if ranges else (np.zeros(0), np.zeros(0))
    return Needed(
        len(undecided),
        len(ranges),
        int(((low <= truth) & (truth <= high)).sum()),
        float(np.interp(low, _GRID[: len(curve)], curve).sum()),
        float(np.interp(high, _GRID[: len(curve)], curve).sum()),
        truth,
    )


def _range(gaps: Array, first: int, documents: int) -> tuple[float, float] | None:
    """As the sentence of the verdict has it: over every lead that is open."""
    rivals = [rival for rival in range(gaps.shape[1]) if rival != first]
    own = {rival: intervals.difference(gaps[:, rival].tolist()) for rival in rivals}
    found = []
    for rival in rivals:
        gap = own[rival]
        low, _ = gap.bounds(intervals.probability(), -1.0, 1.0)
        if low is None or low <= 0:
            found.append(intervals.documents_needed(gap))
    if not found or any(one is None for one in found):
        return None
    least = max(documents + 1, 6)
    known = [one for one in found if one is not None]
    return max(least, *(one[0] for one in known)), max(least, *(one[1] for one in known))


def _led(lead: float, candidates: int) -> Array:
    return np.array([lead, 0.0, *[worlds.REST] * (candidates - 2)])


@cache
def _decided(name: str, candidates: int, lead: float, count: int) -> tuple[float, ...]:
    """How often fresh runs of so many documents, as in the grid, call the first candidate best."""
    found: list[float] = []
    for documents in _GRID:
        cell = np.random.default_rng([77, candidates, documents])
        hits = done = 0
        while done < count:
            size = min(count - done, max(1, 2_000_000 // (documents * candidates**2)))
            y = worlds.draw(worlds.WORLDS[name], "led", candidates, documents, size, cell, _led(lead, candidates))
            hits += int((vectorised.claims(*vectorised.by_documents(y, candidates))[1] == 0).sum())
            done += size
        found.append(max([hits / count, *found]))
        if found[-1] > 0.995:
            break
    return tuple(found)


def power_table(rows: Sequence[tuple[str, int, int, Kept]]) -> str:
    """As Markdown, of 100 runs."""
    lines = [
        "| judges | candidates | documents | before the run | found | said by runs with the lead | by level runs |"
        " within 5 points | range held it | its mean width |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, k, d, one in rows:
        before = f"{100 * min(one.low, one.high):.0f} to {100 * max(one.low, one.high):.0f}"
        lines.append(
            f"| {name} | {k} | {d} | {before} | **{100 * one.found:.0f}** | {100 * one.told:.0f} |"
            f" {100 * one.told_level:.0f} | {100 * one.near:.0f} % | {100 * one.held:.0f} % | {100 * one.width:.0f} |"
        )
    return "\n".join(lines)


def needed_table(rows: Sequence[tuple[str, int, int, float, Needed]]) -> str:
    """As Markdown, in per cent: over the leads and sizes of each world, then over the worlds of each lead."""
    lines = [
        "| over | undecided runs told a range | it held the number | fresh runs at its beginning | at its end |",
        "|---|---:|---:|---:|---:|",
    ]
    kinds = [*((name, [row[-1] for row in rows if row[0] == name]) for name in dict.fromkeys(row[0] for row in rows))]
    kinds += [
        (f"{k} candidates, {d} documents", [row[-1] for row in rows if row[1:3] == (k, d)])
        for k, d in dict.fromkeys((row[1], row[2]) for row in rows)
    ]
    kinds += [
        (f"a lead of {lead} logits", [row[-1] for row in rows if row[3] == lead])
        for lead in dict.fromkeys(row[3] for row in rows)
    ]
    kinds.append(("everything", [row[-1] for row in rows]))
    for name, here in kinds:
        told = sum(one.told for one in here)
        held, low, high = (
            100 * sum(values) / max(told, 1)
            for values in (
                [one.held for one in here],
                [one.at_low for one in here],
                [one.at_high for one in here],
            )
        )
        part = 100 * told / max(sum(one.undecided for one in here), 1)
        lines.append(f"| {name} | {part:.0f} | **{held:.0f}** | {low:.0f} | {high:.0f} |")
    return "\n".join(lines)


def main(count: int) -> None:
    fresh = [
        (name, k, d, kept(world, k, d, count // 4))
        for k, d in FRESH_SIZES
        for name, world in FRESH.items()
        # Runs of two candidates of which verdicts are missing are told no chance.
        if k > 2 or not world.missing
    ]
    print(power_table(fresh), "\n", flush=True)
    rows = [(name, k, d, kept(world, k, d, count)) for k, d in SIZES for name, world in JUDGES.items()]
    print(power_table(rows), "\n", flush=True)
    found = [
        (name, k, d, lead, needed(name, k, d, lead, count * 3 // 10))
        for name in NEEDED_WORLDS
        for k, d in NEEDED_SIZES
        for lead in NEEDED_LEADS
    ]
    print(needed_table(found))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
