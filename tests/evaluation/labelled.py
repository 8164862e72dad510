"""Runs whose answers are classes: how often level candidates are told apart, and whether intervals of macro F1 hold.

Every world has two candidates at the top that are exactly level in what the verdict is about: the errors of one are
spread over all classes, those of the other may all be in the rarest one. So whoever is called best is so by chance.

    python -m tests.evaluation.labelled 2000

prints the tables of `docs/coverage` for so many runs of each kind.
"""

import sys
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from carrel.evaluation.ranking import by_checks
from carrel.evaluation.ranking.grouping import Groups
from carrel.evaluation.ranking.ranking import Measure, Ranking, rank
from carrel.evaluation.records import Mark
from carrel.evaluation.statistics import f_scores
from tests.evaluation import vectorised
from tests.evaluation.coverage import Rate

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

    wrong = draw.random(expected.shape) < rates[expected]
    other = (expected + draw.integers(1, world.classes, expected.shape)) % world.classes
    return np.where(wrong, other, expected)


class Answers(NamedTuple):
    """By tournament and document: the class, and by candidate besides: which one was named."""

    expected: "NDArray[np.int64]"
    given: "NDArray[np.int64]"


def tournaments(world: World, measure: Measure, candidates: int, documents: int, count: int, seed: int) -> Answers:
    """Runs whose first two candidates are level; the others err half as often again."""
    import numpy as np

    draw = np.random.default_rng([seed, documents, candidates])
    first, second = level_rates(world, measure)
    rates = [first, second, *[np.minimum(1.0, 1.5 * second + 0.02)] * (candidates - 2)]
    expected = draw.choice(world.classes, (count, documents), p=world.shares)
    expected = expected[(expected != expected[:, :1]).any(axis=1)]
    given = np.stack([drawn(world, rate, expected, draw) for rate in rates], axis=2)
    return Answers(expected, given)


def ranked(made: Answers, tournament: int, measure: Measure) -> Ranking:
    """As a run is ranked."""
    expected = made.expected[tournament].tolist()
    numbers = {one: place for place, one in enumerate(sorted(set(expected)))}
    names = [f"c{i}" for i in range(made.given.shape[2])]
    marks = []
    for name, answers in zip(names, made.given[tournament].T.tolist(), strict=True):
        for place, (one, answer) in enumerate(zip(expected, answers, strict=True)):
            mark = Mark(document=f"d{place}", candidate=name, value=float(one == answer))
            marks.append(replace(mark, expected=numbers[one], answer=numbers.get(answer)))
    return by_checks.rank(names, marks, measure, rank(names, []), Groups())


def best(made: Answers, measure: Measure) -> "NDArray[np.int64]":
    """Who is called best, -1 for nobody: the same rule over arrays."""
    import numpy as np

    expected, given = made
    classes = 1 + int(max(expected.max(), given.max()))
    often = (expected[:, :, None] == np.arange(classes)).sum(axis=1)
    usual = np.broadcast_to(often.argmax(axis=1)[:, None, None], (*expected.shape, 1))
    right = (given := np.concatenate([given, usual], axis=2)) == expected[:, :, None]
    values = right.astype(float)
    if measure == "macro_f1":
        values = _added(expected, given, right, often)
    centre = np.round(values[:, :, :-1].mean(axis=1), 9)
    first = centre.argmax(axis=1)
    alone = (centre == centre.max(axis=1)[:, None]).sum(axis=1) == 1
    return np.where(vectorised.ahead_of_all(values, first) & alone, first, -1)


def _added(
    expected: "NDArray[np.int64]", given: "NDArray[np.int64]", right: "NDArray[np.bool_]", often: "NDArray[np.int64]"
) -> "Floats":
    """What each answer adds to macro F1 over the classes that are there, in units of the furthest that one can."""
    import numpy as np

    known, documents = often > 0, expected.shape[1]
    classes = known.sum(axis=1)[:, None]
    lines = np.arange(len(often))[:, None] * often.shape[1]
    f1s, shares = [], []
    for candidate in range(given.shape[2]):
        named = (given[:, :, candidate] + lines).ravel()
        said, hit = (
            np.bincount(named, of, often.size).reshape(often.shape) for of in (None, right[:, :, candidate].ravel())
        )
        said = np.maximum((often + said) * known, 1)
        f1s.append(2.0 * hit / said * known)
        shares.append(documents / said / classes)
    own = np.stack(f1s[:-1])
    best_two = np.argsort((own.sum(axis=2) / classes[:, 0]), axis=0, kind="stable")[-2:]
    middle = np.take_along_axis(own, best_two[:, :, None], axis=0).mean(axis=0)
    values = np.empty(given.shape)
    for candidate, share in enumerate(shares):
        which = expected, given[:, :, candidate]
        lost = sum(np.take_along_axis(middle * share, one, axis=1) for one in which)
        gain = 2.0 * np.take_along_axis(share, expected, axis=1) * right[:, :, candidate]
        values[:, :, candidate] = middle.sum(axis=1)[:, None] / classes + gain - lost
    least = np.where(known, often, documents).min(axis=1)[:, None]
    reach: Floats = np.maximum(1.0, documents / (classes * least))
    return np.asarray(values / reach[:, :, None])


def of_checks(candidates: int, documents: int, count: int, seed: int, rate: float = 0.1) -> "NDArray[np.int64]":
    """Who is called best by four checks: the first fails them one by one, the second all at once and as many."""
    import numpy as np

    draw = np.random.default_rng([seed, documents, candidates])
    rates = np.array([rate] * 2 + [1.5 * rate + 0.02] * (candidates - 2))
    fails = draw.random((count, documents, candidates, 4)) < rates[:, None]
    fails[:, :, 1] = fails[:, :, 1, :1]
    values = 1.0 - fails.mean(axis=3)
    centre = np.round(values.mean(axis=1), 9)
    first = centre.argmax(axis=1)
    alone = (centre == centre.max(axis=1)[:, None]).sum(axis=1) == 1
    return np.where(vectorised.ahead_of_all(values, first) & alone, first, -1)


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

LEVEL = (
    World(2, 0.5, 0.15),
    World(2, 0.95, 0.04, lopsided=True),
    World(5, 0.2, 0.1, lopsided=True),
    World(5, 0.8, 0.1),
    World(10, 0.1, 0.2),
    World(20, 0.05, 0.1, lopsided=True),
    World(20, 0.5, 0.1),
)
"""Worlds in which two candidates are level."""
CHECKED = (0.02, 0.1, 0.3)
CANDIDATES = (2, 3, 5, 10)
DOCUMENTS = (20, 50, 100, 200, 500)
_AT_ONCE = 250


def called_best(world: World | float, measure: Measure, candidates: int, documents: int, count: int, seed: int) -> Rate:
    """How often somebody is, where two are level; a number is how often one of four checks fails."""
    found = Rate()
    for part in range(0, count, _AT_ONCE):
        size = min(_AT_ONCE, count - part)
        if isinstance(world, World):
            one = best(tournaments(world, measure, candidates, documents, size, seed + part), measure)
        else:
            one = of_checks(candidates, documents, size, seed + part, world)
        found = found.plus((int((one >= 0).sum()), len(one)))
    return found


class Kind(NamedTuple):
    """What a verdict is by, of which world or how often one of four checks fails, and for how many candidates."""

    measure: Measure
    world: World | float
    candidates: int

    def __str__(self) -> str:
        if not isinstance(self.world, World):
            return f"| checks | | | {self.world:.0%} of four, or of all at once | {self.candidates} |"
        errors = f"{self.world.rate:.0%}" + (", or all in one class" if self.world.lopsided else "")
        return f"| {self.measure} | {self.world.classes} | {self.world.first:.0%} | {errors} | {self.candidates} |"


def grid(count: int, seed: int) -> dict[Kind, list[Rate]]:
    """How often somebody is called best, by kind and number of documents."""
    measures: tuple[Measure, ...] = ("accuracy", "macro_f1")
    kinds: list[tuple[Measure, World | float]] = [(measure, world) for measure in measures for world in LEVEL]
    kinds += [("checks", rate) for rate in CHECKED]
    return {
        Kind(measure, world, candidates): [
            called_best(world, measure, candidates, documents, count, seed) for documents in DOCUMENTS
        ]
        for measure, world in kinds
        for candidates in CANDIDATES
    }


def table(found: dict[Kind, list[Rate]]) -> str:
    """As Markdown, in per cent."""
    lines = ["| by | classes | of the first | errors | candidates |" + "".join(f" D = {d} |" for d in DOCUMENTS)]
    lines.append("|---|---:|---:|---|---:|" + "---:|" * len(DOCUMENTS))
    return "\n".join([*lines, *(f"{kind} {' | '.join(map(str, rates))} |" for kind, rates in found.items())])


def held(count: int, seed: int) -> str:
    """How often the interval of macro F1 holds, in per cent."""
    lines = ["| classes | of the first | documents | errors | held |", "|---:|---:|---:|---:|---:|"]
    for classes, first, documents, rate in WORLDS:
        share = covered(World(classes, first, rate), documents, count, seed)
        lines.append(f"| {classes} | {first:.0%} | {documents} | {rate:.0%} | {100 * share:.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(f"{table(grid(int(sys.argv[1]), 2026))}\n\n{held(int(sys.argv[1]), 2026)}")
