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


OPPOSITE: dict[Side, Side] = {"a": "b", "b": "a", "tie": "tie"}
CROWDS: dict[str, tuple[tuple[float, float, float], float]] = {
    "like-minded": ((0.9, 0.9, 0.9), 0.0),
    "one says the opposite": ((0.9, 0.9, -0.9), 0.0),
    "hardly anybody agrees": ((0.1, 0.1, 0.1), 0.0),
    "half are ties": ((0.8, 0.8, 0.8), 0.5),
    "one guesses": ((0.9, 0.9, 0.0), 0.0),
    "nearly always the first": ((0.9, 0.9, 0.9), -0.9),
}
"""How often each of three voters knows the answer, or says its opposite if negative; and how often the answer is a tie,
or the first if negative."""


def passed(crowd: str, documents: int, guess: str, seed: int) -> bool:
    """Whether a judge that does not know the answers may stand in for one of the crowd."""
    lots = random.Random(f"{crowd} {documents} {guess} {seed}")
    knows, common = CROWDS[crowd]
    usual: Side = "tie" if common > 0 else "a"
    votes, guesses = [], []
    for i in range(documents):
        side: Side = usual if lots.random() < abs(common) else lots.choice(("a", "b"))
        for voter, sure in zip("xyz", knows, strict=True):
            told: Side = side if sure > 0 else OPPOSITE[side]
            said = told if lots.random() < abs(sure) else lots.choice(("a", "b"))
            votes.append(HumanVote(verdict=vote(f"d{i}", "A", "B", 1, said), voter=voter))
        guesses.append({"coin": lots.choice(SIDES[:2]), "first": SIDES[0], "tie": SIDES[2]}[guess])
    [found] = stand_in.test(judge("guesses", guesses), votes)
    return found.passes


@pytest.mark.parametrize("guess", ["coin", "first", "tie"])
@pytest.mark.parametrize("crowd", CROWDS)
def test_whoever_does_not_know_the_answers_may_not_stand_in_beside_any_crowd(crowd: str, guess: str) -> None:
    assert sum(passed(crowd, documents, guess, seed) for seed in range(20) for documents in (60, 100)) <= 2


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
