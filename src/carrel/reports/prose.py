"""Renders Markdown that a model or an unknown person wrote as harmless HTML: no scripts, no links, no pictures.

The address of a link follows its words as plain text, so a reader sees it but cannot click it. (A hostile document
could make a model write a link that carries the user's text away with one click.)
"""

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from itertools import groupby
from typing import Any, NamedTuple

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

MAX_CHARACTERS = 20_000
"""Longer texts stay plain text, because the reader's time on some texts grows faster than their length."""
MAX_CELLS = 5_000
"""The reader adds the cells that a row of a table lacks, so a short text may ask for millions of them."""

_MAX_LOOKING = 4_000_000
"""Every opening bracket may begin a link that does not close until the end of the text."""
_MAX_NESTING = 20
_HEADINGS_BELOW = 4
"""The page has its own headings down to this level; the headings of a text come below it."""

_PROSE = re.compile(r"[\w\n ,;:.?!'\"()/%$€+=#–—…“”‘’-]*")
"""Characters that mean nothing in Markdown where a line begins with a letter; only `_`, which is among them, does."""
_BEGINNING = re.compile(r"(?![0-9]+[.)])[^\W_]")
"""Of a line that begins no list."""

_TAGS = {
    *("p", "br", "hr", "h5", "h6", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "span"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


class RenderedText(NamedTuple):
    """HTML, and how much work it was, in units of about ten microseconds; the same for the same text."""

    html: str
    work: int


def rendered(markdown: str) -> RenderedText:
    """HTML of a few harmless elements, whatever `markdown` is. A text that is too long, wide or deep stays plain."""
    if len(markdown) <= MAX_CHARACTERS and (read := paragraphs(markdown)) is not None:
        return read
    looking = markdown.count("[") * len(markdown)
    if len(markdown) > MAX_CHARACTERS or looking > _MAX_LOOKING or _cells(markdown) > MAX_CELLS:
        return RenderedText(plain(markdown), 1)
    reader = _reader()
    tokens = reader.parse(markdown)
    work = sum(1 + len(token.children or ()) for token in tokens) + len(markdown) // 20 + looking // 100
    # The Markdown reader drops deeper nesting; then a judge would have read text that a person does not see.
    if any(token.level >= _MAX_NESTING for token in tokens):
        return RenderedText(plain(markdown), work)
    return RenderedText(_cleaned(reader, tokens), work)


def paragraphs(text: str) -> RenderedText | None:
    """What the reader makes of paragraphs without any mark-up, and what it would count; `None` for other texts.

    Most answers are such texts, and the reader takes twenty times as long.
    """
    if "_" in text or not _PROSE.fullmatch(text):
        return None
    lines = text.rstrip(" \n").split("\n")
    if not all(not line or (_BEGINNING.match(line) and line[-1] != " ") for line in lines):
        return None
    found = ["\n".join(some) for has_words, some in groupby(lines, bool) if has_words]
    work = sum(4 + 2 * one.count("\n") for one in found) + len(text) // 20
    return RenderedText("".join(f"<p>{one}</p>\n" for one in found), work)


def _cells(markdown: str) -> int:
    """At least as many cells as the tables of the text will have: each row has the columns of the line of dashes."""
    cells = columns = 0
    for line in markdown.splitlines():
        bare = line.strip("> \t")
        if not bare:
            columns = 0
        elif "-" in bare and not bare.strip("|-: \t"):
            columns = max(columns, bare.strip("|").count("|") + 1)
        cells += columns
    return cells


def _cleaned(reader: MarkdownIt, tokens: list[Token]) -> str:
    return nh3.clean(
        reader.renderer.render(tokens, reader.options, {}),
        tags=_TAGS,
        attributes={"ol": {"start"}},
        allowed_classes={"span": {"address"}},
        link_rel=None,
        url_schemes=set(),
        strip_comments=True,
    )


def plain(text: str) -> str:
    """Text as it is, line by line."""
    return f'<pre class="plain">{escape(text)}</pre>'


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "maxNesting": _MAX_NESTING + 1}).enable(
        ["table", "strikethrough"]
    )
    # A judge would have read a definition such as `[//]: # (text)`, but the page would not show it.
    reader.disable("reference")
    rules: dict[str, Any] = reader.renderer.rules  # type: ignore[attr-defined]  # the protocol does not name it
    rules |= {
        "heading_open": _heading,
        "heading_close": _heading,
        "link_open": _nothing,
        "link_close": _address,
        "image": _picture,
    }
    return reader


def _heading(tokens: Sequence[Token], index: int, *_: object) -> str:
    token = tokens[index]
    level = min(6, int(token.tag[1:]) + _HEADINGS_BELOW)
    return f"<h{level}>" if token.nesting == 1 else f"</h{level}>\n"


def _nothing(*_: object) -> str:
    return ""


def _address(tokens: Sequence[Token], index: int, *_: object) -> str:
    # Links hold no links, so the nearest opening before is this one's.
    opening = next(place for place in range(index, -1, -1) if tokens[place].type == "link_open")
    words = "".join(token.content for token in tokens[opening + 1 : index])
    address = str(tokens[opening].attrs.get("href", ""))
    return "" if words == address else _shown(address)


def _picture(tokens: Sequence[Token], index: int, *_: object) -> str:
    token = tokens[index]
    return f"[{escape(token.content or 'picture')}]{_shown(str(token.attrs.get('src', '')))}"


def _shown(address: str) -> str:
    return f' <span class="address">({escape(address)})</span>' if address else ""
