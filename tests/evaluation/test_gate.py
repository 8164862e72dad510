"""Whether a candidate is worse: what several sources say together, and how often that is wrong."""

import pytest

from carrel.evaluation.gate import Differences, decide
from tests.evaluation.changes import BEYOND, DOCUMENTS, WORLDS, World, told
from tests.support.soak import Figure, size

CHANGES = 2_000
SHORT = 30
ERROR = 0.05
SLACK = 0.0085
"""Two standard errors of a share of 5 % in 2,000, and what a saddlepoint is off by."""


def of(kind: str, values: list[float], *, decides: bool = True, name: str = "") -> Differences:
    return Differences(kind, name, {f"d{n}": value for n, value in enumerate(values)}, 1.0, decides)  # type: ignore[arg-type]


def test_every_source_that_decides_has_to_agree() -> None:
    good, open_ = of("scores", [0.0] * 100), of("required", [0.0] * 30)
    assert decide("new", "today", 0.05, [good], {}).outcome == "not_worse"
    found = decide("new", "today", 0.05, [good, open_], {})
    assert (found.outcome, found.needed) == ("undecided", 99)
    assert found.sentence == (
        "Whether new is worse than today by 5 points cannot be told: the share that passes every required check differs"
        " by 0.0 (−9.5 to +9.5) on 30 documents. About 99 documents would tell."
    )


def test_any_source_may_show_that_it_is_worse() -> None:
    fallen = of("check", [-1.0] * 20 + [0.0] * 80, decides=False, name="json")
    found = decide("new", "today", 0.05, [of("scores", [0.0] * 100), fallen], {})
    assert found.outcome == "worse"
    assert found.sentence.startswith("By a single check, new is worse than today: the check json differs by −20.0 (")
    level = of("check", [0.0] * 10, decides=False)
    assert decide("new", "today", 0.05, [of("scores", [0.0] * 100), level], {}).outcome == "not_worse"


def test_without_a_document_of_both_nothing_can_be_told() -> None:
    found = decide("new", "today", 0.05, [of("scores", [])], {})
    assert (found.outcome, found.needed) == ("undecided", None)
    assert "How many documents would tell is not known yet." in found.sentence
    assert decide("new", "today", 0.05, [], {}).outcome == "undecided"


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_the_promises_hold_in_a_few_simulated_changes(world: World) -> None:
    """Of 30 changes with an error of 5 %, more than 5 are wrong in less than one run of two hundred."""
    assert told(world, 60, BEYOND, SHORT).share("not_worse", "better") <= 5 / SHORT
    assert told(world, 60, 0.0, SHORT, sources=2).share("worse") <= 5 / SHORT


@pytest.mark.soak(campaign="gate")
@pytest.mark.parametrize("documents", DOCUMENTS)
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_the_promises_hold_in_many_simulated_changes(world: World, documents: int, figure: Figure) -> None:
    changes = size(CHANGES)
    wrong = {}
    for sources in (1, 3):
        worse = told(world, documents, BEYOND, changes, sources)
        equal = told(world, documents, 0.0, changes, sources)
        wrong[sources] = (worse.share("not_worse", "better"), equal.share("worse"))
        figure(
            f"{world.name}, {documents} documents, {sources} sources",
            changes=changes,
            worse_called_not_worse=worse.share("not_worse", "better"),
            worse_found=worse.share("worse"),
            equal_called_worse=equal.share("worse"),
            equal_passed=equal.share("not_worse", "better"),
        )
    assert max(map(max, wrong.values())) <= ERROR + SLACK * (CHANGES / changes) ** 0.5
