"""Renders Markdown that a model or an unknown person wrote as harmless HTML: no scripts, no links, no pictures.

The address of a link follows its words as plain text, so a reader sees it but cannot click it. (A hostile document
could make a model write a link that carries the user's text away with one click.)
"""

from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

MAX_CHARACTERS = 20_000
"""Longer texts stay plain text, because the reader's time on some texts grows faster than their length."""

_MAX_BRACKETS = 1_000
"""Every opening bracket may begin a link that does not close until the end of the text."""
_MAX_NESTING = 20
_HEADINGS_BELOW = 4
"""The page has its own headings down to this level; the headings of a text come below it."""

_TAGS = {
    *("p", "br", "hr", "h5", "h6", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "span"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


def html(markdown: str) -> str:
    """HTML of a few harmless elements, whatever `markdown` is; a text that is too long or too deep stays plain."""
    if len(markdown) > MAX_CHARACTERS or markdown.count("[") > _MAX_BRACKETS:
        return plain(markdown)
    reader = _reader()
    tokens = reader.parse(markdown)
    # The Markdown reader drops deeper nesting; then a judge would have read text that a person does not see.
    if any(token.level >= _MAX_NESTING for token in tokens):
        return plain(markdown)
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
