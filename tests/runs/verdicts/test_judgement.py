"""Evidence on its way to the worker: in small pieces, and nothing lost."""

from msgspec.structs import replace

from carrel.evaluation.judges import human
from carrel.evaluation.records import HumanVote, Score, Verdict
from carrel.providers.base import Criterion
from carrel.reports import findings
from carrel.runs.verdicts import judgement
from carrel.runs.verdicts.judgement import Evidence
from tests.support.report_inputs import report_input


def evidence_of(documents: int) -> Evidence:
    return Evidence(
        candidates=("one", "two"),
        verdicts=[
            Verdict(document=f"d{n}", judge="j", a="one", b="two", repeat=1, ab="first", ba="second")
            for n in range(documents)
        ],
        scores=[
            Score(document=f"d{n}", judge="j", candidate="one", repeat=1, values={"Clarity": float(1 + n % 5)})
            for n in range(documents)
        ],
        criteria=(Criterion("Clarity", "Is it clear?"),),
        comparison_weights={"j": 1.0},
        scoring_weights={"j": 2.0, "k": 1.0},
    )


def test_what_is_packed_comes_out_as_it_was() -> None:
    for documents in (0, 1, 1_001):
        evidence = evidence_of(documents)
        packed = judgement.pack(evidence)
        assert judgement.unpack(packed) == evidence
        assert packed.judges == {"j", "k"}


def test_no_piece_grows_with_the_run() -> None:
    packed = judgement.pack(evidence_of(5_000))
    assert max(map(len, [packed.rest, *packed.verdicts, *packed.scores])) < 40_000


def test_a_ranking_is_the_same_by_either_way() -> None:
    evidence = evidence_of(30)
    answered = judgement.answer(judgement.pack(evidence), None, {"j": 3.0})
    assert answered.ranking == judgement.rank(evidence, {"j": 3.0})


def test_the_same_text_six_times_is_one_document() -> None:
    evidence = evidence_of(7)
    assert judgement.rank(evidence).best == "one"
    copies = replace(evidence, same={f"d{n}": "d1" for n in range(2, 7)})
    ranking = judgement.rank(copies)
    assert (ranking.documents, ranking.best, ranking.counts.planned) == (2, None, 7)
    assert judgement.once(judgement.once(copies)) == judgement.once(copies)
    answered = judgement.answer(judgement.pack(copies), None, None)
    assert answered.ranking == ranking


def test_votes_on_copies_count_as_votes_on_one_document() -> None:
    votes = [HumanVote(verdict=human.vote(f"d{n}", "one", "two", 1, "a")) for n in range(1, 4)]
    found = judgement.check(replace(evidence_of(7), votes=votes, same={"d2": "d1", "d3": "d1"}))
    assert found is not None
    assert (found.votes, found.documents, found.sided) == (3, 1, 3)


def test_a_report_counts_copies_once_and_shows_them_all() -> None:
    source = report_input("aaaaaaaa", judges=("x", "y"), finished=False)
    copied = replace(source, evidence=replace(source.evidence, same={f"d{n}": "d1" for n in range(2, 9)}), ranking=None)
    report = findings.build(copied)
    assert (report.ranking.documents, report.ranking.best, len(report.documents)) == (1, None, 8)
