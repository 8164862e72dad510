"""The database key of a user, as the host derives it from the password before it signs the user in."""

import hashlib
from typing import Final

ITERATIONS: Final = 600_000
KEY_BYTES: Final = 32
NOT_UNICODE: Final = "password and uuid must be valid Unicode"


def derive_key(password: str, uuid: str) -> bytes:
    """The 32-byte key: PBKDF2-SHA256 over the password's SHA-256 in lowercase hex, salted with the uuid.

    The password goes in as it was typed, as UTF-8: not trimmed, not normalised. Takes some tenths of a second, on
    purpose. Keep the result no longer than the call that delivers it, and write it nowhere.

    Raises:
        ValueError: the password or uuid is no text that UTF-8 can write (a lone surrogate).
    """
    key = derived(password, uuid)
    # A traceback shows the variables of its frames to whoever records errors; this one must not show the password.
    del password
    if key is None:
        raise ValueError(NOT_UNICODE)
    return key


def derived(password: str, uuid: str) -> bytes | None:
    """Like `derive_key`, but returns None instead of raising, for callers that drop the password first."""
    secret, salt = _utf8(password), _utf8(uuid)
    if secret is None or salt is None:
        return None
    fingerprint = hashlib.sha256(secret).hexdigest().encode("ascii")
    return hashlib.pbkdf2_hmac("sha256", fingerprint, salt, ITERATIONS, KEY_BYTES)


def _utf8(text: str) -> bytes | None:
    try:
        return text.encode()
    except UnicodeEncodeError:
        # The error itself holds the whole text; returning lets go of it, raising from it would not.
        return None
