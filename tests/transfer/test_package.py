"""The entries of a zip, read in pieces."""

import io
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.transfer import package
from carrel.transfer.package import Package
from carrel.transfer.pieces import ImportTooLarge, PieceFile
from tests.support.transfers import packed

LINES = st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b" ")), max_size=8)


@given(LINES, st.booleans(), st.integers(1, 9), st.integers(0, 12))
def test_lines_are_whole_and_bounded_however_the_entry_is_cut(
    lines: list[bytes], ends_with_break: bool, chunk: int, longest: int
) -> None:
    text = b"\n".join(lines) + b"\n" * ends_with_break
    *wanted, last = text.split(b"\n")
    wanted += [last] if last else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(package, "CHUNK_BYTES", chunk)
        found = Package(cast(PieceFile, io.BytesIO(packed({"a.jsonl": text})))).lines("a.jsonl", longest)
        if any(len(line) > longest for line in wanted):
            with pytest.raises(ImportTooLarge):
                list(found)
        else:
            assert list(found) == wanted
