"""Which candidate replaces today's: nobody who is worse, and somebody who is as good, at 100 rows."""

import random

from carrel.evaluation import gate, replacement
from carrel.evaluation.gate import Differences, ToldGap
from carrel.evaluation.replacement import Cost, GatedCandidate, Replacement

COSTS = {"today": Cost(2_000, "2027-01-14"), "A": Cost(100, None), "B": Cost(200, None), "C": Cost(None, None)}


def chosen(right: dict[str, float], rows: int, draw: random.Random, margin: float = 0.05) -> Replacement:
    """Candidates that are right so often, beside one of today that is right in 80 %; most rows are easy for all."""
    hard = [draw.random() for _ in range(rows)]
    today = [float(one < 0.8) for one in hard]
    compared = []
    for name, share in right.items():
        own = [float((one if draw.random() < 0.9 else draw.random()) < share) for one in hard]
        by_document = {f"d{i}": mine - theirs for i, (mine, theirs) in enumerate(zip(own, today, strict=True))}
        found = [Differences("checks", "", by_document, 1.0, decides=True)]
        compared.append(GatedCandidate(gate.decide(name, "today", margin, found, {}), found))
    return replacement.choose("today", margin, 10_000, compared, COSTS, {})


def named(right: dict[str, float], rows: int, count: int, margin: float = 0.05) -> list[str | None]:
    draw = random.Random(rows)
    return [chosen(right, rows, draw, margin).chosen for _ in range(count)]


def test_the_cheapest_that_is_not_worse_is_named_with_what_it_saves() -> None:
    draw = random.Random(1)
    found = chosen({"C": 0.95, "B": 0.95, "A": 0.5}, 400, draw)
    assert found.sentence == (
        "B is the cheapest that is not worse than today by 5 points or more. 1,000 answers cost $0.20 instead of $2.00,"
        " which saves $18.00 a month at 10,000 calls. today is switched off on 2027-01-14."
    )
    assert [(one.candidate, one.holds) for one in found.options] == [("A", False), ("B", True), ("C", True)]
    nobody = chosen({"A": 0.5}, 100, draw)
    assert nobody.sentence.startswith("Of no candidate can it be said that it is not worse than today by 5 points")


def test_nobody_worse_is_named_and_somebody_as_good_is_found() -> None:
    worse = named({"A": 0.75, "B": 0.75, "C": 0.75}, 100, 8)
    assert sum(one is not None for one in worse) <= 2
    better = named({"A": 0.75, "B": 0.9}, 100, 8)
    assert better.count("A") <= 2
    assert better.count("B") >= 5


def test_nobody_is_named_whose_defeats_may_be_missing() -> None:
    said = {f"d{n}": [ToldGap(1.0, 0.5, 0.5, 0.5) if n < 40 else ToldGap(1.0, None, -0.5, 0.5)] for n in range(90)}
    judged = Differences("comparisons", "", {}, 0.5, decides=True)
    passing = Differences("required", "", {f"d{n}": 0.0 for n in range(90)}, 1.0, decides=True)
    for found, name in (
        ([gate.settled(judged, said, 50), passing], None),
        ([gate.settled(judged, said, 50, 0.1), passing], "A"),
        # Of the pairs, nothing at all was said.
        ([judged, passing], None),
    ):
        compared = [GatedCandidate(gate.decide("A", "today", 0.05, found, {}), found)]
        assert replacement.choose("today", 0.05, 10_000, compared, COSTS, {}).chosen == name
