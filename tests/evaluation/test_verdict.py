"""The exact words of a verdict."""

import pytest

from carrel.evaluation.judges.trust import malformed
from carrel.evaluation.ranking.contrasts import DocumentsNeeded
from carrel.evaluation.ranking.ranking import rank
from carrel.evaluation.verdict import state
from carrel.evaluation.words import listed, percent
from tests.evaluation.told import CRITERIA, score, verdicts

UNCHECKED = "about documents like these, for these judges; no human has checked them"


def test_one_document_is_an_anecdote() -> None:
    found = state(rank("AB", verdicts("AB", "a")))
    assert (found.outcome, found.grey) == ("anecdote", True)
    assert found.sentence == "A leads. One document: an anecdote; no interval."


def test_three_documents_cannot_decide() -> None:
    found = state(rank("AB", verdicts("AB", "aab")))
    assert (found.outcome, found.grey) == ("too_few", True)
    assert found.sentence == "A leads; 3 documents cannot decide."


def test_four_unanimous_documents_cannot_decide_either() -> None:
    sentence = state(rank("AB", verdicts("AB", "aaaa"))).sentence
    assert sentence == "A leads; 4 documents cannot decide; about 6 would."


def test_two_level_candidates_on_two_documents() -> None:
    assert state(rank("AB", verdicts("AB", "ab"))).sentence == "A and B are level; 2 documents cannot decide."


def test_an_undecided_ranking_names_those_that_cannot_be_ruled_out() -> None:
    ranking = rank("ABC", [*verdicts("AB", "aabab=="), *verdicts("AC", "a" * 7), *verdicts("BC", "a" * 7)])
    found = state(ranking)
    assert (found.outcome, found.grey) == ("undecided", False)
    assert found.sentence == "A leads, but cannot be called best: B cannot be ruled out."
    assert "How many documents would decide cannot be told yet." in found.notes
    clearer = rank("AB", verdicts("AB", "aaaaaaaaabb"))
    assert clearer.contrasts[0].documents_needed == DocumentsNeeded(6, 44)
    assert "About 12 to 44 documents would decide." in state(clearer).notes


def test_several_that_cannot_be_ruled_out_are_all_named() -> None:
    told = [*verdicts("AB", "aabab=="), *verdicts("AC", "aabab=="), *verdicts("BC", "=" * 7)]
    assert "B and C cannot be ruled out." in state(rank("ABC", told)).sentence


def test_a_decided_ranking_says_how_much_was_won() -> None:
    found = state(rank("AB", verdicts("AB", "a" * 11 + "b")))
    assert (found.outcome, found.grey) == ("decided", False)
    assert found.sentence == ("A is best: it won 92 % of its pairs on 12 documents (95 % interval 65 % to 100 %).")


def test_ties_and_flips_are_not_called_wins() -> None:
    found = state(rank("AB", verdicts("AB", "a" * 8 + "=" * 24)))
    assert found.sentence.startswith(
        "A is best: it won 8 of its 32 pairs and 24 had no clear winner, so it is preferred in 62 % on 32 documents"
    )


def test_only_the_field_that_was_compared_is_spoken_of() -> None:
    scored = [score("d1", name, 1) for name in "ABCD"]
    decided = state(rank("ABCD", verdicts("AB", "a" * 12), scored=scored, criteria=CRITERIA))
    assert decided.sentence.startswith("A is best of the 2 that were compared: it won 100 %")
    undecided = state(rank("ABCD", verdicts("AB", "aabab"), scored=scored, criteria=CRITERIA))
    assert undecided.sentence.endswith("B cannot be ruled out. Only 2 of 4 candidates were compared.")


def test_a_leader_by_easy_opponents_is_told() -> None:
    # Nearly all that A has is wins over C; B beats A and C and meets D, who is as strong as B.
    told = [*verdicts("AC", "a" * 12), *verdicts("AB", "bb??????????"), *verdicts("BC", "a" * 12)]
    told += [*verdicts("AD", "?" * 12), *verdicts("BD", "ab" * 6), *verdicts("CD", "b" * 12)]
    ranking = rank("ABCD", told)
    assert ranking.leaders == ("A",)
    assert state(ranking).sentence.endswith("is ahead, because not all met the same opponents.")


def test_candidates_that_are_level_are_called_level() -> None:
    sentence = state(rank("AB", verdicts("AB", "ababab"))).sentence
    assert sentence == "A and B are level after 6 documents: none can be called best."


def test_groups_that_never_met_have_no_leader() -> None:
    ranking = rank("ABCD", [*verdicts("AB", "aaaaaa"), *verdicts("CD", "aabbaa")])
    assert state(ranking).sentence == "No candidate leads: these groups never met (A and B; C and D)."


def test_nothing_compared_says_nothing() -> None:
    assert state(rank("AB", [])).sentence == "Nothing was compared, so nothing can be said."


@pytest.mark.parametrize("outcomes", ["", "a", "aab", "aababa", "a" * 12])
def test_the_scope_always_stands_beside_the_sentence(outcomes: str) -> None:
    found = state(rank("AB", verdicts("AB", outcomes)))
    assert found.scope == UNCHECKED
    assert found.text == f"{found.sentence} This is {UNCHECKED}."


def test_a_person_s_votes_change_the_scope() -> None:
    told = [*verdicts("AB", "aaaaaa", "model"), *verdicts("AB", "aab", "human")]
    scope = state(rank("AB", told)).scope
    assert scope == "about documents like these, for these judges, a person among them"


def test_doubts_are_told_most_serious_first() -> None:
    told = [*verdicts("AB", "aab??", "x"), *verdicts("AB", "bba!!", "y")]
    scored = [score("d1", "A", 1), score("d1", "B", 5)]
    ranking = rank("AB", told, scored=scored, criteria=CRITERIA, weights={"x": 2.0}, exploratory=True)
    found = state(malformed(ranking, told, scored))
    assert found.notes == (
        "Exploratory: judges were left out or added, or their weights moved, after the results were seen.",
        "4 missing verdicts could overturn this.",
        "By scores, B leads.",
        "Without x, B leads.",
        "y stayed malformed in 40 % of what it judged.",
    )


def test_one_missing_verdict_is_one_verdict() -> None:
    assert "1 missing verdict could overturn this." in state(rank("AB", verdicts("AB", "aab?"))).notes


def test_names_are_listed_as_people_list_them() -> None:
    assert [listed("A"), listed("AB"), listed("ABC")] == ["A", "A and B", "A, B and C"]
    assert percent(0.666) == "67 %"


def test_a_single_candidate_has_no_rival_to_rule_out() -> None:
    scored = [score(f"d{number}", "A", 4.0) for number in range(8)]
    found = state(rank("A", [], scored=scored, criteria=CRITERIA, score_weights={"judge": 1.0}))
    assert "A leads because it had no rival: nothing was decided." in found.sentence
