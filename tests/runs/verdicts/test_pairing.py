"""Which pair is shown next: each once, those first that can decide, spread over documents, in an order by lot."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.evaluation.ranking.ranking import rank
from carrel.runs.verdicts.pairing import Meeting, choose, meetings, order, undecided
from tests.evaluation.told import verdicts


def texts(documents: int, candidates: int, repeats: int = 1) -> dict[tuple[int, int, int], bytes]:
    return {
        (d, c, r): f"{d} {c} {r}".encode()
        for d in range(1, documents + 1)
        for c in range(1, candidates + 1)
        for r in range(1, repeats + 1)
    }


def test_answers_that_were_not_delivered_or_are_the_same_are_no_pair() -> None:
    delivered = texts(2, 3)
    del delivered[1, 2, 1]
    delivered[2, 3, 1] = delivered[2, 1, 1]
    found = meetings(delivered, 2, {1: 1, 2: 1, 3: 1})
    assert found == [Meeting(1, 1, 3, 1), Meeting(2, 1, 2, 1), Meeting(2, 2, 3, 1)]


def test_whoever_always_says_the_same_meets_each_repeat_of_the_other() -> None:
    delivered = {(1, 1, 1): b"same", (1, 2, 1): b"x", (1, 2, 2): b"y"}
    assert meetings(delivered, 1, {1: 1, 2: 2}) == [Meeting(1, 1, 2, 1), Meeting(1, 1, 2, 2)]


def shown_in_turn(documents: int, candidates: int, urgent: frozenset[frozenset[int]], secret: str) -> list[Meeting]:
    possible = meetings(texts(documents, candidates), documents, dict.fromkeys(range(1, candidates + 1), 1))
    shown: list[Meeting] = []
    while (found := choose(possible, shown, urgent, secret)) is not None:
        shown.append(found.meeting)
    return shown


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(2, 5), st.text(max_size=8))
def test_every_pair_comes_once_and_documents_take_turns(documents: int, candidates: int, secret: str) -> None:
    shown = shown_in_turn(documents, candidates, frozenset(), secret)
    assert len(shown) == len(set(shown)) == documents * candidates * (candidates - 1) // 2
    assert shown == shown_in_turn(documents, candidates, frozenset(), secret)
    for end in range(1, len(shown)):
        seen = Counter(meeting.document for meeting in shown[:end])
        assert max(seen.values()) - min(seen[d] for d in range(1, documents + 1)) <= 1


def test_what_can_decide_comes_more_often_and_nothing_never() -> None:
    """A lead of 2 over 3 among four candidates: their own pair twice, each one's pairs with others once."""
    possible = meetings(texts(400, 4), 400, dict.fromkeys(range(1, 5), 1))
    drawn = [
        choose([one for one in possible if one.document == d], [], {frozenset({2, 3})}, "secret") for d in range(1, 401)
    ]
    chances = {(one.meeting.candidate, one.meeting.opponent): one.chance for one in drawn if one is not None}
    assert all(one is not None and one.among == 6 for one in drawn)
    assert chances[2, 3] == pytest.approx(0.8 * 2 / 6 + 0.2 / 6)
    assert chances[1, 2] == chances[1, 3] == chances[2, 4] == chances[3, 4] == pytest.approx(0.8 / 6 + 0.2 / 6)
    assert chances[1, 4] == pytest.approx(0.2 / 6)
    assert sum(chances.values()) == pytest.approx(1)
    seen = Counter((one.meeting.candidate, one.meeting.opponent) for one in drawn if one is not None)
    for pair, chance in chances.items():
        # Four standard deviations of a binomial number.
        assert abs(seen[pair] - 400 * chance) < 4 * (400 * chance * (1 - chance)) ** 0.5


def test_voters_draw_for_themselves() -> None:
    possible = meetings(texts(30, 3), 30, dict.fromkeys(range(1, 4), 1))
    first, second = (
        [choose([one for one in possible if one.document == d], [], (), "secret", voter) for d in range(1, 31)]
        for voter in ("Ann", "Bob")
    )
    assert first != second


def test_the_verdict_hangs_on_the_leader_and_those_that_cannot_be_ruled_out() -> None:
    labels = {"A": 1, "B": 2, "C": 3}
    told = [*verdicts("AB", "aabab==" * 2), *verdicts("AC", "a" * 14), *verdicts("BC", "a" * 14)]
    assert undecided(rank("ABC", told), labels) == {frozenset({1, 2})}
    level = [*verdicts("AB", "=" * 6), *verdicts("AC", "a" * 6), *verdicts("BC", "a" * 6)]
    assert undecided(rank("ABC", level), labels) == {frozenset({1, 2})}
    assert undecided(rank("ABC", []), labels) == frozenset()


def test_either_stands_first_about_as_often_and_only_the_secret_knows() -> None:
    pairs = [Meeting(d, a, a + 1, r) for d in range(1, 101) for a in (1, 2) for r in (1, 2)]
    for secret in ("one", "two"):
        assert 160 < sum(order(pair, secret) == "ab" for pair in pairs) < 240
    assert [order(pair, "one") for pair in pairs] != [order(pair, "two") for pair in pairs]
