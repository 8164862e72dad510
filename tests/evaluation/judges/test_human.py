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
    told = [verdict for pair in ("AB", "AC", "BC") for verdict in verdicts(pair, "aaaaa")]
    assert checked(told, votes("AB", "bbbbb"), "ABC").leaders == ()
    assert checked(told, [*votes("AB", "bbbbb"), *votes("BC", "aaaaa")], "ABC").leaders == ("B",)


def test_nobody_has_checked_until_somebody_has() -> None:
    ranking = rank("AB", verdicts("AB", "aaaaaa"))
    assert check("AB", verdicts("AB", "aaaaaa"), [], {}) is None
    assert state(ranking).scope == UNCHECKED


def test_the_scope_says_what_the_votes_say() -> None:
    told = verdicts("AB", "aaaaaa")
    ranking = rank("AB", told)
    found = state(ranking, human=checked(told, votes("AB", "abb===")))
    assert found.scope == (
        "about documents like these, for these judges; a person voted blind on 6 pairs and came to the judges' outcome"
        " on 1 of 6"
    )
    assert "By the person's blind votes, B leads." in found.notes
    one = state(ranking, human=checked(told, votes("AB", "a")))
    assert one.scope.endswith("a person voted blind on 1 pair and came to the judges' outcome on 1 of 1")
    assert one.notes == state(ranking).notes


def test_where_no_judge_compared_the_votes_stand_alone() -> None:
    found = checked([], votes("AB", "aabaa"))
    assert (found.judged, found.judges, found.leaders) == (0, (), ("A",))
    assert state(rank("AB", []), human=found).scope.endswith("a person voted blind on 5 pairs")


def test_the_headline_does_not_move_unless_the_person_is_asked_for() -> None:
    told, voted = verdicts("AB", "aaaab"), votes("AB", "bbbbb")
    alone, together = rank("AB", told), rank("AB", [*told, *voted], exploratory=True)
    assert alone.leaders == ("A",)
    assert together.leaders == ("B",)
    assert together.judges == (HUMAN, "judge")
    assert state(together).scope == CHECKED


def test_votes_on_fewer_than_five_documents_make_nobody_the_leader() -> None:
    told = verdicts("AB", "aaaaaa")
    assert [checked(told, votes("AB", outcomes)).leaders for outcomes in ("b", "bbbb", "bbbbb")] == [(), (), ("B",)]


def test_a_flip_is_no_opinion_and_so_no_disagreement() -> None:
    told = [verdict("d1", "AB", "flip"), verdict("d2", "AB", "inconsistent"), *verdicts("AB", "..a=")]
    found = checked(told, votes("AB", "aaaa"))
    assert (found.sided, found.judged) == (1, 2)
    assert [(pair.same, pair.of) for pair in found.judges] == [(1, 2)]


def test_of_several_votes_on_one_pair_each_counts_against_a_judge() -> None:
    [pair] = checked(verdicts("AB", "aa"), [*votes("AB", "ab"), *votes("AB", "aa")]).judges
    assert (pair.same, pair.of) == (3, 4)
