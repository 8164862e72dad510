"""Web pages: their text with the Markdown for headings and lists, without scripts and styles."""

import re
from html.parser import HTMLParser

_SKIPPED = frozenset({"script", "style", "template", "noscript", "svg", "math", "iframe", "object", "title", "select"})
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption"}
    | {"figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html", "li", "main", "nav"}
    | {"ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul"}
)
_PREFIXES = {"li": "- "} | {f"h{level}": "#" * level + " " for level in range(1, 7)}
_SPACES = re.compile(r"[ \t\n\f\r]+")


def text(page: str) -> str:
    """The text that a reader of the page sees, one paragraph for each block."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.result()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._skipped: list[str] = []
        self._prefix = ""
        self._pre = 0
        self._line: list[str] = []
        self._blocks: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._skipped:
            if tag in _SKIPPED:
                self._skipped.append(tag)
            return
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

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            if tag == self._skipped[-1]:
                self._skipped.pop()
        elif tag in _BLOCKS:
            self._flush()
            self._pre -= tag == "pre" and self._pre > 0

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self._line.append(data if self._pre else _SPACES.sub(" ", data))

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
