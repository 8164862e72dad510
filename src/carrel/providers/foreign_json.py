"""Decodes JSON of other servers: it counts the elements first, and whatever is wrong with it has one outcome. Pure."""

from typing import Final, TypeVar

import msgspec

from carrel.kit import json_elements
from carrel.providers.base import ANSWER_TOO_LARGE, ProviderError

T = TypeVar("T")

MAX_ELEMENTS: Final = 100_000
"""Commas and opening brackets outside of texts. A list of a thousand models with all their properties has fewer."""


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
        return None
