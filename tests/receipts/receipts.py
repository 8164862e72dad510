"""Receipts made by hand, as small or as large as a test wants them."""

import random
from itertools import combinations

from carrel.evaluation.judges.human import vote
from carrel.evaluation.records import HumanVote, Score, Verdict, Word
from carrel.presets.configuration import Candidate, Configuration, Generation
from carrel.providers.base import Criterion, Parameters
from carrel.receipts import commitments, rules
from carrel.receipts.keys import Signer
from carrel.receipts.making import worded
from carrel.receipts.receipt import Receipt, ReceiptCandidate, ReceiptJudge, Versions
from carrel.runs.model.setup import RunId
from carrel.runs.verdicts import judgement
from carrel.runs.verdicts.judgement import Evidence
from carrel.vault.ids import ContentId

SIGNER = Signer(b"service-key-for-tests-0123456789")
SECRET = "01900000-0000-7000-8000-000000000abc"
_WORDS: tuple[Word, ...] = ("first", "second", "tie", "invalid")


def evidence(
    seed: int = 1, *, documents: int = 6, labels: tuple[str, ...] = ("alpha", "beta"), judges: int = 2, votes: int = 0
) -> Evidence:
    """Judges that prefer earlier candidates, with errors by chance."""
    chance = random.Random(seed)
    verdicts: list[Verdict] = []
    scores: list[Score] = []
    usual: list[Word] = ["first", "second"]
    for d in range(1, documents + 1):
        for j in range(1, judges + 1):
            for a, b in combinations(labels, 2):
                ab, ba = usual if chance.random() < 0.8 else chance.choices(_WORDS, k=2)
                verdicts.append(
                    Verdict(document=f"d{d}", judge=f"j{j}", a=a, b=b, ab=ab, ba=ba, a_length=90, b_length=100)
                )
            scores.extend(
                Score(document=f"d{d}", judge=f"j{j}", candidate=label, values={"clarity": float(chance.randint(1, 5))})
                for label in labels
            )
    return Evidence(
        candidates=labels,
        verdicts=verdicts,
        scores=scores,
        criteria=(Criterion("clarity", ""),),
        comparison_weights={f"j{j}": 1.0 for j in range(1, judges + 1)},
        scoring_weights={f"j{j}": 1.0 for j in range(1, judges + 1)},
        votes=[HumanVote(verdict=vote(f"d{d}", labels[0], labels[1], 1, "b")) for d in range(1, votes + 1)],
    )


def receipt(found: Evidence, *, digest: str | None = None) -> Receipt:
    ranking, human = judgement.rank(found), judgement.check(found)
    candidates = tuple(ReceiptCandidate(one, "local:lead", None) for one in found.candidates)
    return Receipt(
        run=RunId("01900000-0000-7000-8000-000000000007"),
        round=1,
        created_at="2026-11-22T06:00:00.000Z",
        finished_at="2026-11-22T06:01:00.000Z",
        versions=Versions("0.1.0", digest or rules.digest()),
        configuration=Configuration(
            inputs=[ContentId("c1")],
            generation=Generation(candidates=[Candidate(label=one, model="local:lead") for one in found.candidates]),
        ),
        candidates=candidates,
        judges=(ReceiptJudge("j1", "local:reader", Parameters(), 1, None),),
        texts={"d1": commitments.commit(SECRET, "d1", "yes")},
        evidence=found,
        combined=(),
        ranking=ranking,
        human=human,
        words=worded(ranking, human, candidates, (), ()),
        same_as_at_end=True,
    )
