"""Word files: a zip with the text in one XML part. Headings, lists and tables become the Markdown for them.

Python's own expat reads the part as a stream, so memory stays small whatever the zip unpacks to. The reader refuses a
document type declaration, because entities are declared there and Word writes none.
"""

import io
import zipfile
import zlib
from xml.parsers import expat

from carrel.documents.refusals import DocumentBroken, DocumentEncrypted, DocumentTooComplex, TextTooLarge

_PART = "word/document.xml"
_CHUNK_BYTES = 64 * 1024
MAX_XML_BYTES = 128 * 1024 * 1024
_MAX_DIRECTORY_BYTES = 1024 * 1024
"""The list of a zip's entries. Word's have a few kilobytes; a file of 25 MiB could list 300,000 entries."""
_MAX_DEPTH = 1_000
MAX_NODES = 1_200_000
"""Elements and attributes. A text of a megabyte has half of this in a file that scatters it most; so many take
two seconds."""
MAX_TAG_BYTES = 1024 * 1024
"""At every chunk, expat begins again to read a tag or a comment that has not ended."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Those that Word writes, and that unpack in a time and a memory which one can foresee."""
_WORD = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main ",
    "http://purl.oclc.org/ooxml/wordprocessingml/main ",
)
_FALLBACK = "http://schemas.openxmlformats.org/markup-compatibility/2006 Fallback"
"""It repeats the preceding element in another form, for older programs."""
_ENCRYPTED = 1


def text(body: memoryview, max_bytes: int) -> str:
    """The text of the document itself: no comments, no headers and footers, no text that is marked as deleted.

    Raises:
        DocumentBroken, DocumentEncrypted, DocumentTooComplex, TextTooLarge
    """
    reader = _Reader(max_bytes)
    try:
        with zipfile.ZipFile(_ListedFile(body)) as archive:
            entry = archive.getinfo(_PART)
            if entry.flag_bits & _ENCRYPTED:
                raise DocumentEncrypted
            if entry.compress_type not in _METHODS:
                raise DocumentBroken
            with archive.open(entry) as part:
                while chunk := part.read(_CHUNK_BYTES):
                    reader.feed(chunk)
        return reader.close()
    except (zipfile.BadZipFile, zlib.error, expat.ExpatError, KeyError, EOFError, OSError, RuntimeError, ValueError):
        # RuntimeError means a compression method that Python does not know; ValueError an unknown encoding.
        raise DocumentBroken from None


class _ListedFile(io.RawIOBase):
    """A file that is read where it is, and whose list of entries is not too long.

    Python reads the list in one piece, and makes an object of each entry.
    """

    def __init__(self, body: memoryview) -> None:
        self._body = body
        self._at = 0

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._body)}[whence]
        if at < 0:
            raise OSError
        self._at = at
        return at

    def tell(self) -> int:
        return self._at

    def read(self, size: int | None = -1, /) -> bytes:
        left = max(0, len(self._body) - self._at)
        size = left if size is None or size < 0 else size
        if size > _MAX_DIRECTORY_BYTES:
            raise DocumentTooComplex
        found = bytes(self._body[self._at : self._at + size])
        self._at += len(found)
        return found


class _Reader:
    """Gathers paragraphs while expat walks through the part."""

    def __init__(self, max_bytes: int) -> None:
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._max_bytes = max_bytes
        self._read = 0
        self._size = 0
        self._depth = 0
        self._nodes = 0
        self._skipped_from = 0
        self._in_text = False
        self._prefix = ""
        self._line: list[str] = []
        self._cells: list[list[str]] = []
        self._done: list[str] = []

    def feed(self, chunk: bytes) -> None:
        self._read += len(chunk)
        if self._read > MAX_XML_BYTES:
            raise DocumentTooComplex
        self._parser.Parse(chunk, False)
        if self._read - self._parser.CurrentByteIndex > MAX_TAG_BYTES:
            raise DocumentTooComplex

    def close(self) -> str:
        self._parser.Parse(b"", True)
        return "\n\n".join(self._done)

    def _doctype(self, *_: object) -> None:
        raise DocumentBroken

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._nodes += 1 + len(attributes)
        if self._depth > _MAX_DEPTH or self._nodes > MAX_NODES:
            raise DocumentTooComplex
        if name == _FALLBACK and not self._skipped_from:
            self._skipped_from = self._depth
        space, _, local = name.rpartition(" ")
        if f"{space} " not in _WORD or self._skipped_from:
            return
        match local:
            case "t":
                self._in_text = True
            case "tab":
                self._add("\t")
            case "br" | "cr":
                self._add("\n")
            case "noBreakHyphen":
                self._add("-")
            case "pStyle":
                self._prefix = _heading(attributes.get(f"{space} val", "")) or self._prefix
            case "numPr":
                self._prefix = self._prefix or "- "
            case "tr":
                self._cells.append([])

    def _end(self, name: str) -> None:
        self._depth -= 1
        if self._skipped_from:
            if self._depth < self._skipped_from:
                self._skipped_from = 0
            return
        space, _, local = name.rpartition(" ")
        if f"{space} " not in _WORD:
            return
        match local:
            case "t":
                self._in_text = False
            case "p":
                self._end_paragraph()
            case "tr":
                self._end_row()

    def _characters(self, data: str) -> None:
        if self._in_text and not self._skipped_from:
            self._add(data)

    def _add(self, data: str) -> None:
        self._size += len(data)
        if self._size > self._max_bytes:
            raise TextTooLarge
        self._line.append(data)

    def _end_paragraph(self) -> None:
        line = "".join(self._line).strip()
        self._line.clear()
        if line:
            line = self._prefix + line
            if self._cells:
                self._cells[-1].append(" ".join(line.split()))
            else:
                self._done.append(line)
        self._prefix = ""

    def _end_row(self) -> None:
        row = " | ".join(self._cells.pop()) if self._cells else ""
        if row and self._cells:
            # A table inside a cell of another.
            self._cells[-1].append(row)
        elif row:
            self._done.append(row)


def _heading(style: str) -> str:
    """The Markdown for a style such as `Heading2` or `Title`; nothing for any other."""
    if style == "Title":
        return "# "
    level = style.removeprefix("Heading").strip()
    return "#" * int(level) + " " if style.startswith("Heading") and level in {"1", "2", "3", "4", "5", "6"} else ""
