"""Judges that nobody should trust: how often somebody is called best by them, before and after Carrel's doubts.

    python -m tests.evaluation.judged 2000

prints the tables of `docs/coverage` for so many tournaments a row. In all worlds but the last three no candidate is
better than another, so whoever is called best is called so wrongly. In the last three the first one is better and the
judges are sound: there a doubt does harm.
"""

import sys
from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

import msgspec
import numpy as np

from carrel.evaluation.judges.trust import weighed
from carrel.evaluation.ranking.ranking import Ranking, decide, rank
from carrel.evaluation.ranking.stopping import Decision
from carrel.evaluation.records import Verdict
from tests.evaluation import simulated, vectorised
from tests.evaluation.coverage import Rate
from tests.evaluation.simulated import Tournaments
from tests.evaluation.vectorised import Array, logistic

CANDIDATES = "ABC"
FAMILIES = {"A": "a", "B": "b", "C": "c"}
OTHERS = "d"
"""A family that no candidate has."""


class Judged(NamedTuple):
    """`own` is the family of all judges; `length` what a logarithm of the texts' lengths adds, which are A's by a half
    more on average; `family` what they add to A."""

    judges: int = 1
    own: str = OTHERS
    strengths: tuple[float, ...] = (0.0, 0.0, 0.0)
    flips: float = 0.0
    tosses: bool = False
    opposed: bool = False
    family: float = 0.0
    length: float = 0.0
    longer: float = 0.0


WORLDS: dict[str, Judged] = {
    "every verdict flips": Judged(flips=1.0),
    "nine of ten verdicts flip": Judged(flips=0.9, family=3.0),
    "a coin for every order": Judged(tosses=True),
    "three coins": Judged(judges=3, tosses=True),
    "two judges that contradict each other, α near −.5": Judged(judges=2, opposed=True, family=2.0),
    "two judges that contradict each other by more": Judged(judges=2, opposed=True, family=3.0),
    "all judges of A's family": Judged(judges=2, own="a", family=1.5),
    "a judge of length alone, A longer": Judged(length=2000.0, longer=0.5),
    "a judge of length with a little noise, A longer": Judged(length=40.0, longer=0.5),
    "sound judge, A better": Judged(strengths=(1.2, 0.0, 0.0)),
    "three sound judges, A better": Judged(judges=3, strengths=(1.2, 0.0, 0.0)),
    "sound judge, A better and longer": Judged(strengths=(1.2, 0.0, 0.0), longer=0.5),
}
SIZES = (12, 20)


class Row(NamedTuple):
    """Who was called best before the doubts and after them, and in how many runs there was any doubt."""

    before: Rate
    after: Rate
    doubted: Rate


def draw(world: Judged, documents: int, count: int, random: np.random.Generator) -> tuple[Tournaments, Array]:
    """What the judges said, and the lengths of the answers by tournament, document and candidate."""
    a, b = np.array(list(combinations(range(3), 2))).T
    shape = count, world.judges, documents, 3
    logs = random.normal(0.0, 0.4, (count, documents, 3)) + np.array([world.longer, 0.0, 0.0])
    lengths = np.rint(1000 * np.exp(logs))
    moved = np.array(world.strengths) + np.array([world.family, 0.0, 0.0]) + world.length * logs[:, None]
    moved = moved + random.normal(0.0, 0.7, (count, 1, documents, 3)) + random.normal(0.0, 0.4, shape)
    ahead = moved[..., a] - moved[..., b]
    ab = random.random(ahead.shape) < logistic(np.clip(ahead * 3, -500, 500))
    ba = np.where(random.random(ahead.shape) < 0.9, ab, random.random(ahead.shape) < 0.5)
    if world.tosses:
        ab, ba = random.random(ahead.shape) < 0.5, random.random(ahead.shape) < 0.5
    if world.opposed:
        # The second says the opposite of the first in four of five pairs.
        ab[:, 1] = np.where(random.random(ab[:, 0].shape) < 0.8, ~ab[:, 0], ab[:, 0])
        ba = ab.copy()
    turned = random.random(ahead.shape) < world.flips
    return Tournaments(ab, np.where(turned, ~ab, ba), np.ones(ab.shape, dtype=bool)), lengths


def run(world: Judged, documents: int, count: int, seed: int) -> Row:
    """The ranking over arrays says who might be best; by these, the service's own rules say what they doubt."""
    made, lengths = draw(world, documents, count, np.random.default_rng([seed, documents]))
    best = vectorised.claims(*vectorised.by_documents(made.shares(), 3))[1]
    right = max(world.strengths) > 0
    claimed = np.flatnonzero(best == 0 if right else best >= 0)
    after = [weigh(world, made, lengths, int(place)) for place in claimed]
    sample = [place for place in range(min(count, 200)) if place not in set(claimed.tolist())]
    silent = [weigh(world, made, lengths, place) for place in sample]
    doubted = [bool(one.distrust) for one in [*after, *silent]]
    return Row(
        Rate(len(claimed), count),
        Rate(sum(1 for one in after if one.best is not None), count),
        Rate(sum(doubted), len(doubted)),
    )


def weigh(world: Judged, made: Tournaments, lengths: Array, tournament: int) -> Ranking:
    """One tournament through `rank` and the doubts, as a run does."""
    _, told = simulated.told(made, tournament)
    verdicts = [_measured(one, lengths[tournament]) for one in told]

    def again(weights: Mapping[str, float]) -> Decision:
        return decide(CANDIDATES, verdicts, weights, None)

    judges = {f"j{judge}": world.own for judge in range(world.judges)}
    return weighed(rank(CANDIDATES, verdicts), verdicts, (), FAMILIES, judges, again)


def _measured(verdict: Verdict, lengths: Array) -> Verdict:
    ours = lengths[int(verdict.document[1:])]
    a, b = (int(ours[CANDIDATES.index(one)]) for one in (verdict.a, verdict.b))
    return msgspec.structs.replace(verdict, a_length=a, b_length=b)


def table(rows: Mapping[tuple[str, int], Row]) -> str:
    """As Markdown, in per cent."""
    lines = ["| judges | documents | “best” before | with the doubts | any doubt |", "|---|---:|---:|---:|---:|"]
    lines += [
        f"| {name} | {documents} | {row.before} | **{row.after}** | {row.doubted} |"
        for (name, documents), row in rows.items()
    ]
    return "\n".join(lines)


def main(count: int) -> None:
    print(table({(name, d): run(world, d, count, 2026) for name, world in WORLDS.items() for d in SIZES}))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
