"""Runs that only score: judges and missing scores that cannot carry a verdict take *best* away, as in comparisons."""

from typing import Any

import pytest
from msgspec.structs import replace

from carrel.evaluation.judges import human
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.records import HumanVote, Mark, Score
from carrel.evaluation.verdict import state
from carrel.runs.verdicts import judgement
from carrel.runs.verdicts.judgement import Evidence
from tests.evaluation.told import CRITERIA, score
from tests.reports.doubts import evidence

HIGH, LOW = "454545454545", "232323323232"


def marks(candidate: str, given: str, judge: str = "judge") -> list[Score]:
    """`marks("A", "5?")`: A's scores on d1 and d2; `?` is missing, `!` malformed."""
    told = []
    for number, mark in enumerate(given, 1):
        one = score(f"d{number}", candidate, float(mark) if mark.isdigit() else 1.0, judge)
        lost: dict[str, Any] = {"values": {}, "fate": "invalid" if mark == "!" else "missing"}
        told.append(one if mark.isdigit() else replace(one, **lost))
    return told


def judged(*told: list[Score], candidates: str = "AB", **changes: Any) -> Ranking:
    every = [one for some in told for one in some]
    weights = dict.fromkeys(sorted({one.judge for one in every}), 1.0)
    return judgement.rank(replace(Evidence(tuple(candidates), [], every, CRITERIA, {}, weights), **changes))


def kinds(ranking: Ranking) -> list[tuple[str, bool]]:
    return [(one.kind, one.decisive) for one in ranking.distrust]


@pytest.mark.parametrize(("own", "best"), [("x", None), ("y", "A"), (None, "A")])
def test_scorers_of_the_leaders_own_family_alone_make_nobody_best(own: str | None, best: str | None) -> None:
    families = {"A": "x", "B": "y"}
    ranking = judged(marks("A", HIGH), marks("B", LOW), families=families, judge_families={"judge": own})
    assert ranking.best == best
    assert (best is None) == (kinds(ranking) == [("family", True)])
    assert (best is None) == ("the only judge is of a's own family (x)" in str(ranking.distrust).lower())


def test_scorers_that_contradict_each_other_make_nobody_best() -> None:
    told = [*marks("A", "5" * 12, "x"), *marks("B", "1" * 12, "x"), *marks("A", "3" * 12, "y")]
    assert judged(told, marks("B", "3" * 12, "y")).best == "A"
    ranking = judged(told, marks("B", "4" * 12, "y"))
    assert (ranking.leaders, ranking.best, kinds(ranking)) == (("A",), None, [("opposed", True)])
    assert state(ranking).notes[0].startswith("The judges contradict each other: y preferred others to A in 12 of 12")
    agreed = [one for judge in "vw" for one in (*marks("A", "5" * 12, judge), *marks("B", "1" * 12, judge))]
    outvoted = judged(told, agreed, marks("B", "4" * 12, "y"))
    assert (outvoted.best, kinds(outvoted)) == ("A", [("opposed", False)])


def test_nobody_is_best_by_a_scorer_that_a_person_contradicts() -> None:
    told = [*marks("A", HIGH), *marks("B", LOW)]
    votes = [HumanVote(verdict=human.vote(f"d{i}", "A", "B", 1, "b")) for i in range(1, 11)]
    ranking = judged(told, votes=votes)
    assert (ranking.best, kinds(ranking)) == (None, [("chance", True)])
    assert "it named another answer than a person in 10 of 10 pairs" in ranking.distrust[0].sentence
    assert judged(told, votes=votes[:9]).best == "A"
    evidence = Evidence(("A", "B"), [], told, CRITERIA, {}, {"judge": 1.0}, votes)
    assert judgement.voted(evidence, judged(told)).best is None
    sound = [*marks("A", "5" * 12, "y"), *marks("B", "3" * 12, "y"), *marks("C", "2" * 12, "y")]
    voted = [HumanVote(verdict=human.vote(f"d{i}", "B", "C", 1, "a")) for i in range(1, 11)]
    spared = judged(told, sound, marks("C", "4" * 12), candidates="ABC", votes=voted)
    assert (spared.best, kinds(spared)) == ("A", [("chance", False)])


@pytest.mark.parametrize("gone", "?!")
def test_scores_that_nothing_else_explains_take_best_away(gone: str) -> None:
    own = judged(marks("A", "5" * 18 + gone * 4), marks("B", "4" * 22))
    assert (own.best, kinds(own)[0], own.contrasts[0].held_back) == (None, ("missing", True), True)
    assert state(own).notes[0] == (
        "Too many scores of A or its rivals are missing. If those that nothing else explains had gone against A, its"
        " lead over B could be chance. Retry the calls that failed; where replies stayed malformed, have the answers"
        " judged again by another judge."
    )
    rivals = judged(marks("A", "2" * 22), marks("B", "1" * 18 + gone * 4))
    assert (rivals.best, kinds(rivals)[0]) == (None, ("missing", True))


def test_scores_that_are_missing_of_all_alike_say_nothing() -> None:
    assert judged(marks("A", "5" * 14 + "??"), marks("B", "3" * 14 + "??")).best == "A"
    others = judged(
        marks("A", "5" * 15 + "?"), marks("B", "3" * 14 + "??"), marks("C", "??" + "3" * 14), candidates="ABC"
    )
    assert others.best == "A"


def test_a_candidate_of_which_no_score_came_explains_nothing() -> None:
    told = [*marks("A", "5" * 18 + "????"), *marks("B", "4" * 22), *marks("C", "?" * 22)]
    assert judged(marks("A", "5" * 18), told[22:], candidates="ABC").best == "A"
    assert judged(told, candidates="ABC").best is None


def test_of_repeats_that_are_partly_there_the_others_count_by_their_part() -> None:
    again = [replace(one, repeat=2) for one in marks("A", "5" * 6 + "?" * 6)]
    assert judged(marks("A", "5" * 12), again, marks("B", "2" * 12)).best == "A"
    assert judged(marks("A", "5" * 12), again, marks("B", "4" * 12)).best is None


def test_checks_that_say_nothing_where_the_leader_may_have_failed_count_against_it() -> None:
    """Of two level candidates one was best in 17 of 100 runs over 50 documents if 40 % of its faults were missing."""
    told = {"A": "+" * 26 + "?" * 14, "B": "+" * 13 + "-" * 13 + "+" * 14}
    gone = [
        Mark(document=f"d{i}", candidate=name, value=None if mark == "?" else float(mark == "+"))
        for name, said in told.items()
        for i, mark in enumerate(said, 1)
    ]
    found = judgement.rank(evidence([], measure="required", marks=gone, checked=True))
    assert (found.leaders, found.best) == (("A",), None)
    assert [(one.kind, one.decisive) for one in found.distrust] == [("missing", True)]
    assert found.distrust[0].sentence == (
        "Too many answers of A or its rivals are missing. If those that nothing else explains had gone against A, its"
        " lead over B could be chance. Retry the calls that failed."
    )
    known = [one for one in gone if one.document in {f"d{i}" for i in range(1, 27)}]
    assert judgement.rank(evidence([], measure="required", marks=known, checked=True)).best == "A"
