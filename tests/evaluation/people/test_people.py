"""What people would say, in words: never more than their votes carry, whatever the judges say."""

import random

import pytest

from carrel.evaluation.judges.human import vote
from carrel.evaluation.people.people import PeopleVerdict, say
from carrel.evaluation.records import HumanVote, Side, Verdict
from tests.evaluation import kept
from tests.evaluation.people import campaign, pandalm
from tests.evaluation.people.campaign import Held, Opposed
from tests.evaluation.told import verdict, verdicts
from tests.support import soak

SIDES: dict[str, Side] = {"a": "a", "b": "b", "=": "tie"}


def votes(pair: str, outcomes: str, voter: str = "") -> list[HumanVote]:
    """`votes("AB", "ab=")`: the voter prefers A on d1, B on d2, neither on d3."""
    return [
        HumanVote(verdict=vote(f"d{i}", pair[0], pair[1], 1, SIDES[o]), voter=voter)
        for i, o in enumerate(outcomes, 1)
        if o != "."
    ]


def said(told: list[Verdict], voted: list[HumanVote], candidates: str = "AB") -> PeopleVerdict:
    found = say(candidates, told, voted, {})
    assert found is not None
    return found


def test_nobody_voted_so_nothing_is_said() -> None:
    assert say("AB", verdicts("AB", "aaaa"), [], {}) is None


def test_one_vote_makes_nobody_the_leader() -> None:
    found = said(verdicts("AB", "a" * 30), votes("AB", "b"))
    assert (found.leaders, found.best) == ((), None)
    assert all(row.share is None and row.documents == 1 for row in found.rows)
    assert found.sentence == (
        "People voted on 1 document: too few to say what people would say. Every candidate needs votes on 10."
    )


def test_people_and_judges_who_agree_find_the_best_on_few_votes() -> None:
    found = said(verdicts("AB", "aaab" * 10), votes("AB", "aaab" * 5))
    assert found.best == "A"
    assert found.sentence.startswith(
        "By votes on 20 documents, corrected by the judges on all, people would call A best: they would prefer it in"
        " 75 % of its pairs (95 % interval "
    )
    assert (found.voted, found.documents, found.votes, found.voters, found.notes) == (20, 40, 20, 1, ())
    [row, _] = found.rows
    assert row.reliance == pytest.approx(1.0, abs=0.1)


def test_votes_that_nobody_drew_by_lot_make_nobody_best_if_their_documents_are_others() -> None:
    found = said(verdicts("AB", "a" * 20 + "b" * 20), votes("AB", "a" * 16 + "b" * 4))
    assert (found.best, found.leaders) == (None, ("A",))
    assert "The votes were not drawn by lot" in found.notes[0]
    assert found.sentence.endswith("would put A first on documents like those, but they are unlike the others.")


def test_votes_on_documents_of_one_group_count_together() -> None:
    told, voted = verdicts("AB", "aaab" * 10), votes("AB", "aaab" * 5)
    pairs = {f"d{i}": f"g{(i - 1) // 2}" for i in range(1, 41)}
    alone, grouped = say("AB", told, voted, {}), say("AB", told, voted, {}, pairs)
    assert alone is not None
    assert grouped is not None
    assert grouped.rows[0].share == alone.rows[0].share
    assert (grouped.rows[0].low or 0.0) < (alone.rows[0].low or 0.0)
    assert (grouped.voted, grouped.rows[0].documents) == (20, 20)
    fours = say("AB", told, voted, {}, {f"d{i}": f"g{(i - 1) // 4}" for i in range(1, 41)})
    assert fours is not None
    assert fours.best is None
    assert fours.sentence.endswith("Every candidate needs votes on 10 groups of documents.")


def test_judges_who_like_what_people_do_not_cannot_make_it_best() -> None:
    told = verdicts("AB", "a" * 200)
    found = said(told, votes("AB", "bbab" * 3))
    assert (found.best, found.leaders) == (None, ("B",))
    assert found.notes == ("The judges alone put A first.",)
    # Judges who say the same everywhere correct nothing.
    assert found.sentence == "By votes on 12 documents, people would put B first, but A cannot be ruled out."
    assert said(told, votes("AB", "bbab" * 5)).best == "B"


def test_a_candidate_with_too_few_votes_keeps_everybody_from_leading() -> None:
    told = [*verdicts("AB", "a" * 30), *verdicts("AC", "a" * 30), *verdicts("BC", "a" * 30)]
    found = said(told, [*votes("AB", "a" * 15), *votes("AC", "a" * 4)], "ABC")
    assert (found.leaders, found.best) == ((), None)
    assert [row.share is None for row in found.rows] == [False, False, True]


def test_sides_and_the_order_of_votes_do_not_matter() -> None:
    told, voted = verdicts("AB", "ab=a" * 6), votes("AB", "aab=" * 4)
    mixed = random.Random(3).sample(voted, len(voted))
    assert said(told, mixed) == said(told, voted)
    turned = [
        HumanVote(verdict=vote(one.verdict.document, "B", "A", 1, "a" if one.verdict.ab == "second" else "b"))
        if one.verdict.ab != "tie"
        else one
        for one in voted
    ]
    assert said(told, turned) == said(told, voted)


def test_a_judge_without_weight_has_no_say() -> None:
    told = [*verdicts("AB", "aaab" * 10, "x"), *verdicts("AB", "bbba" * 10, "y")]
    voted = votes("AB", "aaab" * 5)
    assert say("AB", told, voted, {"y": 0.0}) == say("AB", verdicts("AB", "aaab" * 10, "x"), voted, {})


def test_several_people_are_set_against_each_other_and_a_document_weighs_the_same() -> None:
    told = verdicts("AB", "aaab" * 10)
    alone = said(told, votes("AB", "aaab" * 5, "Ann"))
    found = said(told, [*votes("AB", "aaab" * 5, "Ann"), *votes("AB", "aaab" * 5, "Bob")])
    assert found.rows == alone.rows
    assert (found.voters, found.votes, alone.agreement) == (2, 40, None)
    assert found.agreement is not None
    assert (found.agreement.value, found.agreement.units) == (1.0, 20)
    assert found.stand_ins == ()


def test_what_a_rule_decided_counts_without_votes() -> None:
    """A was not delivered on a third of the documents; people saw the others."""
    told = [
        *verdicts("AB", "a" * 20),
        *(Verdict(document=f"e{i}", judge="judge", a="A", b="B", by_rule="b") for i in range(10)),
    ]
    found = said(told, votes("AB", "a" * 15))
    [pair] = found.pairs
    assert pair.share == pytest.approx(2 / 3, abs=1e-5)


def test_missing_and_malformed_verdicts_do_no_harm() -> None:
    told = [*verdicts("AB", "aaab" * 5), *(verdict(f"d{i}", "AB", "invalid") for i in range(21, 31))]
    found = said(told, votes("AB", "aaab" * 4))
    assert (found.documents, found.leaders) == (30, ("A",))


def held_to_its_bounds(held: list[Held], opposed: list[Opposed], slack: float = 0.0) -> None:
    for row in held:
        assert min(row.candidates, row.pairs) >= 0.94 - slack, row
        # To the two digits of the table: one row has .921.
        assert round(row.width, 2) <= 0.92 + slack, row
        assert row.wrong <= 0.025, row
    for opposite in opposed:
        assert opposite.wrong <= 0.025, opposite


def test_votes_of_people_on_a_part_of_the_documents_tell_what_all_would_say() -> None:
    held = [campaign.hold(judge, 20, 25, seed=1) for judge in pandalm.JUDGES]
    held_to_its_bounds(held, [campaign.oppose(40, 20, 25, seed=1)], slack=0.02)


@pytest.mark.soak(campaign="verdicts")
def test_the_long_campaign_of_votes_stays_within_its_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    draws = soak.size(2000)
    held, opposed = campaign.run(draws, seed=2026)
    with capsys.disabled():
        kept.table("people", f"{draws:,} draws a row\n\n{campaign.tables(held, opposed)}")
    held_to_its_bounds(held, opposed)
