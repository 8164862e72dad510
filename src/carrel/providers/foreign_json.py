"""Decodes JSON of other servers: it counts the elements first, and whatever is wrong with it has one outcome. Pure."""

import re
from typing import Final, TypeVar

import msgspec

from carrel.kit import json_elements
from carrel.providers.base import ANSWER_TOO_LARGE, ProviderError

T = TypeVar("T")

MAX_ELEMENTS: Final = 100_000
"""Commas and opening brackets outside of texts. A list of a thousand models with all their properties has fewer."""
_MARK: Final = b"\xef\xbb\xbf"
_HALF_PAIRS: Final = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\\\|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""Whole pairs and escaped backslashes are among what it finds, so that what remains is a half."""


def decoded(decoder: msgspec.json.Decoder[T], text: bytes | msgspec.Raw) -> T | None:
    """What the decoder makes of it; `None` if it is malformed, of another form, or nested a thousand deep.

    Raises:
        ProviderError: `answer-too-large`.
    """
    # A part of a text that was decoded was counted with it.
    if isinstance(text, bytes) and len(text) > MAX_ELEMENTS and json_elements.are_more_than(MAX_ELEMENTS, text):
        raise ProviderError(ANSWER_TOO_LARGE, retryable=False)
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        mended = _mended(bytes(text))
    try:
        return None if mended is None else decoder.decode(mended)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _mended(text: bytes) -> bytes | None:
    """The text without a byte order mark, and with a mark in place of half a character; `None` if it has neither."""
    plain = text.removeprefix(_MARK)
    if b"\\u" in plain:
        plain = _HALF_PAIRS.sub(lambda half: half[0] if len(half[0]) != len(b"\\ud800") else b"\\ufffd", plain)
    return None if plain == text else plain
