"""Web pages: their text with the Markdown for headings and lists, without scripts and styles.

The reader only divides a page into texts and tags, as the HTML standard says; it builds no tree. It goes through the
page once and never back, so its time is linear in the page, whatever the page is. (Python's own parser begins again at
every `<` that never closes, and parsers that build a tree look through all open elements at every tag.)

It works on the bytes, and makes text only of what a reader of the page sees, in pieces. So it needs little memory
beside the page.
"""

import html
import re
from collections.abc import Iterator
from typing import Final

from carrel.documents.refusals import DocumentTooComplex, TextTooLarge

MAX_TAGS: Final = 400_000
"""A page with a megabyte of text has a fourth of this; so many take up to two seconds."""

_SKIPPED = frozenset({"script", "style", "template", "noscript", "svg", "math", "iframe", "object", "title", "select"})
_RAW = frozenset({"script", "style", "iframe", "title", "textarea", "xmp", "noembed", "noframes"})
"""Inside these, only the end tag of the same name is a tag."""
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption"}
    | {"figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html", "li", "main", "nav"}
    | {"ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul"}
)
_PREFIXES = {"li": "- "} | {f"h{level}": "#" * level + " " for level in range(1, 7)}

# Every quantifier is possessive (`++`, `*+`), so no text makes a pattern try the same characters again.
_SPACE = r"[ \t\n\f\r]"
_SPACES = re.compile(f"{_SPACE}++")
_OPEN = re.compile(b"<")
_CLOSE = re.compile(b">")
_TAG = re.compile(
    rb"<(/?+)([A-Za-z][^ \t\n\f\r/>]*+)"
    rb"""(?:[^>"'=]++|=[ \t\n\f\r]*+(?:"[^"]*+"|'[^']*+'|[^ \t\n\f\r"'>][^ \t\n\f\r>]*+)?+|["'])*+>"""
)
_COMMENT_END = re.compile(rb"--!?+>")
_RAW_ENDS = {name: re.compile(rb"</%s(?=[ \t\n\f\r/>])" % name.encode(), re.IGNORECASE) for name in _RAW}
PIECE_BYTES: Final = 64 * 1024
_CUT = re.compile(rb"[ \t\f\r&]|(?<!\r)\n")
"""Before these, a text can be cut: no character, no reference to one and no end of a line goes across."""
_ZEROS = re.compile(r"&#([xX]?+)0++(?=[0-9A-Fa-f])")
_NO_CHARACTER = re.compile(r"&#(?:[0-9]{8,}+|[xX][0-9A-Fa-f]{7,}+);?+")
"""Python refuses to read numbers of thousands of digits."""


def text(page: memoryview, max_bytes: int) -> str:
    """The text that a reader of the page, which is valid UTF-8, sees: one paragraph for each block.

    Raises:
        DocumentTooComplex, TextTooLarge
    """
    reader = _Reader(max_bytes)
    at = tags = 0
    while at < len(page):
        opening = _OPEN.search(page, at)
        begin = opening.start() if opening else len(page)
        reader.add(page[at:begin])
        if not opening:
            break
        tags += 1
        if tags > MAX_TAGS:
            raise DocumentTooComplex
        at = _after(page, begin, reader)
    return reader.result()


def _after(page: memoryview, begin: int, reader: "_Reader") -> int:
    """Read what a `<` begins. Return where it ends; what never ends takes the rest of the page along."""
    following = bytes(page[begin + 1 : begin + 4])
    if following == b"!--":
        end = _COMMENT_END.search(page, begin + 2)
        return end.end() if end else len(page)
    if following[:1] in (b"!", b"?") or (following[:1] == b"/" and not following[1:2].isalpha()):
        end = _CLOSE.search(page, begin)
        return end.end() if end else len(page)
    if not following.removeprefix(b"/")[:1].isalpha():
        reader.add(page[begin : begin + 1])
        return begin + 1
    tag = _TAG.match(page, begin)
    if tag is None:
        return len(page)
    name = tag[2].lower().decode()
    if tag[1]:
        reader.end(name)
    else:
        is_empty = page[tag.end() - 2] == ord("/")
        reader.start(name)
        if is_empty and name in _SKIPPED:
            reader.end(name)
        elif name in _RAW:
            end = _RAW_ENDS[name].search(page, tag.end())
            reader.add(page[tag.end() : end.start() if end else len(page)])
            return end.start() if end else len(page)
    return tag.end()


class _Reader:
    """Gathers texts into blocks."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._size = 0
        self._skipped: list[str] = []
        self._prefix = ""
        self._pre = 0
        self._line: list[str] = []
        self._blocks: list[str] = []

    def start(self, tag: str) -> None:
        if self._skipped or tag in _SKIPPED:
            if tag in _SKIPPED:
                self._skipped.append(tag)
        elif tag == "br":
            self._line.append("\n")
        elif tag in {"td", "th"} and self._line:
            self._line.append(" | ")
        elif tag in _BLOCKS:
            self._flush()
            self._prefix = _PREFIXES.get(tag, "")
            self._pre += tag == "pre"

    def end(self, tag: str) -> None:
        if self._skipped:
            if tag == self._skipped[-1]:
                self._skipped.pop()
        elif tag in _BLOCKS:
            self._flush()
            self._pre -= tag == "pre" and self._pre > 0

    def add(self, data: memoryview) -> None:
        if not self._skipped:
            for piece in _pieces(data):
                # A character has at most four bytes, and a piece has no more than one space or reference past its size.
                if len(piece) > 4 * self._max_bytes + PIECE_BYTES:
                    raise TextTooLarge
                self._add(str(piece, "utf-8"))

    def _add(self, data: str) -> None:
        if "&" in data:
            if "&#" in data:
                data = _NO_CHARACTER.sub("\ufffd", _ZEROS.sub(r"&#\1", data))
            data = html.unescape(data)
        data = data.replace("\r\n", "\n").replace("\r", "\n") if self._pre else _SPACES.sub(" ", data)
        self._size += len(data) if data != " " else 0
        if self._size > self._max_bytes:
            raise TextTooLarge
        self._line.append(data)

    def result(self) -> str:
        self._flush()
        return "\n\n".join(self._blocks)

    def _flush(self) -> None:
        text = "".join(self._line)
        self._line.clear()
        text = text.strip("\n") if self._pre else "\n".join(_SPACES.sub(" ", one).strip() for one in text.split("\n"))
        if text.strip():
            self._blocks.append(self._prefix + text.strip("\n"))
            self._prefix = ""


def _pieces(data: memoryview) -> Iterator[memoryview]:
    """The data, cut where that changes nothing."""
    at = 0
    while at < len(data):
        cut = _CUT.search(data, at + PIECE_BYTES)
        end = cut.start() if cut else len(data)
        yield data[at:end]
        at = end
