"""Session tokens: the format of the specification's section 5.3, and nothing that merely resembles it."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.auth import tokens
from carrel.auth.tokens import TokenExpired, TokenInvalid

SECRET = b"first-secret-of-at-least-32-characters"
OTHER = b"other-secret-of-at-least-32-characters"
NOW = 1_800_000_000


def encode(raw: bytes) -> bytes:
    return base64.urlsafe_b64encode(raw).rstrip(b"=")


def sign(payload: bytes, secret: bytes = SECRET) -> bytes:
    segment = encode(payload)
    return segment + b"." + encode(hmac.new(secret, segment, hashlib.sha256).digest())


def test_a_token_is_the_payload_and_its_hmac_as_the_specification_writes_it() -> None:
    token = tokens.issue("3f1c2b9e-0001", NOW, SECRET)
    segment, signature = token.encode().split(b".")
    payload = base64.urlsafe_b64decode(segment + b"=" * (-len(segment) % 4))
    assert payload == b'{"uuid":"3f1c2b9e-0001","exp":1800003600,"v":1}'
    assert signature == encode(hmac.new(SECRET, segment, hashlib.sha256).digest())
    assert b"=" not in token.encode()


@given(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", fullmatch=True), st.integers(0, 2**40))
def test_what_was_issued_verifies_until_its_last_second(uuid: str, issued_at: int) -> None:
    token = tokens.issue(uuid, issued_at, SECRET).encode()
    claims = tokens.verify(token, (SECRET,), issued_at + 3599.999)
    assert claims == (uuid, issued_at + 3600)
    assert claims.issued_at == issued_at
    with pytest.raises(TokenExpired):
        tokens.verify(token, (SECRET,), issued_at + 3600)


def test_during_a_rotation_both_secrets_are_accepted_and_no_third() -> None:
    token = tokens.issue("u", NOW, OTHER).encode()
    assert tokens.verify(token, (SECRET, OTHER), NOW).uuid == "u"
    with pytest.raises(TokenInvalid):
        tokens.verify(token, (SECRET,), NOW)


@given(st.data())
def test_any_changed_byte_makes_a_token_invalid(data: st.DataObject) -> None:
    token = bytearray(tokens.issue("3f1c2b9e-0001", NOW, SECRET).encode())
    at = data.draw(st.integers(0, len(token) - 1))
    token[at] = data.draw(st.integers(0, 255).filter(lambda byte: byte != token[at]))
    with pytest.raises(TokenInvalid):
        tokens.verify(bytes(token), (SECRET,), NOW)


@given(st.binary(max_size=2000))
def test_arbitrary_bytes_are_refused_without_another_error(token: bytes) -> None:
    with pytest.raises(TokenInvalid):
        tokens.verify(token, (SECRET,), NOW)


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(b'{"uuid":"u","exp":1800003600,"v":2}', id="another version"),
        pytest.param(b'{"uuid":"*","exp":1800003600,"v":1}', id="no uuid"),
        pytest.param(b'{"uuid":"../a","exp":1800003600,"v":1}', id="a path for a uuid"),
        pytest.param(b'{"uuid":"","exp":1800003600,"v":1}', id="an empty uuid"),
        pytest.param(b'{"uuid":"u","exp":1800003600,"v":true}', id="true for 1"),
        pytest.param(b'{"uuid":"u","exp":1800003600,"v":1.0}', id="1.0 for 1"),
        pytest.param(b'{"uuid":"u","exp":1800003600.5,"v":1}', id="a fraction of a second"),
        pytest.param(b'{"uuid":"u","exp":true,"v":1}', id="true for an end"),
        pytest.param(b'{"uuid":"u","exp":NaN,"v":1}', id="an end that no time reaches"),
        pytest.param(b'{"uuid":"u","exp":Infinity,"v":1}', id="an end in infinity"),
        pytest.param(b'{"uuid":"u","exp":"1800003600","v":1}', id="an end in quotes"),
        pytest.param(b'{"uuid":7,"exp":1800003600,"v":1}', id="a number for a uuid"),
        pytest.param(b'{"uuid":"u","exp":1,"exp":1800003600,"v":1}', id="a key twice"),
        pytest.param(b'{"uuid":"u","exp":1800003600,"v":1,"admin":1}', id="a key too many"),
        pytest.param(b'{"uuid":"u","exp":1800003600}', id="a key too few"),
        pytest.param(b'{"exp":1800003600,"uuid":"u","v":1}', id="another order"),
        pytest.param(b'{"uuid":"u","exp":' + b"9" * 470 + b',"v":1}', id="five hundred digits"),
        pytest.param(b"[" * 500, id="deep nesting"),
        pytest.param(b'{"uuid": "u", "exp": 1800003600, "v": 1}', id="with spaces"),
        pytest.param(b'{"uuid":"u","exp":1800003600,"v":1}\n', id="with a line break"),
        pytest.param(b'{"uuid":"\\u0075","exp":1800003600,"v":1}', id="an escaped letter"),
        pytest.param(b'{"uuid":"u","exp":18000036e2,"v":1}', id="an end with an exponent"),
        pytest.param(b'{"uuid":"u","exp":1800003600.0,"v":1}', id="an end with a point"),
        pytest.param(b'["uuid","exp","v"]', id="a list"),
        pytest.param(b"null", id="null"),
        pytest.param(b"\xff\xfe", id="not UTF-8"),
        pytest.param(json.dumps({"uuid": "u" * 500, "exp": NOW + 3600, "v": 1}).encode(), id="over 512 bytes"),
    ],
)
def test_even_rightly_signed_only_the_exact_payload_counts(payload: bytes) -> None:
    with pytest.raises(TokenInvalid):
        tokens.verify(sign(payload), (SECRET,), NOW)


@pytest.mark.parametrize("change", [lambda s: s + b"=", lambda s: s + b"A", lambda s: b" " + s, lambda s: s + b"\n"])
def test_another_spelling_of_the_same_bytes_is_refused(change: Callable[[bytes], bytes]) -> None:
    token = tokens.issue("3f1c2b9e-0001", NOW, SECRET).encode()
    segment, signature = token.split(b".")
    resigned = change(segment)
    for respelled in (
        resigned + b"." + signature,
        resigned + b"." + encode(hmac.new(SECRET, resigned, hashlib.sha256).digest()),
        segment + b"." + change(signature),
        token + b".x",
    ):
        with pytest.raises(TokenInvalid):
            tokens.verify(respelled, (SECRET,), NOW)


def test_a_token_from_after_the_last_possible_issue_is_refused() -> None:
    claims = tokens.verify(tokens.issue("u", NOW + 60, SECRET).encode(), (SECRET,), NOW)
    tokens.require_issued(claims, NOW)
    with pytest.raises(TokenInvalid):
        tokens.require_issued(claims, NOW - 1)
