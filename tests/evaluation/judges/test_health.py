"""Judge health: what is counted, what is flagged, and whether a judge favours its family."""

import pytest

from carrel.evaluation.judges.health import health, own_family_lift
from carrel.evaluation.records import Score, Verdict
from tests.evaluation.told import score, verdict, verdicts


def test_flips_are_told_from_inconsistency_and_counted_by_place() -> None:
    told = [verdict("d1", "AB", o) for o in ("a", "flip", "flip", "inconsistent", "tie", "missing")]
    told.append(Verdict(document="d2", judge="judge", a="A", b="B", ab="second", ba="second"))
    (found,) = health("AB", told, [score("d1", "A", 3)], {}, {})
    assert (found.agreed, found.flips, found.flips_to_first, found.inconsistent, found.missing) == (2, 3, 2, 1, 1)
    assert (found.scores_given, found.invalid_share, found.flagged) == (1, 0.0, False)


@pytest.mark.parametrize(("invalid", "flagged"), [(1, False), (2, True)])
def test_more_than_a_tenth_of_invalid_answers_is_flagged(invalid: int, flagged: bool) -> None:
    (found,) = health("AB", verdicts("AB", "a" * (10 - invalid) + "!" * invalid + "??"), [], {}, {})
    assert (found.invalid, found.invalid_share, found.flagged) == (invalid, invalid / 10, flagged)


def test_invalid_scores_count_as_well() -> None:
    broken = Score(document="d1", judge="judge", candidate="A", fate="invalid")
    (found,) = health("AB", [], [score("d1", "B", 3, "judge"), broken], {}, {})
    assert (found.scores_given, found.scores_invalid, found.invalid_share, found.flagged) == (1, 1, 0.5, True)


def test_a_judge_without_any_answer_is_not_flagged() -> None:
    (found,) = health("AB", verdicts("AB", "???"), [], {}, {})
    assert (found.invalid_share, found.flagged) == (None, False)


FAMILIES = {"A": "acme", "B": "other", "C": None}


def test_a_judge_that_favours_its_family_is_told_by_judges_of_others() -> None:
    # For x, of A's family, A wins everything: share 1 against 0. For y it wins on d1 only.
    told = [*verdicts("AB", "aaa", "x"), *verdicts("AB", "abb", "y")]
    found = own_family_lift("x", "AB", told, FAMILIES, {"x": "acme", "y": "other"})
    # Per document 0, 2 and 2.
    assert (found.lift, found.documents, found.reason) == (1.333333, 3, None)
    assert found.low is not None
    assert found.low < 0
    mirror = own_family_lift("y", "AB", told, FAMILIES, {"x": "acme", "y": "other"})
    assert mirror.lift == 1.333333


def test_without_a_judge_of_another_family_it_cannot_be_told() -> None:
    told = [*verdicts("AB", "aaa", "x"), *verdicts("AB", "aaa", "z")]
    found = own_family_lift("x", "AB", told, FAMILIES, {"x": "acme", "z": "acme"})
    assert (found.lift, found.low, found.reason) == (None, None, "cannot be told")


def test_without_its_family_among_the_candidates_there_is_nothing_to_favour() -> None:
    told = verdicts("BC", "aaa", "x")
    assert own_family_lift("x", "BC", told, FAMILIES, {"x": "acme"}).reason == "no candidate of its family"
    assert own_family_lift("x", "BC", told, FAMILIES, {}).reason == "no candidate of its family"


def test_an_existing_text_counts_as_another_s_for_every_judge() -> None:
    told = [*verdicts("AC", "aaa", "x"), *verdicts("AC", "aab", "y")]
    assert own_family_lift("x", "AC", told, FAMILIES, {"x": "acme", "y": None}).lift == 0.666667


def test_a_family_among_itself_is_not_compared_with_others() -> None:
    told = verdicts("AB", "aaa", "x")
    same = {"A": "acme", "B": "acme"}
    assert own_family_lift("x", "AB", told, same, {"x": "acme"}).reason == "every candidate is of its family"
