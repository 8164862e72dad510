"""Web pages: what a reader of the page sees, as Markdown. The parser is libxml2, the Markdown Markdownify's."""

import warnings
from collections import Counter
from typing import Final

from bs4 import BeautifulSoup, Tag
from lxml import etree

from carrel.documents.equations import latex
from carrel.documents.markdown import LABEL, markdown
from carrel.documents.packages import require_few
from carrel.documents.refusals import DocumentTooComplex

_UNSEEN: Final = (
    "script",
    "style",
    "template",
    "noscript",
    "iframe",
    "object",
    "title",
    "datalist",
    "audio",
    "canvas",
    "rt",
    "rp",
)
_HIDING: Final = ("display:none", "visibility:hidden")
_MAX_DEPTH: Final = 250
_LAYOUT_CHARACTERS: Final = 3_000
"""A table that holds another one and more text than this gives a page its columns; it is no table of values."""
_BLOCKS: Final = ("table", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6")
_ROMAN: Final = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
)
_ROMAN_ONES: Final = ((9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_MAX_NUMERAL: Final = 5_000


def text(page: str, left_out: Counter[str]) -> str:
    """The text of a page; `left_out` counts what is not in it."""
    tree = parsed(page)
    for one in tree.find_all(_UNSEEN):
        one.decompose()
    for one in tree.find_all(_is_hidden):
        if not one.decomposed:
            left_out["hidden_text"] += bool(one.get_text(strip=True))
            one.decompose()
    for one in tree.find_all("math"):
        one.replace_with(f"${one['alttext']}$" if one.get("alttext") else _formula(one))
    for one in tree.find_all("svg"):
        one.name, one["alt"] = "img", str(one.get("aria-label") or (one.title and one.title.get_text()) or "")
        one.clear()
    for one in tree.find_all(("ol", "ul", "menu")):
        _label(one)
    left_out["picture"] += sum(not str(one.get("alt") or "").strip() for one in tree.find_all("img"))
    unwrap_layout(tree)
    return markdown(tree)


def parsed(page: str) -> BeautifulSoup:
    """The tree of a page.

    Raises:
        DocumentTooComplex: there are more elements, or they stand within more others, than in any page of people's.
    """
    require_few(page.count("<"))
    with warnings.catch_warnings(action="ignore"):  # of pages that look like an address, or like XML
        tree = BeautifulSoup(page, "lxml", huge_tree=True)
    depths = {id(tree): 0}
    for one in tree.find_all(True):
        depths[id(one)] = depth = depths[id(one.parent)] + 1
        if depth > _MAX_DEPTH:
            raise DocumentTooComplex
    return tree


def unwrap_layout(tree: Tag) -> None:
    """Make blocks of the cells of tables that only place things on the page."""
    for table in tree.find_all("table"):
        if _is_layout(table):
            for one in table.find_all(("tbody", "thead", "tfoot", "tr", "td", "th")):
                if one.find_parent("table") is table:
                    one.name = "div"
            table.name = "div"


def numeral(number: int, kind: str) -> str:
    """A number as lists show it: in letters for `a` and `A`, in Roman numerals for `i` and `I`, else in digits."""
    if kind not in {"a", "A", "i", "I"} or not 0 < number < _MAX_NUMERAL:
        return str(number)
    if kind in {"a", "A"}:
        made = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
    else:
        made = ""
        for value, sign in (*_ROMAN, *_ROMAN_ONES):
            made += sign * (number // value)
            number %= value
    return made.upper() if kind.isupper() else made


def _is_hidden(tag: Tag) -> bool:
    style = str(tag.get("style") or "").replace(" ", "").lower()
    return tag.has_attr("hidden") or any(hiding in style for hiding in _HIDING)


def _formula(tag: Tag) -> str:
    tex = tag.find("annotation", encoding="application/x-tex")
    if tex is not None:
        return f"${tex.get_text().strip()}$"
    made = etree.fromstring(str(tag).encode(), etree.XMLParser(recover=True, resolve_entities=False))
    return latex(made) if made is not None else tag.get_text()


def _label(found: Tag) -> None:
    items = found.find_all("li", recursive=False)
    if found.name != "ol":
        for item in items:
            item[LABEL] = "-"
        return
    step = -1 if found.has_attr("reversed") else 1
    number = _number(found.get("start"), len(items) if step < 0 else 1)
    for item in items:
        number = _number(item.get("value"), number)
        item[LABEL] = numeral(number, str(found.get("type", "1"))) + "."
        number += step


def _number(value: object, default: int) -> int:
    text = str(value)
    return int(text) if text.removeprefix("-").isdecimal() and len(text) < 10 else default


def _is_layout(table: Tag) -> bool:
    if table.get("role") in ("presentation", "none"):
        return True
    rows = [one for one in table.find_all("tr") if one.find_parent("table") is table]
    columns = max((len(row.find_all(("td", "th"), recursive=False)) for row in rows), default=0)
    if columns < 2 and (len(rows) < 2 or table.find(_BLOCKS) is not None):
        return True
    if table.find(("h1", "h2")) is not None:
        return True
    return table.find("table") is not None and len(table.get_text()) > _LAYOUT_CHARACTERS
