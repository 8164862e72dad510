"""Simulated changes of a candidate: worse by hardly more than the margin, or equal, in worlds of several kinds."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from carrel.evaluation.gate import Differences, ToldGap, decide, settled
from carrel.evaluation.statistics.noninferiority import Outcome

MARGIN = 0.05
BEYOND = 0.0505
"""How much worse a truly worse candidate is: hardly more than the margin, which is the hardest case."""
DOCUMENTS = (20, 60, 150, 400)

Draw = Callable[[np.random.Generator, int, float], list[float]]


class World(NamedTuple):
    """`draw` gives the differences of so many documents, with a true mean of minus the last argument.

    `gone` are the chances that what is said of a document is missing: where the candidate lost, where it won, and else.
    """

    name: str
    draw: Draw
    reach: float
    gone: tuple[float, float, float] = (0.0, 0.0, 0.0)


def _only_falls(random: np.random.Generator, documents: int, worse: float) -> list[float]:
    return [-float(one) for one in random.random(documents) < worse]


def _both_ways(random: np.random.Generator, documents: int, worse: float) -> list[float]:
    draws = random.random(documents)
    return [-1.0 if one < 0.1 + worse else 1.0 if one > 0.9 else 0.0 for one in draws]


def _rises_often_falls_far(random: np.random.Generator, documents: int, worse: float) -> list[float]:
    """Most shares rise a little, and a few answers fail altogether."""
    fails = random.random(documents) < 0.08
    rises = np.full(documents, (0.08 - worse) / 0.92)
    return [float(one) for one in np.where(fails, -1.0, rises)]


def _shares(random: np.random.Generator, documents: int, worse: float) -> list[float]:
    return [float(one) for one in np.clip(random.normal(-worse, 0.15, documents), -1.0, 1.0)]


def _judged(random: np.random.Generator, documents: int, worse: float) -> list[float]:
    """Win shares of a judge that calls four pairs in ten a tie."""
    return [float(one) for one in random.choice([-0.5, 0.0, 0.5], documents, p=[0.3 + worse, 0.4, 0.3 - worse])]


WORLDS = (
    World("passes become failures only", _only_falls, 1.0),
    World("passes and failures change both ways", _both_ways, 1.0),
    World("most rise a little, few fail altogether", _rises_often_falls_far, 1.0),
    World("shares, nearly normal", _shares, 1.0),
    World("a judge with ties", _judged, 0.5),
    World("a judge with ties, 40 % of defeats missing", _judged, 0.5, (0.4, 0.0, 0.0)),
    World("a judge with ties, 40 % of wins missing", _judged, 0.5, (0.0, 0.4, 0.0)),
    World("shares, one in twenty missing by chance", _shares, 1.0, (0.05, 0.05, 0.05)),
)


class Told(NamedTuple):
    """How often each outcome came, of so many changes."""

    world: str
    documents: int
    of: int
    outcomes: dict[Outcome, int]

    def share(self, *outcomes: Outcome) -> float:
        """The part of these outcomes."""
        return sum(self.outcomes.get(one, 0) for one in outcomes) / self.of


def told(world: World, documents: int, worse: float, changes: int, sources: int = 1) -> Told:
    """Simulate so many changes; `sources` decide together, each with documents of its own draw."""
    random = np.random.default_rng([documents, sources, round(1e6 * worse), WORLDS.index(world)])
    outcomes: dict[Outcome, int] = {}
    for _ in range(changes):
        found = decide("new", "today", MARGIN, list(_drawn(world, random, documents, worse, sources)), {}).outcome
        outcomes[found] = outcomes.get(found, 0) + 1
    return Told(world.name, documents, changes, outcomes)


def _drawn(
    world: World, random: np.random.Generator, documents: int, worse: float, sources: int
) -> Iterator[Differences]:
    for number in range(sources):
        said, missing = {}, 0
        for place, value in enumerate(world.draw(random, documents, worse)):
            lost, won, else_ = world.gone
            is_missing = random.random() < (lost if value < 0 else won if value > 0 else else_)
            missing += is_missing
            ends = (None, -world.reach, world.reach) if is_missing else (value, value, value)
            said[f"d{place}"] = [ToldGap(1.0, *ends)]
        found = Differences("check", f"check {number}", {}, world.reach, decides=True)
        yield settled(found, said, missing)
