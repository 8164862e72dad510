"""Evidence on its way to the worker: in small pieces, and nothing lost."""

from carrel.evaluation.records import Score, Verdict
from carrel.providers.base import Criterion
from carrel.runs.judging import judgement
from carrel.runs.judging.judgement import Evidence


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
