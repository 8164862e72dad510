"""Runs whose answers are classes: how often level candidates are told apart, and whether intervals of macro F1 hold.

Every world has two candidates at the top that are exactly level in what the verdict is about: the errors of one are
spread over all classes, those of the other may all be in the rarest one. So whoever is called best is so by chance.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from carrel.evaluation.ranking import by_checks
from carrel.evaluation.ranking.grouping import Groups
from carrel.evaluation.ranking.ranking import Measure, Ranking, rank
from carrel.evaluation.records import Mark
from carrel.evaluation.statistics import f_scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class World(NamedTuple):
    """How many classes, how much of all documents is of the first one (the others share the rest), and who errs where.

    `rate` is how often candidates err; of the first, all errors are in the rarest class if it is `lopsided`.
    """

    classes: int
    first: float
    rate: float
    lopsided: bool = False

    @property
    def shares(self) -> "Floats":
        import numpy as np

        rest = (1.0 - self.first) / (self.classes - 1)
        return np.array([self.first] + [rest] * (self.classes - 1))

    def confusion(self, rates: "Floats") -> "Floats":
        """The probability of each pair of class and answer, if an error may name any other class."""
        import numpy as np

        found = np.repeat((self.shares * rates / (self.classes - 1))[:, None], self.classes, axis=1)
        np.fill_diagonal(found, self.shares * (1.0 - rates))
        return found


def macro_f1(confusion: "Floats") -> float:
    hits = confusion.diagonal()
    return float((2.0 * hits / (confusion.sum(axis=0) + confusion.sum(axis=1))).mean())


def level_rates(world: World, measure: Measure) -> tuple["Floats", "Floats"]:
    """How often the two best err in each class, so that they are level."""
    import numpy as np

    spread = np.full(world.classes, world.rate)
    if not world.lopsided:
        return spread, spread

    def reached(rate: float) -> float:
        return macro_f1(world.confusion(one_class(rate))) if measure == "macro_f1" else 1.0 - rate * world.shares[-1]

    def one_class(rate: float) -> "Floats":
        return np.array([0.0] * (world.classes - 1) + [rate])

    target = macro_f1(world.confusion(spread)) if measure == "macro_f1" else 1.0 - world.rate
    low, high = 0.0, 1.0
    if reached(1.0) > target:  # Even if it always errs there, it is better: then the other has to err less.
        return one_class(1.0), _spread_for(world, measure, reached(1.0))
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if reached(middle) > target else (low, middle)
    return one_class(low), spread


def _spread_for(world: World, measure: Measure, target: float) -> "Floats":
    import numpy as np

    low, high = 0.0, world.rate
    for _ in range(60):
        middle = (low + high) / 2.0
        even = np.full(world.classes, middle)
        reached = macro_f1(world.confusion(even)) if measure == "macro_f1" else 1.0 - middle
        low, high = (middle, high) if reached > target else (low, middle)
    return np.full(world.classes, low)


def drawn(
    world: World, rates: "Floats", expected: "NDArray[np.int64]", draw: "np.random.Generator"
) -> "NDArray[np.int64]":
    """The answers to documents of these classes."""
    import numpy as np

    wrong = draw.random(len(expected)) < rates[expected]
    other = (expected + draw.integers(1, world.classes, len(expected))) % world.classes
    return np.where(wrong, other, expected)


def tournaments(
    world: World, measure: Measure, candidates: int, documents: int, count: int, seed: int
) -> Iterator[Ranking]:
    """Rankings of runs whose first two candidates are level; the others err half as often again."""
    import numpy as np

    draw = np.random.default_rng(seed)
    first, second = level_rates(world, measure)
    rates = [first, second, *[np.minimum(1.0, 1.5 * second + 0.02)] * (candidates - 2)]
    names = [f"c{i}" for i in range(candidates)]
    nobody = rank(names, [])
    for _ in range(count):
        expected = draw.choice(world.classes, documents, p=world.shares)
        numbers = {one: place for place, one in enumerate(sorted(set(expected.tolist())))}
        if len(numbers) < 2:
            continue
        marks = []
        for name, rate in zip(names, rates, strict=True):
            answers = drawn(world, rate, expected, draw)
            for place, (one, answer) in enumerate(zip(expected.tolist(), answers.tolist(), strict=True)):
                mark = Mark(document=f"d{place}", candidate=name, value=float(one == answer))
                marks.append(replace(mark, expected=numbers[one], answer=numbers.get(answer)))
        yield by_checks.rank(names, marks, measure, nobody, Groups())


def covered(world: World, documents: int, count: int, seed: int) -> float:
    """How often the interval of macro F1 holds what the candidate truly reaches, where every class is there."""
    import numpy as np

    draw = np.random.default_rng(seed)
    rates, _ = level_rates(world, "macro_f1")
    truth = macro_f1(world.confusion(rates))
    held = of = 0
    for _ in range(count):
        expected = draw.choice(world.classes, documents, p=world.shares)
        if len(set(expected.tolist())) < world.classes:
            continue
        answers = drawn(world, rates, expected, draw)
        found = f_scores.scores(
            f_scores.Classified(range(documents), expected.tolist(), answers.tolist()), world.classes
        )
        low, high = f_scores.macro_interval(found)
        held += low <= truth <= high
        of += 1
    return held / of if of else float("nan")


WORLDS = (
    *((2, 0.5, d, r) for d, r in ((20, 0.2), (20, 0.05), (50, 0.1), (200, 0.1))),
    *((2, 0.95, d, r) for d, r in ((20, 0.05), (20, 0.2), (50, 0.05), (100, 0.1), (500, 0.05))),
    (3, 0.9, 100, 0.1),
    *((5, 0.2, d, r) for d, r in ((20, 0.2), (50, 0.2), (50, 0.05), (200, 0.1))),
    *((5, 0.8, d, 0.1) for d in (100, 200)),
    *((10, 0.1, d, r) for d, r in ((100, 0.2), (100, 0.05), (500, 0.1))),
    *((20, 0.05, d, r) for d, r in ((100, 0.2), (200, 0.2), (200, 0.05), (500, 0.1))),
    (20, 0.5, 500, 0.1),
)
"""Classes, the share of the first, documents, and how often candidates err."""
