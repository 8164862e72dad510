"""When a run looks, how strict it is, and what it says: the same evidence, a stricter judgement."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from carrel.evaluation import verdict
from carrel.evaluation.ranking.ranking import decide, rank
from carrel.evaluation.ranking.stopping import LEAST_DOCUMENTS, LOOKS, Beaten, Look, levels, looks
from carrel.evaluation.records import Verdict
from carrel.evaluation.statistics.quantiles import normal
from tests.evaluation.told import CRITERIA, score, tournaments, verdicts

FEW = settings(max_examples=30, deadline=None)
THIRD = Look(number=3, of=6, before=10, documents=15, planned=30, part=1 / 6)


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        (13, [10, 13]),
        (17, [10, 17]),
        (18, [10, 15, 18]),
        (30, [10, 15, 20, 25, 30]),
        (31, [10, 15, 20, 25, 31]),
        (60, [12, 18, 24, 30, 36, 42, 48, 54, 60]),
        (1000, [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]),
    ],
)
def test_looks_come_every_tenth_of_the_documents_and_a_small_rest_joins_the_last(
    documents: int, expected: list[int]
) -> None:
    assert [look.documents for look in looks(documents)] == expected


@pytest.mark.parametrize("documents", range(LEAST_DOCUMENTS))
def test_a_run_over_fewer_documents_looks_once(documents: int) -> None:
    assert looks(documents) == ()


@pytest.mark.parametrize("documents", [13, 14, 20, 31, 47, 60, 101, 250, 1000])
def test_looks_are_in_order_and_the_first_could_decide(documents: int) -> None:
    found = looks(documents)
    assert 2 <= len(found) <= LOOKS
    assert [look.number for look in found] == list(range(1, len(found) + 1))
    assert [look.is_last for look in found] == [False] * (len(found) - 1) + [True]
    assert [look.before for look in found] == [0, *(look.documents for look in found[:-1])]
    assert all(2.0 ** (1 - look.documents) <= 0.05 * look.part for look in found), "it could decide between two"
    assert all(0.0 < look.part < 1.0 for look in found)


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ((12, 24, 36, 48, 60), None),
        ((10, 15, 20), None),
        ((70,), [0.025]),
    ],
)
def test_the_levels_of_all_looks_together_err_as_often_as_one(
    places: tuple[int, ...], expected: list[float] | None
) -> None:
    found = levels(places)
    if expected is not None:
        assert found == pytest.approx(expected, abs=1e-7)
    random = np.random.default_rng(3)
    steps = random.normal(size=(100_000, len(places))) * np.sqrt(np.diff((0, *places)))
    sums = steps.cumsum(axis=1) / np.sqrt(places)
    past = sums > [normal(1.0 - level) for level in found]
    growth = 4 if places[-1] == 20 else 2
    spent = [0.025 * np.expm1(growth * place / places[-1]) / np.expm1(growth) for place in places]
    for upto, most in enumerate(spent, start=1):
        # Four deviations of 100,000 draws.
        assert past[:, :upto].any(axis=1).mean() == pytest.approx(most, abs=4 * (most / 100_000) ** 0.5)


@pytest.mark.parametrize(
    ("rivals", "documents", "decides"), [(1, 9, True), (1, 8, False), (4, 12, True), (4, 11, False), (4, 8, False)]
)
def test_a_look_decides_nothing_on_documents_that_could_all_agree_by_chance(
    rivals: int, documents: int, decides: bool
) -> None:
    # .025 / 12 is one in 480: eight documents agree by chance once in 256, nine once in 512. The lead over one of four
    # rivals that are level is .625, and .05 / 12 is what missed failures may have: 1.625^−12.
    first = replace(looks(60)[0], documents=documents, part=1 / 12)
    others = "BCDEFGH"[:rivals]
    told = [one for other in others for one in verdicts("A" + other, "a" * documents)]
    told += [one for a, b in combinations(others, 2) for one in verdicts(a + b, "=" * documents)]
    assert rank("A" + others, told).best == "A"
    assert decide("A" + others, told, {}, first).decides is decides


@FEW
@given(tournaments(), st.sampled_from(looks(30)))
def test_a_look_is_as_a_single_one_but_stricter(tournament: tuple[str, list[Verdict]], look: Look) -> None:
    candidates, told = tournament
    once, looked = rank(candidates, told), rank(candidates, told, look=look)
    assert (looked.leaders, looked.groups, looked.counts) == (once.leaders, once.groups, once.counts)
    assert looked.best in (None, once.best)
    assert decide(candidates, told, {}, look).best == looked.best
    for narrow, wide in zip(once.rows, looked.rows, strict=True):
        assert (narrow.candidate, narrow.win_share, narrow.rating) == (wide.candidate, wide.win_share, wide.rating)
        if narrow.low is not None and narrow.high is not None:
            assert wide.low is not None
            assert wide.high is not None
            assert wide.low <= narrow.low <= narrow.high <= wide.high
    for near, far in zip(once.contrasts, looked.contrasts, strict=True):
        assert near.lead == far.lead
        assert (near.low is None and far.low is None) or (far.low or 0.0) <= (near.low or 0.0)


@FEW
@given(tournaments())
def test_a_look_that_spends_everything_is_a_single_one(tournament: tuple[str, list[Verdict]]) -> None:
    candidates, told = tournament
    looked, once = rank(candidates, told, look=replace(THIRD, part=1.0)), rank(candidates, told)
    told_by_tables = dict.fromkeys(("found_chance", "found_chance_low", "found_chance_high"))
    assert replace(looked, look=None, **told_by_tables) == replace(once, **told_by_tables)


def test_scores_alone_decide_nothing_at_a_look() -> None:
    scored = [score(f"d{d}", candidate, mark) for d in range(20) for candidate, mark in (("A", 5), ("B", 1))]
    assert rank("AB", [], scored=scored, criteria=CRITERIA).best == "A"
    assert not decide("AB", [], {}, THIRD).decides


def test_a_run_that_stopped_says_so_and_what_its_intervals_are() -> None:
    told = verdicts("AB", "a" * 15)
    stopped = verdict.state(rank("AB", told, look=replace(THIRD, stopped=True)))
    assert stopped.outcome == "decided"
    assert stopped.sentence == (
        "A is best: it won 100 % of its pairs on 15 documents (repeated 95 % interval 73 % to 100 %)."
        " Stopped after 15 of 30 documents: decided."
    )
    assert stopped.notes == (
        "Intervals are repeated ones: the run looks up to 6 times, and they hold at all its looks together at 95 %"
        " (each at 99.2 %), so they are wider than those of a run that looks once.",
    )


def test_weights_that_undo_the_decision_leave_no_word_of_it() -> None:
    told = verdicts("AB", "a" * 15, "x") + verdicts("AB", "ab" * 7 + "a", "y")
    moved = rank("AB", told, weights={"x": 0.0, "y": 1.0}, look=replace(THIRD, stopped=True), exploratory=True)
    assert "Stopped" not in verdict.state(moved).sentence


def test_who_was_beaten_comes_last_and_counts_as_told_from_the_best() -> None:
    told = verdicts("AB", "a" * 30) + verdicts("AC", "a" * 10) + verdicts("BC", "b" * 10)
    look = replace(looks(30)[-1], beaten=(Beaten("C", "A", 10),))
    found = rank("ABC", told, look=look)
    # C won every comparison with B, and B lost every one: still, C did not go on.
    assert [(row.candidate, row.place, row.documents) for row in found.rows] == [
        ("A", 1, 30),
        ("B", 2, 30),
        ("C", 3, 10),
    ]
    assert [(lead.candidate, lead.beaten_after) for lead in found.contrasts] == [("B", None), ("C", 10)]
    assert found.best == "A"
    assert [row.win_share for row in found.rows] == [1.0, 0.0, 0.5]
    assert decide("ABC", told, {}, look).beaten == ("B",)
    assert "C was beaten by A after 10 documents; nobody was called for it after that." in verdict.state(found).notes
