"""The table of power against the simulation that made it and against the figures that are promised."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.evaluation.ranking.power import CANDIDATES, DOCUMENTS, chance_to_decide, power
from tests.evaluation.power_simulation import chance


@pytest.mark.parametrize(("documents", "promised"), [(5, 0.0), (8, 0.18), (12, 0.45), (20, 0.74), (30, 0.91)])
def test_three_candidates_have_the_promised_chance(documents: int, promised: float) -> None:
    assert chance_to_decide(documents, 3) == pytest.approx(promised, abs=0.05)


@pytest.mark.parametrize("sure", [False, True])
@pytest.mark.parametrize(("documents", "candidates"), [(5, 2), (12, 2), (8, 3), (20, 3), (12, 5), (10, 8), (15, 6)])
def test_the_table_is_what_the_simulation_gives(documents: int, candidates: int, sure: bool) -> None:
    found = chance(documents, candidates, 800, 7, sure=sure)
    assert chance_to_decide(documents, candidates, sure=sure) == pytest.approx(found, abs=0.05)


def test_between_the_columns_the_chance_is_interpolated() -> None:
    between = [chance_to_decide(documents, 7) for documents in range(5, 101)]
    assert between == sorted(between)
    assert chance_to_decide(35, 3) == pytest.approx((chance_to_decide(30, 3) + chance_to_decide(40, 3)) / 2)


def test_beyond_the_table_its_edge_counts() -> None:
    assert chance_to_decide(10_000, 3) == chance_to_decide(DOCUMENTS[-1], 3)
    assert chance_to_decide(12, 60) == chance_to_decide(12, CANDIDATES[-1])


@pytest.mark.parametrize(("documents", "candidates"), [(0, 3), (1, 3), (4, 3), (20, 1), (20, 0)])
def test_nothing_is_decided_by_too_few(documents: int, candidates: int) -> None:
    assert power(documents, candidates).chance == 0.0


def test_certainty_is_never_promised() -> None:
    assert (power(500, 10).chance, power(500, 10).chance_high) == (0.99, 0.99)


@given(st.integers(0, 120), st.integers(0, 20), st.booleans())
def test_the_chance_is_a_range_between_a_judge_that_is_sure_and_one_that_is_not(
    documents: int, candidates: int, early: bool
) -> None:
    found = power(documents, candidates, early=early)
    both = [chance_to_decide(documents, candidates, early=early, sure=sure) for sure in (True, False)]
    assert (found.chance, found.chance_high) == pytest.approx((min(both), max(both)), abs=0.011)
    if candidates > 1:
        assert (found.documents_enough_low or 0) <= (found.documents_enough or 0)


def test_the_sentence_says_what_the_money_buys() -> None:
    assert power(3, 3).sentence == (
        "3 documents cannot decide. With about 24 to 47 documents, 80 of 100 runs would find a candidate that judges"
        " prefer to the second in 69 % of pairs."
    )
    assert power(8, 3).sentence == (
        "With 8 documents, about 5 to 18 of 100 runs would find a candidate that judges prefer to the second in 69 %"
        " of pairs: how many depends on how much the judge agrees with itself. About 24 to 47 documents"
        " would find it in 80."
    )
    assert power(60, 3).sentence == (
        "With 60 documents, about 89 to 99 of 100 runs would find a candidate that judges prefer to the second in 69 %"
        " of pairs: how many depends on how much the judge agrees with itself."
    )
    assert power(40, 1).sentence == "One candidate alone: there is nothing to decide."


@pytest.mark.parametrize(("documents", "candidates"), [(13, 2), (15, 5), (20, 3), (30, 3), (40, 2)])
def test_the_table_of_runs_that_may_stop_early_is_what_the_simulation_gives(documents: int, candidates: int) -> None:
    found = chance(documents, candidates, 800, 7, early=True)
    assert chance_to_decide(documents, candidates, early=True) == pytest.approx(found, abs=0.05)


@given(st.integers(0, 120), st.integers(0, 20))
def test_whoever_may_stop_early_finds_no_more_than_whoever_looks_once(documents: int, candidates: int) -> None:
    early = chance_to_decide(documents, candidates, early=True)
    assert early <= chance_to_decide(documents, candidates) + 0.005
    assert documents >= 13 or early == chance_to_decide(documents, candidates)


def test_the_sentence_of_a_run_that_may_stop_early_asks_for_more_documents() -> None:
    assert power(30, 3, early=True).sentence == (
        "With 30 documents, about 53 to 86 of 100 runs would find a candidate that judges prefer to the second in 69 %"
        " of pairs: how many depends on how much the judge agrees with itself. About 27 to 55 documents"
        " would find it in 80."
    )


def test_more_judges_may_find_more_and_never_less() -> None:
    alone, three = power(20, 3), power(20, 3, judges=3)
    assert (three.chance, alone.chance_high < three.chance_high) == (alone.chance, True)
    # Three judges that decide anew found it in 88, 72 and 92 of 100 simulated runs.
    for candidates, documents, found in ((2, 20, 0.88), (3, 12, 0.72), (3, 20, 0.92)):
        told = power(documents, candidates, judges=3)
        assert told.chance <= found <= told.chance_high


def test_documents_that_belong_together_may_tell_as_little_as_their_groups() -> None:
    found = power(40, 3, independent=8)
    assert (found.chance, found.chance_high) == (power(8, 3).chance, power(8, 3).chance_high)
    assert found.sentence.startswith("With 40 documents in 8 groups, about")
    assert power(40, 3, independent=4).chance_high == 0.0
    assert power(40, 3, independent=4).sentence.startswith("40 documents in 4 groups cannot decide.")
