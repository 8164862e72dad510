"""What is text, and that JSON which names a NUL is found however it is written."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from carrel.kit.plain_text import as_text, is_text, names_nul

ANY = st.text(st.sampled_from('\\u0\x00/"n\ud800\udc00é🛶 a') | st.characters())


@given(ANY)
@example("\\u0000")
@example("\\\x00")
@example("\\\\u0000\x00")
@example("\ud800")
def test_nul_and_half_characters_are_no_text(text: str) -> None:
    assert is_text(text) == ("\0" not in text and not any("\ud800" <= one <= "\udfff" for one in text))
    assert is_text(as_text(text))
    assert (as_text(text) == text) == is_text(text)
    assert len(as_text(text)) == len(text)


@given(st.dictionaries(ANY, ANY | st.lists(ANY)), st.booleans())
@example({"\\u0000": []}, False)
@example({"\\\x00": []}, False)
def test_json_that_names_nul_is_found(value: dict[str, object], ascii_only: bool) -> None:
    written = json.dumps(value, ensure_ascii=ascii_only).encode(errors="surrogatepass")
    assert names_nul(written) == any("\0" in text for text in texts(value))


def texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for one in value for text in texts(one)]
    return [text for pair in value.items() for one in pair for text in texts(one)] if isinstance(value, dict) else []


@pytest.mark.parametrize("backslashes", [1, 2, 3, 100_001, 100_002])
def test_many_backslashes_are_counted_in_one_pass(backslashes: int) -> None:
    assert names_nul(b'"' + b"\\" * backslashes + b'u0000"') == (backslashes % 2 == 1)
