"""Commitments to texts: a salted digest binds a text without telling it, and the salt discloses one text alone."""

import hashlib
import hmac
from typing import Annotated

import msgspec

Commitment = Annotated[str, msgspec.Meta(description="SHA-256 of a 32-byte salt and the text in UTF-8, in hex.")]


class DisclosedText(msgspec.Struct, frozen=True):
    """One text of a run with the salt of its commitment, in hex. It discloses no other text."""

    name: str
    salt: str
    text: str


def commit(secret: str, name: str, text: str) -> Commitment:
    """The commitment to a text. Without `secret`, nobody can find even a short text by trying."""
    return digest(salt(secret, name), text)


def salt(secret: str, name: str) -> bytes:
    """The salt of one text, derived from a secret of the run, so that nothing has to be stored."""
    return hmac.digest(secret.encode(), b"receipt:" + name.encode(), "sha256")


def digest(salted_with: bytes, text: str) -> Commitment:
    """The commitment that this salt and this text give."""
    return hashlib.sha256(salted_with + text.encode()).hexdigest()
