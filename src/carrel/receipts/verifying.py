"""Verifies a receipt offline: the signature, the ranking to the byte, the words, and texts that somebody discloses."""

from collections.abc import Collection
from functools import partial
from typing import Any, Final

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from msgspec.structs import replace

from carrel.evaluation.judges.human import HumanCheck
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.verdict import Statement
from carrel.kit import json_elements
from carrel.presets.configuration import DroppedPart
from carrel.receipts import commitments, rules
from carrel.receipts.commitments import DisclosedText
from carrel.receipts.grounds import Ground, grounds
from carrel.receipts.making import worded
from carrel.receipts.receipt import FORMATS, ReceiptCandidate, ReceiptJudge, Versions, canonical, to_sign
from carrel.runs.verdicts import judgement
from carrel.runs.verdicts.judgement import Evidence


class ReceiptRefuted(Exception):
    """The receipt, or a text, is not what it says; the message says why."""


class VerifiedReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """A good receipt. `key` signed it; `grounds` are the words and what they follow from, `figures` the ranking.

    `candidates` is empty if the receipt is of a format that does not name them.
    """

    key: str
    run: str
    round: int
    finished_at: str | None
    versions: Versions
    candidates: tuple[ReceiptCandidate, ...]
    judges: tuple[ReceiptJudge, ...]
    verdicts: int
    scores: int
    votes: int
    texts: dict[str, str]
    grounds: tuple[Ground, ...]
    ranking: Ranking
    human: HumanCheck | None
    same_as_at_end: bool


class _SignedDocument(msgspec.Struct, forbid_unknown_fields=True):
    key: str
    receipt: dict[str, Any]
    signature: str


class _ConfigurationClaims(msgspec.Struct, frozen=True):
    """The part of the configuration that the words mention."""

    dropped: list[DroppedPart] = []


class _Claims(msgspec.Struct):
    """The parts of a receipt that are checked; the others are only signed."""

    run: str
    round: int
    finished_at: str | None
    versions: Versions
    texts: dict[str, str]
    evidence: Evidence
    combined: tuple[str, ...]
    ranking: Ranking
    human: HumanCheck | None
    words: Statement
    same_as_at_end: bool
    judges: tuple[ReceiptJudge, ...]
    candidates: tuple[ReceiptCandidate, ...] = ()
    configuration: _ConfigurationClaims = _ConfigurationClaims()


_signed: Final = msgspec.json.Decoder(_SignedDocument)
_disclosed: Final = msgspec.json.Decoder(DisclosedText)

MAX_BYTES: Final = 64 * 1024 * 1024
"""Of a file: the receipt of the largest run has 13 megabytes."""
MAX_ELEMENTS: Final = 3_000_000

_OTHER_RULES: Final = (
    "it is signed, but it was made by other rules than those of this program ({theirs} has the rules {digest}),"
    " and by the rules here {what}; verify it with that version"
)


def verify(content: bytes, trusted: Collection[str] | None = None) -> VerifiedReceipt:
    """Check everything that can be checked without the texts. One of the `trusted` public keys must have signed.

    Raises:
        ReceiptRefuted: something is wrong, or it cannot be checked with this version's rules.
    """
    opened = authentic(content, trusted)
    if opened.receipt.get("format") not in FORMATS:
        raise ReceiptRefuted("it is signed, but of a form that this version does not know")
    try:
        versions = msgspec.convert(opened.receipt.get("versions"), Versions)
    except msgspec.ValidationError:
        raise ReceiptRefuted("it does not say which version made it") from None
    try:
        claimed = msgspec.convert(opened.receipt, _Claims)
        ranking = judgement.rank(claimed.evidence)
        human = judgement.check(claimed.evidence)
        words = _words(claimed, ranking, human)
    except (msgspec.ValidationError, ValueError):
        raise ReceiptRefuted(_because(versions, "its evidence cannot be ranked")) from None
    for name, found in (("ranking", ranking), ("human", human), ("words", words)):
        if canonical(found) != canonical(opened.receipt[name]):
            raise ReceiptRefuted(_because(versions, f"another result follows from its evidence: see `{name}`"))
    return VerifiedReceipt(
        key=opened.key,
        run=claimed.run,
        round=claimed.round,
        finished_at=claimed.finished_at,
        versions=versions,
        candidates=claimed.candidates,
        judges=claimed.judges,
        verdicts=len(claimed.evidence.verdicts),
        scores=len(claimed.evidence.scores),
        votes=len(claimed.evidence.votes),
        texts=claimed.texts,
        grounds=grounds(ranking, human, partial(_words, claimed), partial(_words, replace(claimed, candidates=()))),
        ranking=ranking,
        human=human,
        same_as_at_end=claimed.same_as_at_end,
    )


def authentic(content: bytes, trusted: Collection[str] | None = None) -> _SignedDocument:
    """The receipt, if not one bit of the file differs from what was signed, by a key that is `trusted` (any without).

    Raises:
        ReceiptRefuted: it is not so.
    """
    if json_elements.are_more_than(MAX_ELEMENTS, content):
        raise ReceiptRefuted("it has more elements than a receipt can have")
    try:
        opened = _signed.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ReceiptRefuted("it is not a receipt, or it was changed: it cannot be read") from None
    # Spaces, a repeated or misplaced field, another spelling of a number: nothing may hide behind a good signature.
    if canonical(opened) != content:
        raise ReceiptRefuted("it was changed: it is not written as receipts are")
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(opened.key))
        public.verify(bytes.fromhex(opened.signature), to_sign(opened.receipt, str(opened.receipt.get("format"))))
    except (InvalidSignature, ValueError):
        raise ReceiptRefuted("it was changed, or it was never signed: the signature does not fit") from None
    if public.public_bytes_raw().hex() != opened.key or bytes.fromhex(opened.signature).hex() != opened.signature:
        raise ReceiptRefuted("it was changed: key or signature is not written as receipts are")
    if trusted is not None and opened.key not in trusted:
        raise ReceiptRefuted("it was signed with another key than the one that you trust")
    return opened


def disclosed(texts: dict[str, str], content: bytes) -> str:
    """The name of the text that a file discloses.

    Raises:
        ReceiptRefuted: it is not the text that was judged.
    """
    try:
        found = _disclosed.decode(content)
        commitment = commitments.digest(bytes.fromhex(found.salt), found.text)
    except (msgspec.DecodeError, UnicodeError, ValueError, RecursionError):
        raise ReceiptRefuted("it is not a disclosed text: it cannot be read") from None
    if texts.get(found.name) != commitment:
        raise ReceiptRefuted(f"it is not the text that the receipt calls {found.name!r}")
    return found.name


def _words(claimed: _Claims, ranking: Ranking, human: HumanCheck | None) -> Statement:
    return worded(ranking, human, claimed.candidates, claimed.combined, claimed.configuration.dropped)


def _because(versions: Versions, what: str) -> str:
    if versions.rules == rules.digest():
        return f"it is signed, but {what}"
    return _OTHER_RULES.format(theirs=f"carrel {versions.carrel}", digest=versions.rules[:16], what=what)
