"""Decodes JSON of files that anybody may have written, within bounds."""

import json
from typing import Any, Final

from carrel.datasets.result_files.answers import Unreadable
from carrel.kit import json_elements

MAX_FILE_BYTES: Final = 128 * 1024 * 1024
"""Of any file that is read."""
MAX_ELEMENTS: Final = 3_000_000
"""Of a file: 10,000 results of promptfoo. As empty objects they take 100 MB."""


def decoded(text: bytes) -> Any:
    """The value in a text.

    Raises:
        Unreadable: it has too many elements.
        ValueError: it is not JSON.
        RecursionError: it is nested too deep.
    """
    require_few(text)
    return json.loads(text)


def require_few(text: bytes) -> None:
    """Refuse a text of too many elements before anything is made of it.

    Raises:
        Unreadable
    """
    if json_elements.are_more_than(MAX_ELEMENTS, text):
        raise too_many()


def too_many() -> Unreadable:
    """The refusal of too many elements."""
    return Unreadable(f"it has more than {MAX_ELEMENTS:,} elements of JSON")
