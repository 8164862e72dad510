"""Evidence of several runs in one: nothing is lost, and nothing counts twice that says nothing new."""

from collections.abc import Iterable
from typing import Literal

from msgspec.structs import replace

from carrel.evaluation.judges.human import vote
from carrel.evaluation.records import HumanVote, Score, Verdict, Word
from carrel.providers.base import Criterion
from carrel.runs.findings.pooling import RunEvidence, packed, pool
from carrel.runs.verdicts import judgement
from carrel.runs.verdicts.judgement import Evidence, rank, say

DOCUMENTS = {f"d{number}": f"text {number}" for number in range(1, 7)}


def evidence(a: str, b: str, judge: str = "j", winner: Literal["first", "second"] = "first") -> Evidence:
    loser: Word = "second" if winner == "first" else "first"
    return Evidence(
        candidates=(a, b),
        verdicts=[Verdict(document=d, judge=judge, a=a, b=b, ab=winner, ba=loser) for d in DOCUMENTS],
        scores=[Score(document=d, judge=judge, candidate=c, values={"x": 1.0}) for d in DOCUMENTS for c in (a, b)],
        criteria=(),
        comparison_weights={judge: 1.0},
        scoring_weights={},
    )


def played(found: Evidence, replayed: frozenset[str] = frozenset(), **what: str) -> RunEvidence:
    names = {label: what.get(label, f"what {label} is") for label in found.candidates}
    return RunEvidence(found, DOCUMENTS, names, replayed)


def test_one_run_alone_is_ranked_as_before() -> None:
    found = evidence("A", "B")
    assert rank(pool([played(found)])) == rank(found)


def test_candidates_that_are_the_same_meet_those_of_other_runs() -> None:
    pooled = pool([played(evidence("A", "B")), played(evidence("B", "C"))])
    assert pooled.candidates == ("A", "B", "C")
    ranking = rank(pooled)
    assert [row.candidate for row in ranking.rows] == ["A", "B", "C"]
    assert len(ranking.groups) == 1


def test_the_same_label_for_another_candidate_gets_a_number() -> None:
    pooled = pool([played(evidence("A", "B")), played(evidence("A", "B"), A="another", B="what B is")])
    assert pooled.candidates == ("A", "B", "A (2)")


def test_what_only_replays_counts_once_and_what_may_differ_counts_again() -> None:
    found = evidence("A", "B")
    assert len(pool([played(found), played(found)]).verdicts) == 12
    fixed = frozenset({"A", "B", "j"})
    pooled = pool([played(found, fixed), played(found, fixed)])
    assert (len(pooled.verdicts), len(pooled.scores)) == (6, 12)
    assert len(pool([played(found, frozenset({"A", "j"}))] * 2).verdicts) == 12


def test_repeats_of_different_runs_are_different_repeats() -> None:
    pooled = pool([played(evidence("A", "B")), played(evidence("A", "B"))])
    assert len({(verdict.document, verdict.repeat) for verdict in pooled.verdicts}) == 12


def test_what_people_would_say_takes_the_votes_of_all_runs_together() -> None:
    documents = {f"d{number}": f"text {number}" for number in range(1, 13)}

    def voted(a: str, b: str, voted_on: Iterable[int]) -> RunEvidence:
        told = [Verdict(document=d, judge="j", a=a, b=b, ab="second", ba="first") for d in documents]
        votes = [HumanVote(verdict=vote(f"d{number}", a, b, 1, "a"), chance=1.0, among=1) for number in voted_on]
        found = replace(evidence(a, b), verdicts=told, scores=[], votes=votes)
        return RunEvidence(found, documents, {label: f"what {label} is" for label in (a, b)})

    few = say(pool([voted("A", "B", range(1, 7))]))
    both = say(pool([voted("A", "B", range(1, 7)), voted("A", "B", range(7, 13))]))
    assert few is not None
    assert both is not None
    assert (few.leaders, few.voted) == ((), 6)
    assert (both.leaders, both.voted, both.documents, both.votes) == (("A",), 12, 12, 12)
    # The judges say the opposite, and neither verdict moves the other.
    assert both.notes == ("The judges alone put B first.",)


def test_a_vote_on_replayed_texts_is_about_the_verdict_that_was_kept() -> None:
    found = evidence("A", "B")
    fixed = frozenset({"A", "B", "j"})
    older = replace(found, votes=[HumanVote(verdict=one) for one in found.verdicts])
    pooled = pool([played(found, fixed), played(older, fixed)])
    assert [one.verdict.repeat for one in pooled.votes] == [one.repeat for one in pooled.verdicts] == [1] * 6
    free = pool([played(found), played(older)])
    assert {one.verdict.repeat for one in free.votes} == {1001}


def test_a_newest_run_without_criteria_does_not_take_away_the_scores_of_the_others() -> None:
    newest = replace(evidence("A", "B"), scores=[], criteria=())
    scored = replace(evidence("A", "B"), criteria=(Criterion("x", ""),))
    assert pool([played(newest), played(scored)]).criteria == scored.criteria


def test_votes_come_along() -> None:
    found = evidence("A", "B")
    voted = replace(found, votes=[HumanVote(verdict=verdict) for verdict in found.verdicts[:2]])
    assert len(pool([played(found), played(voted)]).votes) == 2


def test_packed_evidence_is_what_is_pooled() -> None:
    replayed = frozenset({"A", "C", "j"})
    several = [played(evidence("B", "C")), played(evidence("A", "C"), replayed), played(evidence("A", "C"), replayed)]
    assert judgement.unpack(packed(several)) == pool(several)
