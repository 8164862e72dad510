"""A person's votes beside the judges."""

from carrel.evaluation.judges.human import HumanCheck, check, vote
from carrel.evaluation.ranking.ranking import rank
from carrel.evaluation.records import HUMAN, Side, Verdict, mirrored, value
from carrel.evaluation.verdict import CHECKED, UNCHECKED, state
from tests.evaluation.told import verdict, verdicts


def votes(pair: str, outcomes: str) -> list[Verdict]:
    """`votes("AB", "ab=.")`: A on d1, B on d2, a tie on d3, no vote on d4."""
    sides: dict[str, Side] = {"a": "a", "b": "b", "=": "tie"}
    return [vote(f"d{i}", pair[0], pair[1], 1, sides[o]) for i, o in enumerate(outcomes, 1) if o != "."]


def checked(told: list[Verdict], voted: list[Verdict], candidates: str = "AB") -> HumanCheck:
    found = check(candidates, told, voted, {})
    assert found is not None
    return found


def test_one_word_of_a_person_is_a_whole_verdict() -> None:
    assert [value(one) for one in votes("AB", "ab=")] == [1.0, 0.0, 0.5]
    assert {one.judge for one in votes("AB", "ab=")} == {HUMAN}


def test_votes_are_set_against_all_judges_together_and_each_alone() -> None:
    told = [*verdicts("AB", "aab=a", "x"), *verdicts("AB", "abba?", "y")]
    found = checked(told, votes("AB", "aab=."))
    # Together: A, a tie, B, A on d4 (½ and 1 make ¾), A; the person: A, A, B, a tie.
    assert (found.votes, found.documents, found.ties, found.sided, found.judged) == (4, 4, 1, 2, 4)
    assert [(pair.first, pair.second, pair.same, pair.of) for pair in found.judges] == [
        ("x", HUMAN, 4, 4),
        ("y", HUMAN, 2, 4),
    ]


def test_a_judge_without_weight_has_no_part_in_the_judges_outcome() -> None:
    told = [*verdicts("AB", "aaa", "x"), *verdicts("AB", "bbb", "y")]
    found = check("AB", told, votes("AB", "aaa"), {"y": 0.0})
    assert found is not None
    assert (found.sided, [pair.first for pair in found.judges]) == (3, ["x"])


def test_sides_do_not_matter() -> None:
    told = verdicts("AB", "abab")
    assert checked([mirrored(one) for one in told], votes("AB", "aabb")) == checked(told, votes("AB", "aabb"))


def test_votes_on_a_part_of_the_field_have_no_leader() -> None:
    told = [*verdicts("AB", "aaa"), *verdicts("AC", "aaa"), *verdicts("BC", "aaa")]
    assert checked(told, votes("AB", "b" * 12), "ABC").leaders == ()
    assert checked(told, [*votes("AB", "b" * 6), *votes("BC", "a" * 6)], "ABC").leaders == ("B",)


def test_few_votes_have_no_leader_and_more_have_an_interval() -> None:
    told = verdicts("AB", "a" * 12)
    assert checked(told, votes("AB", "b" * 9)).leaders == ()
    found = checked(told, votes("AB", "b" * 9 + "a"))
    assert (found.leaders, found.share) == (("B",), 0.9)
    assert found.low is not None
    assert 0.55 < found.low < 0.7


def test_a_judge_that_contradicts_itself_has_no_opinion_to_agree_with() -> None:
    told = [verdict(f"d{i}", "AB", outcome) for i, outcome in enumerate(["a", "flip", "inconsistent", "tie"], 1)]
    found = checked(told, votes("AB", "aaaa"))
    assert (found.sided, found.judged, found.judges[0].of) == (1, 2, 2)


def test_nobody_has_checked_until_somebody_has() -> None:
    ranking = rank("AB", verdicts("AB", "aaaaaa"))
    assert check("AB", verdicts("AB", "aaaaaa"), [], {}) is None
    assert state(ranking).scope == UNCHECKED


def test_the_scope_says_what_the_votes_say() -> None:
    told = verdicts("AB", "aaaaaa")
    ranking = rank("AB", told)
    found = state(ranking, human=checked(told, votes("AB", "abbbbbbb===")))
    assert found.scope == (
        "about documents like these, for these judges; a person voted blind on 11 pairs and came to the judges' outcome"
        " on 1 of 6"
    )
    assert "By the person's 11 blind votes, B leads, preferred in 77 % (95 % interval 52 % to 100 %)." in found.notes
    one = state(ranking, human=checked(told, votes("AB", "a")))
    assert one.scope.endswith("a person voted blind on 1 pair and came to the judges' outcome on 1 of 1")
    assert one.notes == state(ranking).notes


def test_where_no_judge_compared_the_votes_stand_alone() -> None:
    found = checked([], votes("AB", "aab"))
    assert (found.judged, found.judges, found.leaders) == (0, (), ())
    assert state(rank("AB", []), human=found).scope.endswith("a person voted blind on 3 pairs")


def test_the_headline_does_not_move_unless_the_person_is_asked_for() -> None:
    told, voted = verdicts("AB", "aaaab"), votes("AB", "bbbbb")
    alone, together = rank("AB", told), rank("AB", [*told, *voted], exploratory=True)
    assert alone.leaders == ("A",)
    assert together.leaders == ("B",)
    assert together.judges == (HUMAN, "judge")
    assert state(together).scope == CHECKED


def test_of_several_votes_on_one_pair_each_counts_against_a_judge() -> None:
    [pair] = checked(verdicts("AB", "aa"), [*votes("AB", "ab"), *votes("AB", "aa")]).judges
    assert (pair.same, pair.of) == (3, 4)


def test_the_words_know_one_person_from_several() -> None:
    told = verdicts("AB", "aaaaaa")
    found = check("AB", told, [*votes("AB", "bbbbb"), *votes("AB", "bbbbb")], {}, 2)
    said = state(rank("AB", told), human=found)
    assert said.scope.endswith("; 2 people gave 10 blind votes and came to the judges' outcome on 0 of 10")
    assert "By people's 10 blind votes, B leads, preferred in 100 %" in " ".join(said.notes)
