"""The arithmetic of corrected means: it aims at the people, never does worse than their votes, and knows its doubts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.evaluation.people.corrections import (
    LEAST_DOCUMENTS,
    CorrectedShare,
    MeanEstimates,
    WeightedComparison,
    WeightedVote,
    correct,
    measure,
    parts,
)

FEW = settings(max_examples=80, deadline=None)
SHARES = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[WeightedComparison], list[WeightedVote]]:
    """Judges on 12 to 30 documents, votes on the first ten or more of them."""
    documents = draw(st.integers(12, 30))
    voted = draw(st.integers(LEAST_DOCUMENTS, documents))
    judges = draw(st.lists(SHARES, min_size=documents, max_size=documents))
    people = draw(st.lists(SHARES, min_size=voted, max_size=voted))
    judged = [WeightedComparison(f"d{i}", 1 / documents, y) for i, y in enumerate(judges)]
    return judged, [WeightedVote(f"d{i}", 1.0, y, judges[i]) for i, y in enumerate(people)]


def measured(judged: list[WeightedComparison], heard: list[WeightedVote]) -> MeanEstimates:
    found = measure(parts(judged), heard)
    assert found is not None
    return found


def corrected(judged: list[WeightedComparison], heard: list[WeightedVote]) -> CorrectedShare:
    found = correct(measured(judged, heard), 0.0, 1.0)
    assert found is not None
    return found


@FEW
@given(worlds())
def test_the_estimate_is_the_votes_moved_by_a_part_of_what_judges_say_elsewhere(
    world: tuple[list[WeightedComparison], list[WeightedVote]],
) -> None:
    judged, heard = world
    found, means = corrected(*world), measured(*world)
    everywhere = sum(one.judges for one in judged) / len(judged)
    where_voted = sum(one.judges for one in heard) / len(heard)
    people = sum(one.people for one in heard) / len(heard)
    wanted = people - found.reliance * (where_voted - everywhere)
    assert found.mean == pytest.approx(min(1.0, max(0.0, wanted)))
    assert [found.alone, means.everywhere] == pytest.approx([people, everywhere])
    assert 0 <= found.reliance <= 1
    assert 0 <= found.low <= found.mean <= found.high <= 1
    assert found.low < found.high


@FEW
@given(worlds())
def test_judges_never_make_an_interval_wider(world: tuple[list[WeightedComparison], list[WeightedVote]]) -> None:
    found = correct(measured(*world), -9.0, 9.0)
    assert found is not None
    assert found.high - found.low <= found.alone_high - found.alone_low + 1e-9


@FEW
@given(worlds())
def test_seen_from_the_other_side_it_is_the_other_share(
    world: tuple[list[WeightedComparison], list[WeightedVote]],
) -> None:
    judged, heard = world
    turned = [WeightedComparison(one.document, one.part, 1 - one.judges) for one in judged]
    there = corrected(turned, [WeightedVote(one.document, 1.0, 1 - one.people, 1 - one.judges) for one in heard])
    here = corrected(*world)
    assert (there.mean, there.low, there.high) == pytest.approx((1 - here.mean, 1 - here.high, 1 - here.low))
    assert there.reliance == pytest.approx(here.reliance)


@FEW
@given(worlds())
def test_a_judge_who_says_the_same_everywhere_changes_nothing(
    world: tuple[list[WeightedComparison], list[WeightedVote]],
) -> None:
    judged, heard = world
    found = corrected([one._replace(judges=0.75) for one in judged], [one._replace(judges=0.75) for one in heard])
    assert (found.mean, found.low, found.high) == (found.alone, found.alone_low, found.alone_high)


def test_where_people_voted_on_everything_their_votes_are_the_answer() -> None:
    judged = [WeightedComparison(f"d{i}", 1 / 12, float(i % 3 == 0)) for i in range(12)]
    found = corrected(
        judged, [WeightedVote(one.document, 1.0, float(i % 2), one.judges) for i, one in enumerate(judged)]
    )
    assert (found.mean, found.reliance) == (0.5, 0.0)


def test_unanimous_votes_leave_doubt_and_few_documents_no_interval() -> None:
    judged = [WeightedComparison(f"d{i}", 1 / 40, 1.0) for i in range(40)]
    heard = [WeightedVote(f"d{i}", 1.0, 1.0, 1.0) for i in range(10)]
    found = corrected(judged, heard)
    assert found.mean == 1.0
    assert found.low == pytest.approx(0.759, abs=1e-3)
    assert correct(measured(judged, heard[:-1]), 0.0, 1.0) is None
    assert measure(parts(judged), []) is None


def test_what_a_rule_decided_needs_no_votes() -> None:
    """On half of the documents the other answer was never delivered."""
    judged = [WeightedComparison(f"d{i}", 1 / 40, float(i % 2), fixed=False) for i in range(20)]
    judged += [WeightedComparison(f"d{i}", 1 / 40, 1.0, fixed=True) for i in range(20, 40)]
    found = measured(judged, [WeightedVote(f"d{i}", 1.0, float(i % 2), float(i % 2)) for i in range(12)])
    assert [found.people, found.everywhere] == pytest.approx([0.75, 0.75])
    there = correct(found, 0.0, 1.0)
    assert there is not None
    assert there.low < 0.75 < there.high


def test_a_lead_is_measured_document_by_document() -> None:
    """Where A wins whenever B loses, the lead is twice as uncertain as either share."""
    judged = [WeightedComparison(f"d{i}", 1 / 30, 0.5) for i in range(30)]
    votes = [float(i % 3 > 0) for i in range(12)]
    a = measured(judged, [WeightedVote(f"d{i}", 1.0, y, 0.5) for i, y in enumerate(votes)])
    b = measured(judged, [WeightedVote(f"d{i}", 1.0, 1 - y, 0.5) for i, y in enumerate(votes)])
    lead, share = correct(a.minus(b), -1.0, 1.0), correct(a, 0.0, 1.0)
    assert lead is not None
    assert share is not None
    assert lead.mean == pytest.approx(2 * share.mean - 1)
    assert lead.mean - lead.low == pytest.approx(2 * (share.mean - share.low))
