"""Makes the receipt of a run: a scan reads the rows, a worker ranks, a thread writes and signs."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec.structs import astuple, replace

from carrel import __version__
from carrel.evaluation.judges.human import HumanCheck
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.verdict import Statement
from carrel.kit.processes.pool import WorkerPool
from carrel.presets.configuration import DroppedPart
from carrel.receipts import rules
from carrel.receipts.gathering import ReceiptInput, gather
from carrel.receipts.keys import Signer
from carrel.receipts.receipt import Receipt, ReceiptCandidate, Versions, canonical, to_sign
from carrel.runs.model.setup import RunId
from carrel.runs.verdicts import judgement, whatif, wording
from carrel.runs.verdicts.judgement import Conclusion, Evidence, PackedEvidence
from carrel.runs.verdicts.wording import CandidateModel
from carrel.vault.workspace import Workspace


async def made(workspace: Workspace, workers: WorkerPool, signer: Signer, run_id: RunId) -> bytes:
    """The receipt, as bytes that must not be written down in another way: their order is part of what is checked.

    Raises:
        NotFound: there is no such run.
        ReceiptNotReady: it has no result.
        Unavailable: the ranking takes too much time or memory.
    """
    async with workers.turn(workspace.uuid) as worker:
        gathered = await workspace.scan(gather, run_id)
        answered = await whatif.answered(worker, gathered.evidence)
    return await asyncio.to_thread(_written, gathered, answered, signer)


def worded(
    ranking: Ranking,
    human: HumanCheck | None,
    candidates: Iterable[ReceiptCandidate],
    combined: tuple[str, ...],
    dropped: Sequence[DroppedPart],
) -> Statement:
    """The words that follow from the figures of a receipt, as the ranking's own page shows them."""
    return wording.worded(ranking, human, [CandidateModel(*astuple(one)) for one in candidates], combined, dropped)


def signed(receipt: Receipt, signer: Signer) -> bytes:
    """The file: the receipt with key and signature."""
    # Encoded once: the largest has 13 MB. `canonical` would copy it once more.
    body = to_sign(receipt)
    head, tail = f'{{"key":"{signer.public}","receipt":', f',"signature":"{signer.sign(body)}"}}'
    return b"".join((head.encode(), memoryview(body)[body.index(b"\n") + 1 :], tail.encode()))


def _evidence(packed: PackedEvidence) -> Evidence:
    """The evidence as the receipt tells it, its records written already: as objects they take far more."""
    found = judgement.rest(packed)
    return replace(
        found,
        # A description is a text of the user's, and no ranking depends on it.
        criteria=tuple(replace(criterion, description="") for criterion in found.criteria),
        verdicts=_list(judgement.verdicts(packed)),
        scores=_list(judgement.scores(packed)),
        marks=_list(judgement.marks(packed)),
    )


def _list(records: Iterable[object]) -> Any:
    written = bytearray(b"[")
    for record in records:
        written += canonical(record) + b","
    written[max(1, len(written) - 1) :] = b"]"
    return msgspec.Raw(written)


def _written(gathered: ReceiptInput, answered: Conclusion, signer: Signer) -> bytes:
    setup, head = gathered.setup, gathered.head
    receipt = Receipt(
        run=setup.id,
        round=setup.round.number,
        created_at=head.created_at,
        finished_at=head.finished_at,
        versions=Versions(__version__, rules.digest()),
        configuration=head.configuration,
        candidates=gathered.candidates,
        judges=gathered.judges,
        texts=gathered.texts,
        evidence=_evidence(gathered.evidence),
        combined=gathered.combined,
        ranking=answered.ranking,
        human=answered.human,
        words=worded(
            answered.ranking, answered.human, gathered.candidates, gathered.combined, head.configuration.dropped
        ),
        same_as_at_end=answered.ranking == gathered.at_end,
    )
    return signed(receipt, signer)
