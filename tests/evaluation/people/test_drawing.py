"""Votes weigh by the probability of their draw, so that what is asked more often does not count more."""

from fractions import Fraction
from itertools import permutations

import pytest

from carrel.evaluation.judges.human import vote
from carrel.evaluation.people.drawing import weights
from carrel.evaluation.records import REPEATS, HumanVote

PAIRS = ("AB", "AC", "BC")
WORTH = {"AB": Fraction(6), "AC": Fraction(3), "BC": Fraction(1)}
VALUES = {"AB": 0.3, "AC": -1.0, "BC": 7.0}


def drawn(order: tuple[str, ...], votes: int, voter: str = "") -> tuple[Fraction, list[HumanVote]]:
    """The first votes of a draw by worth without putting back, and the probability of the draw."""
    chance, left, found = Fraction(1), list(PAIRS), []
    for nth, pair in enumerate(order[:votes], 1):
        one = WORTH[pair] / sum(WORTH[other] for other in left)
        verdict = vote("d1", pair[0], pair[1], 1, "a")
        found.append(HumanVote(verdict=verdict, voter=voter, chance=float(one), among=len(left), nth=nth))
        chance *= one
        left.remove(pair)
    return chance, found


@pytest.mark.parametrize("votes", [1, 2, 3])
def test_over_all_draws_the_weighted_sum_is_the_sum_over_all_pairs(votes: int) -> None:
    expected = 0.0
    for order in permutations(PAIRS, votes):
        chance, found = drawn(order, votes)
        weighed = weights(found, {("d1", 0): 3})
        expected += float(chance) * sum(w * VALUES[pair] for w, pair in zip(weighed, order, strict=True))
    assert expected == pytest.approx(sum(VALUES.values()))


def test_once_every_pair_was_voted_on_all_votes_weigh_the_same() -> None:
    for order in permutations(PAIRS):
        assert weights(drawn(order, 3)[1], {("d1", 0): 3}) == [1.0, 1.0, 1.0]


def test_a_document_weighs_the_same_however_many_people_voted_on_it() -> None:
    both = [*drawn(("AB", "AC", "BC"), 3, "Ann")[1], *drawn(("BC", "AB", "AC"), 3, "Bob")[1]]
    assert weights(both, {("d1", 0): 3}) == [0.5] * 6


def test_votes_that_nobody_drew_count_as_drawn_by_equal_lots() -> None:
    one = HumanVote(verdict=vote("d1", "A", "B", 1, "a"))
    assert weights([one], {("d1", 0): 3}) == [3.0]


def test_votes_of_two_runs_on_one_text_are_drawn_apart() -> None:
    # Of the first run every pair was voted on; of the second, one pair of ten.
    first = drawn(("AB", "AC", "BC"), 3)[1]
    verdict = vote("d1", "A", "D", 1 + REPEATS, "a")
    second = HumanVote(verdict=verdict, chance=0.1, among=10, nth=1)
    assert weights([*first, second], {("d1", 0): 3, ("d1", 1): 10}) == [1.0, 1.0, 1.0, 10.0]
