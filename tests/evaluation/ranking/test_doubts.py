"""What could overturn a ranking."""

import pytest
from hypothesis import given, settings
from msgspec import structs

from carrel.evaluation.ranking.cells import gathered
from carrel.evaluation.ranking.doubts import Bounds, LongerText, WithoutJudge, bounds, longer_text, without_each_judge
from carrel.evaluation.ranking.ranking import rank
from carrel.evaluation.ranking.shares import standing
from carrel.evaluation.ranking.stopping import Beaten, looks
from carrel.evaluation.ranking.table import tabulate
from carrel.evaluation.records import Verdict
from tests.evaluation.told import tournaments, verdict, verdicts


def test_open_verdicts_by_hand() -> None:
    # A won 4 of 6; two are open: .5 at the worst (level with B: overturned), .75 at the best.
    found = bounds(gathered("AB", verdicts("AB", "aaaabb?!"), {}), 0)
    assert found == Bounds(open_verdicts=2, share_worst=0.5, share_best=0.75, overturned_by=("B",), overturning=2)


def test_a_lead_that_no_open_verdict_can_turn_is_not_in_doubt() -> None:
    found = bounds(gathered("AB", verdicts("AB", "aaaaaab?"), {}), 0)
    assert (found.overturned_by, found.overturning, found.share_worst) == ((), 0, 0.75)


def test_a_rival_is_favoured_against_everyone_it_met() -> None:
    # B is behind A only because its comparison with C is open.
    told = [*verdicts("AB", "="), *verdicts("AC", "a"), *verdicts("BC", "?")]
    assert bounds(gathered("ABC", told, {}), 0).overturned_by == ("B",)


def test_verdicts_between_third_parties_are_not_counted_as_overturning() -> None:
    told = [*verdicts("AB", "a?"), *verdicts("CD", "=?")]
    told += [verdict for pair in ("AC", "AD", "BC", "BD") for verdict in verdicts(pair, "aa")]
    found = bounds(gathered("ABCD", told, {}), 0)
    assert (found.open_verdicts, found.overturned_by, found.overturning) == (2, ("B",), 1)


def test_a_candidate_of_which_nothing_came_back_could_be_anything() -> None:
    assert bounds(gathered("ABC", [*verdicts("AB", "aaaab"), *verdicts("BC", "?")], {}), 0).overturned_by == ("C",)


@settings(max_examples=60, deadline=None)
@given(tournaments())
def test_the_share_lies_between_its_bounds(told: tuple[str, list[Verdict]]) -> None:
    candidates, records = told
    now = standing(tabulate(candidates, records, {}))
    if len(now.leaders) == 1:
        complete = all(v.ab not in ("missing", "invalid") for v in records)
        found = bounds(gathered(candidates, records, {}), now.leaders[0])
        share = now.shares[now.leaders[0]]
        if complete:
            assert found.share_worst == pytest.approx(share, abs=1e-6) == pytest.approx(found.share_best, abs=1e-6)
            assert found.overturned_by == ()
        assert found.share_worst <= found.share_best


def test_the_leader_without_each_judge_is_shown() -> None:
    told = [*verdicts("AB", "aaa", "x"), *verdicts("AB", "aab", "y"), *verdicts("AB", "bbb", "z")]
    assert without_each_judge(gathered("AB", told, {"x": 2.0})) == (
        WithoutJudge(judge="x", leaders=("B",)),
        WithoutJudge(judge="y", leaders=("A",)),
        WithoutJudge(judge="z", leaders=("A",)),
    )


def test_a_single_judge_is_not_left_out() -> None:
    assert without_each_judge(gathered("AB", verdicts("AB", "aaa"), {})) == ()


def test_without_the_judge_that_connects_them_nobody_leads() -> None:
    told = [*verdicts("AB", "aaa", "x"), *verdicts("CD", "aaa", "x"), *verdicts("BC", "aaa", "y")]
    assert without_each_judge(gathered("ABCD", told, {}))[1] == WithoutJudge(judge="y", leaders=())


def lengths(document: str, outcome: str, a: int | None, b: int | None) -> Verdict:
    told = verdict(document, "AB", outcome)
    return Verdict(
        document=document, judge="j", a="A", b="B", ab=told.ab, ba=told.ba, a_length=a, b_length=b, by_rule=told.by_rule
    )


def test_the_longer_text_won_x_of_y() -> None:
    told = [
        lengths("d1", "a", 90, 10),
        lengths("d1", "b", 90, 10),
        lengths("d2", "b", 10, 90),
        lengths("d3", "a", 10, 90),
        lengths("d3", "flip", 10, 90),
        lengths("d3", "a", 50, 50),
        lengths("d3", "a", None, 50),
        Verdict(document="d3", judge="j", a="A", b="B", by_rule="a", a_length=90, b_length=10),
    ]
    found = longer_text(gathered("AB", told, {}))
    # By document ½, 1 and 0: the first document does not count twice.
    assert (found.won, found.of, found.documents, found.share) == (2, 4, 3, 0.5)
    assert found.low is not None
    assert found.low < 0.5


def test_without_lengths_nothing_is_said_about_them() -> None:
    nothing = LongerText(won=0, of=0, documents=0, share=None, low=None, high=None)
    assert longer_text(gathered("AB", verdicts("AB", "aab"), {})) == nothing


def test_who_was_beaten_at_a_look_leads_in_no_doubt() -> None:
    # By y alone, C won 6 of its 10 meetings with each of the others, and A won 18 of its 30 with B.
    told = [*verdicts("AB", "a" * 30, "x"), *verdicts("AB", "aabab" * 6, "y")]
    told += [*verdicts("AC", "a" * 10, "x"), *verdicts("AC", "aaaabbbbbb", "y")]
    told += [*verdicts("BC", "a" * 10, "x"), *verdicts("BC", "aaaabbbbbb", "y")]
    assert without_each_judge(gathered("ABC", told, {}))[0] == WithoutJudge(judge="x", leaders=("C",))
    look = structs.replace(looks(30)[-1], beaten=(Beaten("C", "A", 10),))
    found = rank("ABC", told, look=look)
    assert [one.leaders for one in found.without_judge] == [("A",), ("A",)]
    assert found.bounds is not None
    # Nothing is missing, so both bounds are the share that the ranking shows.
    assert found.bounds.share_worst == found.rows[0].win_share == found.bounds.share_best
