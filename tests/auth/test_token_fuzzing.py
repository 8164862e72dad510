"""Random changes of good tokens, byte by byte and as a whole: only the bytes that were issued are a token."""

import base64
import hashlib
import hmac
import random

import pytest

from carrel.auth import tokens
from carrel.auth.tokens import TokenInvalid
from tests.support import soak
from tests.support.soak import Figure

SECRET = b"first-secret-of-at-least-32-characters"
NOW = 1_800_000_000
ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n\x00\xff"
PARTS = 4


def changed(token: bytes, chance: random.Random) -> bytes:
    """The token after one to three changes; some are signed anew by somebody who does not know the secret."""
    made = bytearray(token)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(made)) if made else 0
        match chance.randrange(6):
            case 0 if made:
                made[at] ^= 1 << chance.randrange(8)
            case 1 if made:
                del made[at : at + chance.randint(1, 8)]
            case 2:
                made.insert(at, chance.choice(ALPHABET))
            case 3:
                made[at : at + 1] = made[at : at + chance.randint(1, 20)]
            case 4:
                made = bytearray(made[at:] + made[:at])
            case _:
                segment = bytes(made).partition(b".")[0]
                digest = hmac.digest(chance.randbytes(32), segment, hashlib.sha256)
                made = bytearray(segment + b"." + base64.urlsafe_b64encode(digest).rstrip(b"="))
    return bytes(made)


def accepted(number: int, seed: str) -> list[bytes]:
    """Those of `number` changed tokens that are let in; any error but that of a bad token is raised."""
    chance = random.Random(seed)
    let_in = []
    for _ in range(number):
        uuid = "".join(chance.choices("abcdef0123456789-", k=chance.randint(1, 36)))
        good = tokens.issue(uuid, NOW - chance.randrange(3_600), SECRET).encode()
        bad = changed(good, chance)
        try:
            tokens.verify(bad, (SECRET,), NOW)
        except TokenInvalid:
            continue
        if bad != good:
            let_in.append(bad)
    return let_in


def test_no_changed_token_is_a_token() -> None:
    assert accepted(1_000, "short") == []


@pytest.mark.soak(campaign="contract")
@pytest.mark.parametrize("part", range(PARTS))
def test_none_of_a_million_changed_tokens_is_a_token(part: int, figure: Figure) -> None:
    number = soak.size(1_000_000 // PARTS)
    assert accepted(number, f"{part}") == []
    figure("good tokens changed at random", tokens=number, accepted=0)
