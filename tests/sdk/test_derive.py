"""The key is the specification's, to the bit."""

import hashlib
import traceback

import pytest
from carrel_sdk.derive import derive_key

VECTOR = "bb72a768eefa38b02ee0e92f7f7689d32f559e5c995fd2f5d6c54da6243507b4"


def test_the_contracts_vector_holds() -> None:
    assert derive_key("correct horse battery staple", "3f1c2b9e-0001").hex() == VECTOR


def test_the_password_is_taken_as_typed_without_trimming_or_normalisation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrel_sdk.derive.ITERATIONS", 1)
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    keys = {derive_key(password, "u-1") for password in (composed, decomposed, composed + " ", "CAF\u00c9")}
    assert len(keys) == 4


def test_the_sha_256_goes_in_as_lowercase_hex() -> None:
    fingerprint = hashlib.sha256(b"p").hexdigest().encode()
    assert derive_key("p", "u") == hashlib.pbkdf2_hmac("sha256", fingerprint, b"u", 600_000, 32)


def test_a_password_that_is_no_unicode_is_refused_without_being_shown() -> None:
    with pytest.raises(ValueError, match="valid Unicode") as caught:
        derive_key("hunter2\ud800", "u")
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    own = shown[shown.rindex("derive.py") :]
    assert "hunter2" not in own
    assert caught.value.__context__ is None
