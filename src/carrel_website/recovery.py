"""The recovery code: the website shows it once and does not store it.

The website seals the workspace's key to a public key that is derived from the code. Sealing needs only the public
key, so the website can seal the key of every later password without the user; opening needs the code. The
construction is HPKE (RFC 9180) with X25519, HKDF-SHA256 and ChaCha20-Poly1305. A code has 160 random bits, which is
more than anybody can try; a password instead of it would need a slow derivation.
"""

import secrets
from collections.abc import Iterable
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32, without letters that look like digits."""
_LENGTH: Final = 32
_READ_AS: Final = str.maketrans({"O": "0", "I": "1", "L": "1", " ": None, "-": None})
_SUITE: Final = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)


def new_code() -> str:
    """A fresh code, in groups of four."""
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    return "-".join(letters[at : at + 4] for at in range(0, _LENGTH, 4))


def public_key(code: str, uuid: str) -> bytes:
    """The public key, which the website keeps."""
    return _private_key(code, uuid).public_key().public_bytes_raw()


def seal(public: bytes, uuid: str, db_key: bytes) -> bytes:
    """Seal the workspace's key, so that only the code opens it."""
    return _SUITE.encrypt(db_key, X25519PublicKey.from_public_bytes(public), info=_info(uuid))


def unseal(code: str, uuid: str, sealed: Iterable[bytes]) -> list[bytes]:
    """The keys that this code opens; none if it is the wrong code."""
    private = _private_key(code, uuid)
    keys = []
    for each in sealed:
        try:
            keys.append(_SUITE.decrypt(each, private, info=_info(uuid)))
        except InvalidTag:
            # Sealed to an earlier code.
            continue
    return keys


def _private_key(code: str, uuid: str) -> X25519PrivateKey:
    letters = code.upper().translate(_READ_AS).encode()
    derived = HKDF(SHA256(), length=32, salt=uuid.encode(), info=b"reading-room recovery code").derive(letters)
    return X25519PrivateKey.from_private_bytes(derived)


def _info(uuid: str) -> bytes:
    return b"reading-room sealed key " + uuid.encode()
