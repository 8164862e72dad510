"""The view at equal lengths: it undoes a taste for length, and says when it cannot."""

import math
import random
from itertools import combinations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.evaluation.ranking.cells import gathered
from carrel.evaluation.ranking.length import FROM_DOCUMENTS, LengthAdjusted, adjusted
from carrel.evaluation.ranking.ranking import rank
from carrel.evaluation.records import Verdict, mirrored
from carrel.evaluation.verdict import state
from tests.evaluation.told import verdict

MERITS = {"A": 0.6, "B": 0.0, "C": -0.3}
WORDS = {"A": 80, "B": 130, "C": 100}


def tournament(source: random.Random, documents: int, taste: float, judges: str = "j") -> list[Verdict]:
    """Judges who weigh merit, and `taste` logits for an answer that is much longer; the best writes the least."""
    told = []
    for document in range(documents):
        words = {name: max(5, round(source.gauss(WORDS[name], 30))) for name in WORDS}
        merits = {name: merit + source.gauss(0, 0.5) for name, merit in MERITS.items()}
        for a, b in combinations(WORDS, 2):
            ahead = merits[a] - merits[b] + taste * math.tanh((words[a] - words[b]) / 50)
            for judge in judges:
                ab, ba = (source.random() < 1 / (1 + math.exp(-ahead)) for _ in "12")
                told.append(
                    Verdict(
                        document=f"d{document}", judge=judge, a=a, b=b, a_length=words[a], b_length=words[b],
                        ab="first" if ab else "second", ba="second" if ba else "first",
                    )
                )  # fmt: skip
    return told


def of(told: list[Verdict]) -> LengthAdjusted:
    found = adjusted(gathered("ABC", told, {}))
    assert found is not None
    return found


def test_a_leader_by_length_alone_loses_its_lead() -> None:
    told = tournament(random.Random(3), 120, taste=2.0)
    ranking = rank("ABC", told)
    level = ranking.length_adjusted
    assert level is not None
    assert (ranking.leaders, level.leaders) == (("B",), ("A",))
    assert "Length and preference go together here: ten blind votes tell which of them it is." in state(ranking).notes
    assert level.taste is not None
    assert level.taste_low is not None
    assert level.taste_low > 0.6
    assert level.taste > level.taste_low
    assert [row.candidate for row in level.rows] == ["A", "B", "C"]


def test_without_a_taste_for_length_the_view_is_the_ranking_s_own() -> None:
    ranking = rank("ABC", tournament(random.Random(4), 300, taste=0.0))
    level = ranking.length_adjusted
    assert level is not None
    for row in ranking.rows:
        same = next(one for one in level.rows if one.candidate == row.candidate)
        assert same.win_share == pytest.approx(row.win_share, abs=0.04)
    assert level.taste == pytest.approx(0.5, abs=0.06)
    assert not any("equally long" in note for note in state(ranking).notes)


def test_its_intervals_hold() -> None:
    source = random.Random(5)
    truth = {row.candidate: row for row in of(tournament(source, 2500, taste=1.0)).rows}
    hits = [
        row.low <= truth[row.candidate].win_share <= row.high
        for _ in range(60)
        for row in of(tournament(source, 24, taste=1.0)).rows
        if row.low is not None and row.high is not None
    ]
    assert len(hits) == 180
    assert sum(hits) >= 0.9 * len(hits)


def test_with_few_documents_there_is_no_such_view() -> None:
    source = random.Random(6)
    assert adjusted(gathered("ABC", tournament(source, FROM_DOCUMENTS - 1, 1.0), {})) is None
    assert adjusted(gathered("ABC", tournament(source, FROM_DOCUMENTS, 1.0), {})) is not None
    assert rank("ABC", []).length_adjusted is None


def test_groups_that_never_met_have_no_such_view() -> None:
    told = [v for v in tournament(random.Random(7), 30, 1.0) if {v.a, v.b} == {"A", "B"}]
    apart = [msgspec.structs.replace(v, a="C", b="D") for v in told]
    assert adjusted(gathered("ABCD", [*told, *apart], {})) is None


def test_equal_lengths_leave_nothing_to_adjust() -> None:
    told = [msgspec.structs.replace(v, a_length=50, b_length=50) for v in tournament(random.Random(8), 20, 0.0)]
    assert of(told) == LengthAdjusted(documents=20, reason="all are equally long")


def test_one_that_is_always_longer_cannot_be_told_from_its_length() -> None:
    told = [
        msgspec.structs.replace(verdict(f"d{d}", "AB", "a" if d % 3 else "b"), a_length=90, b_length=30)
        for d in range(30)
    ]
    found = adjusted(gathered("AB", told, {}))
    assert found == LengthAdjusted(documents=30, reason="length and candidate cannot be told apart")


def test_whoever_lost_by_rule_did_not_lose_by_length() -> None:
    told = tournament(random.Random(9), 40, 0.0)
    rule = [Verdict(document=f"d{d}", judge="j", a="A", b="B", repeat=2, by_rule="a") for d in range(40)]
    short = [msgspec.structs.replace(one, a_length=100, b_length=0) for one in rule]
    assert of([*told, *rule]) == of([*told, *short])
    share = {row.candidate: row.win_share for row in of([*told, *rule]).rows}
    assert share["A"] > {row.candidate: row.win_share for row in of(told).rows}["A"]


def test_a_candidate_that_was_never_beaten_stays_finite() -> None:
    source = random.Random(10)
    told = [
        msgspec.structs.replace(verdict(f"d{d}", "AB", "a"), a_length=source.randint(1, 99), b_length=50)
        for d in range(40)
    ]
    found = adjusted(gathered("AB", told, {}))
    assert found is not None
    assert found.leaders == ("A",)
    assert 0.5 < found.rows[0].win_share < 1.0


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.randoms(use_true_random=False), st.sampled_from([0.125, 3.0, 1e-9]))
def test_order_sides_and_the_scale_of_weights_change_nothing(seed: int, shuffler: random.Random, factor: float) -> None:
    told = tournament(random.Random(seed), 22, 1.0, judges="xy")
    shuffled = [mirrored(one) if shuffler.random() < 0.5 else one for one in told]
    shuffler.shuffle(shuffled)
    weights = {"x": 0.25, "y": 0.75}
    scaled = {judge: weight * factor for judge, weight in weights.items()}
    assert adjusted(gathered("ABC", shuffled, scaled)) == adjusted(gathered("ABC", told, weights))


def test_more_repeats_of_one_judge_are_not_more_voice() -> None:
    once = tournament(random.Random(11), 25, 1.0)
    again = [msgspec.structs.replace(one, repeat=2) for one in once]
    assert of([*once, *again]) == of(once)
