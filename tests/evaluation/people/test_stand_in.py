"""The alternative annotator test: who may stand in for a person."""

import random

import pytest

from carrel.evaluation.judges.human import vote
from carrel.evaluation.people import stand_in
from carrel.evaluation.records import HumanVote, Side, Verdict
from carrel.evaluation.statistics.quantiles import student, student_above
from tests.evaluation.people import pandalm
from tests.evaluation.told import verdict

SIDES: tuple[Side, ...] = ("a", "b", "tie")


def people(documents: int, voters: str = "xyz", right: float = 0.8) -> tuple[list[HumanVote], list[Side]]:
    """Voters who name the better answer of each document with probability `right`; and the better answers."""
    lots = random.Random(4)
    better = [lots.choice(SIDES) for _ in range(documents)]
    votes = []
    for i, side in enumerate(better):
        for voter in voters:
            said = side if lots.random() < right else lots.choice(SIDES)
            votes.append(HumanVote(verdict=vote(f"d{i}", "A", "B", 1, said), voter=voter))
    return votes, better


def judge(name: str, sides: list[Side]) -> list[Verdict]:
    return [verdict(f"d{i}", "AB", side, name) for i, side in enumerate(sides)]


def test_a_judge_who_knows_better_than_people_may_stand_in_and_one_who_guesses_may_not() -> None:
    votes, better = people(60)
    lots = random.Random(5)
    guesses = [lots.choice(SIDES) for _ in better]
    knowing, guessing = sorted(
        stand_in.test([*judge("knows", better), *judge("guesses", guesses)], votes),
        key=lambda one: -(one.replaces or 0),
    )
    assert (knowing.judge, knowing.voters, knowing.replaces, knowing.passes) == ("knows", 3, 3, True)
    assert (guessing.judge, guessing.replaces, guessing.passes) == ("guesses", 0, False)
    assert (knowing.advantage or 0) > 0.9 > (guessing.advantage or 0)


def test_two_people_or_few_comparisons_decide_nothing() -> None:
    votes, better = people(60, "xy")
    assert stand_in.test(judge("knows", better), votes) == ()
    votes, better = people(29)
    [found] = stand_in.test(judge("knows", better), votes)
    assert (found.voters, found.replaces, found.advantage, found.passes) == (0, None, None, False)


def test_the_figures_for_published_votes() -> None:
    """ρ, the mean advantage, recomputed from the table by hand; neither judge of 2023 may stand in for a person."""
    everyone = [one for person in pandalm.PEOPLE for votes in pandalm.table().votes[person].values() for one in votes]
    for name, advantage in (("gpt_3_5_turbo", 0.751), ("pandalm_7b", 0.707)):
        [found] = stand_in.test(pandalm.table().judged[name], everyone)
        assert (found.voters, found.replaces, found.passes) == (3, 0, False)
        assert found.advantage == pytest.approx(advantage, abs=1e-3)


@pytest.mark.parametrize("freedom", [1, 4, 9, 60])
def test_the_tail_of_student_s_t_fits_its_quantile(freedom: int) -> None:
    assert student_above(student(0.975, freedom), freedom) == pytest.approx(0.025)
    assert student_above(-student(0.9, freedom), freedom) == pytest.approx(0.9)
    assert student_above(0.0, freedom) == pytest.approx(0.5)
