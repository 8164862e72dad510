"""Level candidates of whom one leads narrowly nearly everywhere and fails rarely: how often is one of them called best?

    python -m tests.evaluation.lopsided 2000

prints the table of `docs/coverage` for so many tournaments a cell. Each world says who won how much of each comparison;
the first two candidates are level, so that whoever is called best is called so wrongly. Beside the rule stands what it
would say if no failure were asked for.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from tests.evaluation import vectorised
from tests.evaluation.coverage import Rate
from tests.evaluation.vectorised import Array, logistic

DOCUMENTS = (5, 6, 8, 12, 17, 20, 30, 50, 100)
MOST = 0.055
_AT_ONCE = 300_000

Draw = Callable[[np.random.Generator, int, int], Array]
"""By tournament, document and pair, from so many of each."""


class World(NamedTuple):
    """So many candidates, judged by so many."""

    candidates: int
    judges: int
    draw: Draw


def _mixed(parts: tuple[tuple[float, float], ...], random: np.random.Generator, count: int, documents: int) -> Array:
    """Two candidates: each lead with its chance."""
    leads, chances = np.array(parts).T
    drawn = random.choice(leads, (count, documents), p=chances / chances.sum())
    return np.asarray((1.0 + drawn) / 2.0)[:, :, None]


def _level(*leads: float, rare: float = -1.0) -> Draw:
    """These leads, equally often, and a rare one that makes their mean 0."""
    usual = sum(leads) / len(leads)
    part = usual / (usual - rare)
    return partial(_mixed, (*((lead, (1.0 - part) / len(leads)) for lead in leads), (rare, part)))


def _steady(candidates: int, part: float, random: np.random.Generator, count: int, documents: int) -> Array:
    """One order on all documents, but for the part on which the first is last."""
    a, b = np.triu_indices(candidates, 1)
    strengths = np.broadcast_to(-np.arange(candidates, dtype=float), (count, documents, candidates)).copy()
    strengths[..., 0] -= 2.0 * candidates * (random.random((count, documents)) < part)
    return np.asarray(strengths[..., a] > strengths[..., b], dtype=float)


def _quarter(random: np.random.Generator, count: int, documents: int) -> Array:
    """A judge flips on A and B and on B and C, not on A and C; on a fifth of the documents A loses to both."""
    y = np.broadcast_to([0.5, 1.0, 0.5], (count, documents, 3)).copy()
    y[random.random((count, documents)) < 0.2] = (0.0, 0.0, 1.0)
    return y


def _noisy(candidates: int, part: float, random: np.random.Generator, count: int, documents: int) -> Array:
    """A judge that decides anew. Where the first fails, the second wins; elsewhere the first leads by as much."""
    a, b = np.triu_indices(candidates, 1)
    low, high = 0.0, 12.0
    rest = np.full(candidates, -0.4)
    for _ in range(50):
        rest[:2] = (low + high) / 2.0, 0.0
        wins = logistic(rest[:, None] - rest[None]) * (1.0 - np.eye(candidates))
        ahead = (1.0 - part) * (wins[0].sum() - wins[1].sum()) / (candidates - 1) - part
        low, high = (rest[0], high) if ahead < 0 else (low, rest[0])
    moved = rest + random.normal(0.0, 0.3, (count, documents, candidates))
    y = random.binomial(2, logistic(moved[..., a] - moved[..., b])) / 2
    fails = (random.random((count, documents)) < part)[..., None]
    return np.where(fails & (a == 0), 0.0, np.where(fails & (a == 1), 1.0, y))


def _panel(judges: int, part: float, random: np.random.Generator, count: int, documents: int) -> Array:
    """Judges who prefer the first a little more often, and hardly ever on a part of the documents."""
    usual = (0.5 - 0.03 * part) / (1.0 - part)
    chance = np.where(random.random((count, documents)) < part, 0.03, usual)
    return np.asarray(random.binomial(judges, chance) / judges)[:, :, None]


def _skewed(random: np.random.Generator, count: int, documents: int) -> Array:
    """Scores: the lead is what is usual less a lognormal loss."""
    loss = np.minimum(random.lognormal(-2.0, 1.0, (count, documents)), 1.0)
    usual = np.minimum(np.random.default_rng(1).lognormal(-2.0, 1.0, 1_000_000), 1.0).mean()
    return np.asarray((1.0 + usual - loss) / 2.0)[:, :, None]


WORLDS: dict[str, World] = {
    "2 of 3 judges, rarely none": World(2, 3, _level(1 / 3)),
    "3 of 5 judges, rarely none": World(2, 5, _level(1 / 5)),
    "5 of 9 judges, rarely none": World(2, 9, _level(1 / 9)),
    "a quarter ahead of one of three, fails on a fifth": World(3, 1, _quarter),
    "first of 20 on 95 %, else last": World(20, 1, partial(_steady, 20, 0.05)),
    "first of 10 on 90 %, else last": World(10, 1, partial(_steady, 10, 0.1)),
    "first of 5 on 80 %, else last": World(5, 1, partial(_steady, 5, 0.2)),
    "noise, and fails on 15 % of 3": World(3, 1, partial(_noisy, 3, 0.15)),
    "noise, and fails on 10 % of 5": World(5, 1, partial(_noisy, 5, 0.1)),
    "noise, and fails on 10 % of 10": World(10, 1, partial(_noisy, 10, 0.1)),
    "noise, and fails on 5 % of 20": World(20, 1, partial(_noisy, 20, 0.05)),
    "seven judges, 5 % failures": World(2, 7, partial(_panel, 7, 0.05)),
    "nine judges, 20 % failures": World(2, 9, partial(_panel, 9, 0.2)),
    "ties or a win of 2 of 4 judges, rarely none": World(2, 4, _level(0.0, 0.5)),
    "half a failure": World(2, 4, _level(0.25, rare=-0.5)),
    "rare wins": World(2, 5, _level(-1 / 5, rare=1.0)),
    "scores with a long lower tail": World(2, 1, _skewed),
}


class Outcome(NamedTuple):
    """How often one of two level candidates is called best, by the rule and if no failure were asked for."""

    ours: Rate
    without: Rate


def run(name: str, documents: int, count: int, seed: int) -> Outcome:
    """So many tournaments of a world."""
    world = WORLDS[name]
    random = np.random.default_rng([seed, list(WORLDS).index(name), documents])
    ours = without = Rate()
    most = max(1, _AT_ONCE // (documents * world.candidates**2))
    for size in [most] * (count // most) + [count % most]:
        if size:
            met, won = vectorised.by_documents(world.draw(random, size, documents), world.candidates)
            both = [vectorised.claims(met, won, failures=asked)[1] >= 0 for asked in (True, False)]
            ours, without = (rate.plus((int(b.sum()), size)) for rate, b in zip((ours, without), both, strict=True))
    return Outcome(ours, without)


def table(results: dict[tuple[str, int], Outcome]) -> str:
    """As Markdown, in per cent: by the rule, and without failures."""
    columns = sorted({documents for _, documents in results})
    lines = [f"| world | {' | '.join(f'D = {d}' for d in columns)} |", "|---|" + "---:|" * len(columns)]
    for name in dict.fromkeys(name for name, _ in results):
        cells = [f"**{results[name, d].ours}** / {results[name, d].without}" for d in columns]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    pooled = Rate()
    for one in results.values():
        pooled = pooled.plus((one.ours.hits, one.ours.of))
    worst = max(results, key=lambda key: results[key].ours.share)
    lines.append(f"\nall {len(results)} cells: {pooled}; greatest {results[worst].ours} ({worst[0]}, D = {worst[1]})")
    return "\n".join(lines)


def main(count: int) -> None:
    print(table({(name, d): run(name, d, count, 2026) for name in WORLDS for d in DOCUMENTS}))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
