"""Judges that cannot carry a verdict: each is told in plain words, and nobody is best by them."""

from collections.abc import Mapping, Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.evaluation.judges import human
from carrel.evaluation.judges.trust import weighed
from carrel.evaluation.ranking.ranking import Ranking, decide, rank
from carrel.evaluation.ranking.stopping import Decision
from carrel.evaluation.records import Verdict
from carrel.evaluation.verdict import state
from tests.evaluation.told import verdict, verdicts

TWELVE = [*verdicts("AB", "a" * 12), *verdicts("AC", "a" * 12), *verdicts("BC", "ab" * 6)]


def judged(
    told: Sequence[Verdict],
    *,
    votes: Sequence[Verdict] = (),
    families: Mapping[str, str | None] | None = None,
    own: Mapping[str, str | None] | None = None,
    candidates: str = "ABC",
) -> Ranking:
    def again(weights: Mapping[str, float]) -> Decision:
        return decide(candidates, told, weights, None)

    return weighed(rank(candidates, told), told, votes, families or {}, own or {}, again)


def kinds(ranking: Ranking) -> list[tuple[str, bool]]:
    return [(one.kind, one.decisive) for one in ranking.distrust]


def flips(pair: str, documents: int, judge: str, repeat: int = 1) -> list[Verdict]:
    return [verdict(f"d{i}", pair, "flip", judge, repeat) for i in range(documents)]


def test_judges_without_a_fault_are_trusted() -> None:
    ranking = judged(TWELVE, families={"A": "x", "B": "y", "C": "z"}, own={"judge": "w"})
    assert (ranking.best, ranking.distrust) == ("A", ())


def test_a_judge_that_only_sees_the_place_is_told_and_changes_nothing_if_another_one_carries_the_verdict() -> None:
    told = [*TWELVE, *flips("AB", 12, "blind"), *flips("AC", 12, "blind"), *flips("BC", 12, "blind")]
    ranking = judged(told)
    assert (ranking.best, kinds(ranking)) == ("A", [("chance", False)])
    assert ranking.distrust[0].sentence == (
        "blind is no better than a coin: it named the other answer in 24 of 24 pairs when their places changed."
    )


def test_nobody_is_best_by_a_judge_that_is_no_better_than_a_coin() -> None:
    # It likes A in one of four meetings and flips in the others.
    told = [verdict(f"d{i}", pair, "flip" if i % 4 else "a", "coin") for pair in ("AB", "AC") for i in range(48)]
    told += flips("BC", 48, "coin")
    assert rank("ABC", told).best == "A"
    ranking = judged(told)
    assert (ranking.best, kinds(ranking)) == (None, [("chance", True)])
    assert not any(row.is_best for row in ranking.rows)
    assert state(ranking).sentence == "A leads, but these judges cannot carry a verdict."
    assert state(ranking).notes[0].startswith("coin is no better than a coin")


def test_nobody_is_best_by_a_judge_that_a_person_contradicts() -> None:
    votes = [human.vote(f"d{i}", "A", "B", 1, "b") for i in range(1, 11)]
    ranking = judged(TWELVE, votes=votes)
    assert (ranking.best, kinds(ranking)) == (None, [("chance", True)])
    assert "it named another answer than a person in 10 of 10 pairs" in ranking.distrust[0].sentence
    assert judged(TWELVE, votes=votes[:9]).best == "A"


def test_a_judge_of_whom_too_little_is_known_is_not_called_a_coin() -> None:
    ranking = judged([*verdicts("AB", "a" * 8), *(verdict(f"e{i}", "AB", "flip") for i in range(2))], candidates="AB")
    assert (ranking.best, kinds(ranking)) == ("A", [("unproven", False)])
    assert ranking.distrust[0].sentence == (
        "judge cannot yet be told from a coin: it named the other answer in 2 of 10 pairs when their places changed."
    )


def test_candidates_that_are_level_make_no_coin_of_a_judge() -> None:
    told = [verdict(f"d{i}", pair, "a", "judge") for pair in ("AB", "AC") for i in range(12)]
    assert kinds(judged([*told, *flips("BC", 12, "judge")])) == [("flips", False)]


def test_judges_that_contradict_each_other_make_nobody_best() -> None:
    # y prefers the others wherever it does not say what x says.
    told = [*verdicts("AB", "a" * 20, "x"), *verdicts("AC", "a" * 20, "x"), *verdicts("BC", "ab" * 10, "x")]
    told += [*verdicts("AB", "abb" * 6 + "bb", "y"), *verdicts("AC", "abb" * 6 + "bb", "y")]
    told += verdicts("BC", "ba" * 10, "y")
    ranking = judged(told)
    assert (rank("ABC", told).best, ranking.best, kinds(ranking)) == ("A", None, [("opposed", True)])
    assert ranking.distrust[0].sentence == (
        "The judges contradict each other: y preferred others to A in 28 of 40 clear pairs."
    )


def test_one_judge_of_four_that_prefers_others_is_told_and_changes_nothing() -> None:
    agreed = [one for judge in "wxy" for one in verdicts("AB", "a" * 20, judge)]
    ranking = judged([*agreed, *verdicts("AB", "b" * 15 + "a" * 5, "z")], candidates="AB")
    assert (ranking.best, kinds(ranking)) == ("A", [("opposed", False)])
    nobody_opposed = judged([*agreed, *verdicts("AB", "ba" * 10, "z")], candidates="AB")
    assert (nobody_opposed.best, nobody_opposed.distrust) == ("A", ())


@pytest.mark.parametrize(
    ("own", "best"), [({"judge": "x"}, None), ({"judge": "y"}, "A"), ({"judge": None}, "A"), ({}, "A")]
)
def test_judges_of_the_leaders_own_family_alone_make_nobody_best(own: dict[str, str | None], best: str | None) -> None:
    ranking = judged(TWELVE, families={"A": "x", "B": "y", "C": None}, own=own)
    assert ranking.best == best
    if best is None:
        assert ranking.distrust[0].sentence == "The only judge is of A's own family (x): add a judge of another one."


def test_a_family_that_all_candidates_share_says_nothing() -> None:
    assert judged(TWELVE, families=dict.fromkeys("ABC", "x"), own={"judge": "x"}).best == "A"


def by_length(wins: str, longer: str, rival: str = "B") -> list[Verdict]:
    """A against a rival; `l` is where A's answer is the longer one."""
    told = verdicts(f"A{rival}", wins)
    lengths = {"l": (200, 100), "s": (100, 200)}
    return [
        msgspec.structs.replace(one, a_length=lengths[side][0], b_length=lengths[side][1])
        for one, side in zip(told, longer, strict=True)
    ]


def test_nobody_is_best_that_wins_only_where_its_answer_is_the_longer_one() -> None:
    for shorter, pairs in ((4, "4 pairs"), (1, "1 pair")):
        told = by_length("a" * 20 + "b" * shorter + "=" * 9, "l" * 20 + "s" * (shorter + 9))
        ranking = judged(told, candidates="AB")
        assert (ranking.best, kinds(ranking)) == (None, [("length", True)])
        said = ranking.distrust[0].sentence
        assert said.startswith(f"Where its answer was the shorter one, A won 0 of {pairs} with B that had a winner: ")


def test_where_length_and_candidate_are_the_same_thing_ten_votes_tell() -> None:
    told = by_length("a" * 12, "l" * 12)
    ranking = judged(told, candidates="AB")
    assert (ranking.best, kinds(ranking)) == ("A", [("length", False)])
    assert ranking.distrust[0].sentence.startswith("Length and candidate are the same thing here: the answer of A was")
    for voted, lifts in (("aaaaaaaaab", True), ("aaaaaabbbb", False)):
        votes = [human.vote(f"d{i}", "A", "B", 1, "a" if side == "a" else "b") for i, side in enumerate(voted, 1)]
        assert (not judged(told, candidates="AB", votes=votes).distrust) == lifts


def test_a_third_wordy_candidate_changes_nothing_between_the_other_two() -> None:
    told = by_length("a" * 20 + "b" * 4, "l" * 20 + "s" * 4)
    others = [*by_length("a" * 24, "s" * 24, "C"), *verdicts("BC", "a" * 24)]
    assert kinds(judged([*told, *others])) == kinds(judged(told, candidates="AB"))


@settings(max_examples=150, deadline=None)
@given(st.text("ab=", min_size=5, max_size=30), st.data())
def test_more_wins_never_make_a_verdict_weaker(outcomes: str, data: st.DataObject) -> None:
    longer = data.draw(st.text("ls", min_size=len(outcomes), max_size=len(outcomes)))
    place = data.draw(st.integers(0, len(outcomes) - 1))
    before = judged(by_length(outcomes, longer), candidates="AB")
    if before.best == "A":
        better = outcomes[:place] + "a" + outcomes[place + 1 :]
        after = judged(by_length(better, longer), candidates="AB")
        assert after.best == "A"
        assert sum(one.kind == "length" for one in after.distrust) <= sum(
            one.kind == "length" for one in before.distrust
        )


def test_nobody_is_best_if_its_defeats_may_be_what_is_missing() -> None:
    told = [*verdicts("AB", "a?a?a?a?a?a?a?a?"), *verdicts("AC", "?a?a?a?a?a?a?a?a"), *verdicts("BC", "ab" * 8)]
    ranking = judged(told)
    assert (rank("ABC", told).best, ranking.best, kinds(ranking)) == (None, None, [("missing", True)])
    assert [one.held_back for one in ranking.contrasts] == [True, True]
    assert state(ranking).sentence == "A leads, but cannot be called best: B and C cannot be ruled out."
    assert state(ranking).notes[0].startswith("Too many verdicts about A are missing")
    scattered = [*verdicts("AB", "a" * 16), *verdicts("AC", "a" * 14 + "??"), *verdicts("BC", "ab" * 7 + "??")]
    assert judged(scattered).best == "A"


@pytest.mark.parametrize("gone", "!?")
def test_of_two_candidates_all_that_is_missing_counts_against_the_leader(gone: str) -> None:
    won = "a" * 9
    ranking = judged(verdicts("AB", won + gone * 4), candidates="AB")
    assert (ranking.best, kinds(ranking)) == (None, [("missing", True)])
    assert "Retry the calls that failed; where replies stayed malformed" in state(ranking).notes[0]
    assert judged(verdicts("AB", won + gone), candidates="AB").best == "A"


def test_answers_that_never_came_count_against_the_leader_if_others_answer() -> None:
    def told(a_came: bool, b_came: bool) -> list[Verdict]:
        length = {True: 100, False: None}
        open_ones = [
            Verdict(document=f"d{i}", judge="judge", a="A", b="B", a_length=length[a_came], b_length=length[b_came])
            for i in range(11, 16)
        ]
        return [*verdicts("AB", "a" * 10), *open_ones]

    assert rank("AB", told(a_came=False, b_came=True)).best is None
    assert rank("AB", told(a_came=True, b_came=False)).best == "A"
    assert rank("AB", told(a_came=True, b_came=True)).best is None


def test_an_interval_reaches_to_where_missing_defeats_would_move_it() -> None:
    whole, hidden = rank("AB", verdicts("AB", "ab" * 8)), rank("AB", verdicts("AB", "a?" * 8))
    first = hidden.rows[0]
    assert all(row.widened == 0.0 for row in whole.rows)
    assert first.low is not None
    assert (first.win_share, first.widened, first.low < 0.5) == (1.0, 0.5, True)
    # A judge who said nothing beside one who did is missing, too.
    half = rank("AB", [*verdicts("AB", "ab" * 8, "x"), *verdicts("AB", "a?" * 8, "y")])
    assert half.rows[0].widened > 0.1


def test_whoever_gave_no_answer_would_not_have_won() -> None:
    open_ones = [
        Verdict(document=f"d{i}", judge="judge", a="A", b="B", a_length=100, b_length=None) for i in range(11, 16)
    ]
    first, last = rank("AB", [*verdicts("AB", "ab" * 5), *open_ones]).rows
    told = rank("AB", verdicts("AB", "ab" * 5)).rows[0]
    assert (first.low, last.high) == (told.low, told.high)
