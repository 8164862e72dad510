"""The bytes of a table as text, in pieces and lines of a bounded length."""

import codecs
import io
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Final

from carrel.datasets.refusals import RowTooLarge, TableUnreadable
from carrel.datasets.schemas import MAX_EMPTY_LINES
from carrel.errors import FieldError
from carrel.kit import encodings

if TYPE_CHECKING:
    from typing_extensions import Buffer

_NOT_UTF8: Final = (
    "is neither UTF-8 nor UTF-16 with its mark; save it as UTF-8, in a spreadsheet program as “CSV UTF-8”"
)

_WESTERN: Final = "The file is not in UTF-8; it was read as Windows-1252, as Excel saves CSV in Western Europe."

_MARK: Final = "\ufeff"


def western(pieces: Iterable[bytes], notes: list[str]) -> Iterator[bytes]:
    """The text in the pieces, of which the first letters beyond ASCII tell whether it is UTF-8 or Windows-1252.

    `notes` get a note about the latter, which comes in UTF-8.
    """
    left = iter(pieces)
    held = b""
    for piece in chain(left, (b"",)):
        held += piece
        if held.isascii() and encodings.of(held)[1] is None:
            yield held
            held = b""
            continue
        try:
            _, read_ = codecs.utf_8_decode(held, "strict", not piece)
        except UnicodeDecodeError:
            if encodings.of(held)[1] is None and encodings.is_western(held):
                notes.append(_WESTERN)
                held, left = b"", (one.decode(encodings.WESTERN).encode() for one in chain((held,), left))
            break
        if piece and held[:read_].isascii() and read_ < len(held):
            continue  # the end of the piece may be the half of a letter
        break
    yield held
    yield from left


def opened(pieces: Iterable[bytes], newline: str | None) -> io.TextIOWrapper:
    """The text in the pieces. `newline` is as for `open`."""
    left = iter(pieces)
    head = b""
    while len(head) < encodings.GUESSED_BY and (piece := next(left, b"")):
        head += piece
    mark, encoding = encodings.of(head)
    raw = io.BufferedReader(_Pieces(chain((head[mark:],), left)))
    return io.TextIOWrapper(raw, encoding or "utf-8", newline=newline)


def read(source: io.TextIOWrapper, count: int) -> str:
    """So many characters; fewer only at the end.

    Raises:
        TableUnreadable: this is no text.
    """
    try:
        return source.read(count)
    except UnicodeDecodeError:
        raise TableUnreadable(errors=(FieldError("file", _NOT_UTF8),)) from None


def lines(source: io.TextIOWrapper, longest: int) -> Iterator[str]:
    """Lines one by one, with their ends, none of more than `longest` characters.

    Files that were put together have marks of their encoding before some lines, which are no text.

    Raises:
        TableUnreadable: this is no text.
        RowTooLarge: a line is longer.
    """
    try:
        while line := source.readline(longest + 1):
            if len(line) > longest:
                raise too_long(longest)
            yield line.lstrip(_MARK)
    except UnicodeDecodeError:
        raise TableUnreadable(errors=(FieldError("file", _NOT_UTF8),)) from None


def too_long(longest: int) -> RowTooLarge:
    """What refuses a row of more characters."""
    return RowTooLarge(errors=(FieldError("rows", f"must have at most {longest:,} characters each"),))


def require_few_empty(count: int) -> None:
    """Go on only if a table has not too many empty lines: to pass millions takes longer than to read the table.

    Raises:
        TableUnreadable
    """
    if count > MAX_EMPTY_LINES:
        raise TableUnreadable(errors=(FieldError("file", f"must have at most {MAX_EMPTY_LINES:,} empty lines"),))


class _Pieces(io.RawIOBase):
    """Pieces as a file."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "Buffer") -> int:
        into = memoryview(buffer).cast("B")
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        count = min(len(into), len(self._rest))
        into[:count], self._rest = self._rest[:count], self._rest[count:]
        return count
