"""Files that unpack to far more than they hold, are nested without end, or make no sense: what they cost is bounded."""

import io
import json
import sys
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from carrel.datasets.result_files.answers import Unreadable
from carrel.datasets.result_files.json_text import MAX_ELEMENTS
from carrel.datasets.result_files.reading import read_results, read_table
from carrel.datasets.schemas import Source
from tests.datasets.result_files.test_result_files import CHOICES, DEEPEVAL, OPENAI, V2, log, promptfoo, result, sample

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MB = 1_000_000


def packed(*samples: bytes, header: Any = None) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("header.json", json.dumps(log() if header is None else header))
        for number, one in enumerate(samples):
            made.writestr(f"samples/{number}.json", one)
    return file.getvalue()


def zstd_packed(size: int, sample_text: bytes) -> bytes:
    """An .eval file of today's Inspect. It says that its sample has `size` bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        header = json.dumps(log()).encode()
        for name, text in {"header.json": header, "samples/0.json": sample_text}.items():
            made.writestr(name, zstd.compress(text))
            entry = made.getinfo(name)
            entry.compress_type, entry.CRC = 93, zlib.crc32(text)
            entry.file_size = len(text) if name == "header.json" else size
    return file.getvalue()


def nested(levels: int, around: Callable[[str], str]) -> str:
    text = '"x"'
    for _ in range(levels):
        text = around(text)
    return text


def empty_lists() -> bytes:
    return b"[" + b",".join([b"[]"] * 5 * MB) + b"]"


def long_text(number: int) -> bytes:
    return b'{"id": %d, "input": "' % number + b"x" * 30 * MB + b'"}'


BOMB = b"a: &a [1, 1]\n" + b"".join(b"%c: &%c [*%c, *%c]\n" % (n + 1, n + 1, n, n) for n in range(97, 121))
BOMBS: dict[str, tuple[str, Callable[[], bytes], int]] = {
    "empty lists in a zip": ("a.eval", lambda: packed(empty_lists()), 60),
    "empty lists": ("a.json", empty_lists, 60),
    "empty lists in lines": ("a.jsonl", lambda: empty_lists() + b"\n", 60),
    "short lines": ("a.jsonl", lambda: b"1\n" * 5 * MB, 5),
    "short texts": ("a.json", lambda: b"[" + b",".join([b'""'] * 5 * MB) + b"]", 60),
    "a long sample": ("a.eval", lambda: packed(b" " * 70 * MB), 5),
    "long texts": ("a.eval", lambda: packed(*(long_text(number) for number in range(3))), 160),
    "aliases": ("a.yaml", lambda: BOMB, 5),
    "many files": ("a.eval", lambda: b"PK\x03\x04" + b"PK\x01\x02" * 200_000, 5),
}
"""Made in the test: each is many megabytes, and every worker imports this file."""


@pytest.mark.parametrize("name", BOMBS)
def test_what_a_file_unpacks_to_is_counted_before_it_becomes_objects(name: str) -> None:
    file_name, made, most_mb = BOMBS[name]
    body = made()
    tracemalloc.start()
    try:
        with pytest.raises(Unreadable, match=r"more than [0-9]|too many values"):
            read_results(file_name, body)
        assert tracemalloc.get_traced_memory()[1] < most_mb * MB
    finally:
        tracemalloc.stop()
    assert MAX_ELEMENTS < 4 * MB


DEEP: dict[str, tuple[str, bytes]] = {
    "lists": ("a.json", b"[" * 100_000),
    "lists in lines": ("a.jsonl", b"[" * 100_000 + b"\n"),
    "lists in a zip": ("a.eval", packed(b"[" * 100_000)),
    "messages": (
        "a.json",
        json.dumps(log(sample(1))).replace(
            '"Capital of France?"', nested(900, lambda inner: f'[{{"role": "user", "content": {inner}}}]')
        ).encode(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("size", [0, 100, 80 * MB])
def test_a_sample_that_says_a_wrong_size_is_not_unpacked_further(size: int) -> None:
    text = json.dumps(sample(1)).encode() + b" " * 60 * MB
    body = zstd_packed(size, text)
    tracemalloc.start()
    try:
        with pytest.raises(Unreadable, match=r"damaged|more than 64 MiB"):
            read_results("a.eval", body)
        assert tracemalloc.get_traced_memory()[1] < 2 * MB
    finally:
        tracemalloc.stop()
    answers = read_results("a.eval", zstd_packed(len(text), text))
    assert answers is not None
    assert answers.candidates == ("openai/gpt-5",)


@pytest.mark.parametrize("name", DEEP)
def test_what_is_nested_without_end_is_told_as_such(name: str) -> None:
    with pytest.raises(Unreadable, match="nested too deep"):
        read_results(*DEEP[name])


def test_four_hundred_nested_messages_are_read() -> None:
    messages = nested(400, lambda inner: f'[{{"role": "user", "content": {inner}}}]')
    text = json.dumps(log(sample(1))).replace('"Capital of France?"', messages)
    answers = read_results("a.json", text.encode())
    assert answers is not None
    assert answers.rows[0]["input"] == "x"


ODD: list[Any] = [None, True, 0, -1, 1.5, 10**400, "", "\ud800", "9" * 5_000, [], {}, [[]], [{"role": 1, "content": 2}]]
GOOD: list[Any] = [
    promptfoo(result(0, 0, "a"), result(0, 1, "b")),
    log(sample(1), sample(2, choices=["a"], epoch=2)),
    [{"id": "a", "input": "q", "output": "x", "traceId": "t", "model": model} for model in ("a", "b")],
    [OPENAI],
    [CHOICES],
    {"testCases": [DEEPEVAL]},
    {"results": {"results": V2}},
]


def changed(value: Any, draw: Callable[..., Any]) -> Any:
    """The value with something odd in a random place of it."""
    if isinstance(value, dict | list) and value and draw(st.integers(0, 4)):
        at = draw(st.sampled_from(list(value) if isinstance(value, dict) else range(len(value))))
        items = value.items() if isinstance(value, dict) else enumerate(value)
        made = {key: changed(one, draw) if key == at else one for key, one in items}
        return made if isinstance(value, dict) else list(made.values())
    return draw(st.sampled_from(ODD))


@given(st.data())
@hypothesis_settings(max_examples=300)
def test_whatever_stands_in_a_file_it_is_read_or_named(data: st.DataObject) -> None:
    text = json.dumps(changed(data.draw(st.sampled_from(GOOD)), data.draw)).encode()
    name = data.draw(st.sampled_from(["a.json", "a.jsonl", "a.yaml"]))
    source: Source | None = data.draw(
        st.sampled_from([None, "promptfoo", "inspect", "langfuse", "openai", "lm-eval", "deepeval", "ragas"])
    )
    with suppress(Unreadable):
        (read_results(name, text, source) or read_table(name, text)).as_json_lines()
