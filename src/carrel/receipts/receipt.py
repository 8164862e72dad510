"""What a receipt holds, and the one way in which it is written down."""

from typing import Final, Literal

import msgspec

from carrel.evaluation.judges.human import HumanCheck
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.verdict import Statement
from carrel.kit.clock import Time
from carrel.presets.configuration import Configuration
from carrel.providers.base import Parameters
from carrel.providers.hosts import UNKNOWN
from carrel.receipts.commitments import Commitment
from carrel.runs.model.setup import RunId
from carrel.runs.verdicts.judgement import Evidence

FORMAT: Final = "carrel-receipt-2"
FORMATS: Final = ("carrel-receipt-1", FORMAT)
"""Those that can be verified. The first one does not tell hosts."""

_encoder: Final = msgspec.json.Encoder(order="sorted")


class Versions(msgspec.Struct, frozen=True):
    """The program that made the receipt; `rules` is the digest of the sources that rank and find the words."""

    carrel: str
    rules: str


class ReceiptCandidate(msgspec.Struct, frozen=True):
    """A candidate: the label that the user gave it, and what answered. `model` is null if all its answers existed."""

    label: str
    model: str | None
    host: str | None


class ReceiptJudge(msgspec.Struct, frozen=True):
    """A judge of the round; its weights stand with the evidence. Its name tells the host, too."""

    name: str
    model: str
    parameters: Parameters
    score_repeats: int
    host: str | None = UNKNOWN


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What was judged, every verdict and score, and what follows from them. It holds no text that was judged.

    `candidates` and `judges` name the `host` of each model, null at its provider's own.
    `texts` are commitments to documents, references, instructions, criteria and answers, by name. `evidence` names
    criteria without their descriptions. `ranking`, `human` and `words` are recomputed from `evidence` for the receipt;
    `combined` are the candidates that combined others' answers, which the words mention. `same_as_at_end` is false if
    the round ended with another ranking, because an earlier version had other rules.
    """

    format: Literal["carrel-receipt-2"] = FORMAT
    run: RunId
    round: int
    created_at: Time
    finished_at: Time | None
    versions: Versions
    configuration: Configuration
    candidates: tuple[ReceiptCandidate, ...]
    judges: tuple[ReceiptJudge, ...]
    texts: dict[str, Commitment]
    evidence: Evidence
    combined: tuple[str, ...]
    ranking: Ranking
    human: HumanCheck | None
    words: Statement
    same_as_at_end: bool


class SignedReceipt(msgspec.Struct, frozen=True):
    """A receipt with the public key of its service and the Ed25519 signature, both in hex.

    The signature is over the receipt's format (`carrel-receipt-2`), a newline, and the receipt as canonical JSON:
    sorted keys, no spaces, UTF-8.
    """

    key: str
    receipt: Receipt
    signature: str


def canonical(value: object) -> bytes:
    """JSON with sorted keys and without spaces: equal values give equal bytes."""
    return _encoder.encode(value)


def to_sign(receipt: object, form: str = FORMAT) -> bytearray:
    """The bytes that the service signs. Their first line, the receipt's format, keeps them apart from anything else."""
    head = f"{form}\n".encode()
    signed = bytearray(head)
    _encoder.encode_into(receipt, signed, len(head))
    return signed
