"""Web pages: what a reader of the page sees, as Markdown. The parser is libxml2, the Markdown Markdownify's."""

import re
import warnings
from collections import Counter
from collections.abc import Mapping
from typing import Final

from bs4 import BeautifulSoup, Tag
from lxml import etree

from carrel.documents.equations import latex
from carrel.documents.markdown import LABEL, markdown, span
from carrel.documents.numerals import numeral, of_style
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
    "progress",
    "meter",
    "rt",
    "rp",
)
_HIDING: Final = ("display:none", "visibility:hidden", "visibility:collapse")
_REMARK: Final = re.compile(r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/|\Z)")
_SIMPLE: Final = re.compile(r"[.#][\w-]+")
_MAX_DEPTH: Final = 250
_LAYOUT_CHARACTERS: Final = 3_000
"""A table that holds another one and more text than this gives a page its columns; it is no table of values."""
_SECTION_CHARACTERS: Final = 400
"""A cell with a heading and more text than this is a part of a page."""
_TABLES: Final = {
    "table": "table",
    "inline-table": "table",
    "grid": "table",
    "table-row": "tr",
    "table-cell": "td",
    "row": "tr",
    "cell": "td",
    "gridcell": "td",
    "columnheader": "th",
    "rowheader": "th",
}
"""What styles and roles make a part of a table."""
_STYLED: Final = re.compile(r"(?:^|;)(display|vertical-align|list-style(?:-type)?):([a-z-]+)")
_RAISED: Final = {"super": "sup", "sub": "sub"}
_TYPESET: Final = ("katex-html", "MathJax", "MathJax_Display", "MathJax_Preview", "MathJax_SVG", "mwe-math-element")
"""Formulas as they are drawn, beside those that say what they mean."""
_DISPLAY: Final = re.compile(r"\s*\{\\displaystyle (.*)\}\s*", re.DOTALL)
_TICKED: Final = ("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio")
_BLOCKS: Final = ("table", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6")


def text(page: str, left_out: Counter[str]) -> str:
    """The text of a page; `left_out` counts what is not in it."""
    tree = parsed(page)
    _tell_formulas(tree)
    for one in tree.find_all("svg"):
        one.name, one["alt"] = "img", str(one.get("aria-label") or (one.title and one.title.get_text()) or "")
        one.clear()
    sheets = "}".join(one.get_text() for one in tree.find_all("style") if one.get("media") != "print")
    hidden, raised = _hidden_names(sheets), _raised_names(sheets)
    for one in tree.find_all(_UNSEEN):
        one.decompose()
    for one in tree.find_all(True):
        if not one.decomposed and _is_hidden(one, hidden):
            left_out["hidden_text"] += bool(one.get_text(strip=True))
            one.decompose()
    _arrange(tree, raised)
    for one in tree.find_all(("select", "textarea", "input", "button")):
        _show_choice(one)
    for one in tree.find_all(("ol", "ul", "menu")):
        _label(one)
    left_out["picture"] += sum(not str(one.get("alt") or "").strip() for one in tree.find_all("img"))
    unwrap_layout(tree)
    return markdown(tree)


def _arrange(tree: Tag, raised: Mapping[str, str]) -> None:
    """Give elements the names and the places in which a reader sees them; `raised` are the names by class."""
    for one in tree.find_all("span") if raised else ():
        one.name = next((raised[own] for own in one.get_attribute_list("class") if own in raised), "span")
    for one in tree.find_all(_is_styled):
        _name(one)
    for one in tree.find_all(("ol", "ul", "dd")):
        _nest(one)
    for one in tree.find_all(("thead", "tfoot")):
        table = one.parent
        if table is not None and table.name == "table":
            table.insert(0, one.extract()) if one.name == "thead" else table.append(one.extract())
    for one in tree.find_all(("table", "tbody", "thead", "tfoot")):
        _end_cells(one)


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


def _nest(tag: Tag) -> None:
    """Put a list within another into the item before it, and a meaning beside the one that was never closed."""
    parent = tag.parent
    if parent is None or parent.name not in (("dd",) if tag.name == "dd" else ("ol", "ul")):
        return
    before = tag.find_previous_sibling()
    if tag.name == "dd":
        parent.insert_after(tag.extract())
    elif before is not None and before.name == "li":
        before.append(tag.extract())


def _end_cells(group: Tag) -> None:
    """A cell over several rows ends with the part of the table where it begins."""
    rows = group.find_all("tr", recursive=False)
    for at, row in enumerate(rows):
        for cell in row.find_all(("td", "th"), recursive=False):
            if cell.has_attr("rowspan"):
                cell["rowspan"] = str(min(span(cell, "rowspan", len(rows)), len(rows) - at))


def _is_hidden(tag: Tag, names: set[str]) -> bool:
    """Whether the element is hidden; `names` are classes and ids that are, with their signs."""
    style = _squeezed(str(tag.get("style") or ""))
    is_closed = tag.name == "dialog" and not tag.has_attr("open")
    if is_closed or tag.has_attr("hidden") or any(hiding in style for hiding in _HIDING):
        return True
    own = {f".{one}" for one in tag.get_attribute_list("class")} | {f"#{tag.get('id')}"} if names else names
    return not names.isdisjoint(own) and "display:" not in style


def _squeezed(style: str) -> str:
    return "".join(style.split()).lower()


def _hidden_names(sheets: str) -> set[str]:
    """What a plain rule of a page's own style sheets hides, unless another rule may show it, such as on a click."""
    hidden: set[str] = set()
    shown: set[str] = set()
    depth = 0
    for rule in _REMARK.sub("", sheets).split("}"):
        depth = max(0, depth + rule.count("{") - 1)
        selectors, _, body = rule.rpartition("{")
        style = _squeezed(body)
        hides = any(hiding in style for hiding in _HIDING) and not depth
        for selector in selectors.split(","):
            if hides and _SIMPLE.fullmatch(selector.strip()):
                hidden.add(selector.strip())
            elif not hides and ("display:" in style or "visibility:" in style):
                shown.update(_SIMPLE.findall(selector))
    return hidden - shown


def _raised_names(sheets: str) -> dict[str, str]:
    """The classes that a page's own style sheets raise or lower, and the elements that do so."""
    found: dict[str, str] = {}
    for rule in _REMARK.sub("", sheets).split("}"):
        selectors, _, body = rule.rpartition("{")
        name = _RAISED.get(dict(_STYLED.findall(_squeezed(body))).get("vertical-align", ""))
        for selector in selectors.split(",") if name else ():
            if _SIMPLE.fullmatch(selector.strip()):
                found[selector.strip().removeprefix(".")] = str(name)
    return found


def _is_styled(tag: Tag) -> bool:
    return tag.has_attr("style") or tag.has_attr("role")


def _name(tag: Tag) -> None:
    """Call an element what its style or its role makes of it."""
    written = _squeezed(str(tag.get("style") or ""))
    style = dict(_STYLED.findall(written))
    raised = _RAISED.get(style.get("vertical-align", "")) or ("s" if "line-through" in written else "")
    if raised and tag.name == "span":
        tag.name = raised
    listed = style.get("list-style-type") or style.get("list-style") or ""
    kind = of_style(listed)
    if tag.name == "ol" and (kind or listed == "none"):
        tag["type"] = kind or listed
    role = str(tag.get("role") or "")
    part = _TABLES.get(style.get("display", "")) or _TABLES.get(role, "")
    if part and tag.name in ("div", "span", "section", "ul", "li", "p") and _fits(tag, part):
        tag.name = part
    if role in _TICKED and tag.has_attr("aria-checked") and tag.name != "input":
        tag.insert(0, "☑ " if tag.get("aria-checked") == "true" else "☐ ")


def _fits(tag: Tag, part: str) -> bool:
    if part in ("td", "th"):
        return tag.parent is not None and tag.parent.name == "tr"
    return part == "table" or tag.find_parent("table") is not None


def _show_choice(control: Tag) -> None:
    """Show the first one of a list in which nothing is chosen, and keep controls apart from each other."""
    options = control.find_all("option")
    if options and not control.has_attr("multiple") and not any(one.has_attr("selected") for one in options):
        options[0]["selected"] = ""
    for one in options if control.has_attr("multiple") else ():
        one.append(" ")
    control.insert_before(" ")
    if control.get("type") not in ("checkbox", "radio"):
        control.insert_after(" ")


def _tell_formulas(tree: Tag) -> None:
    """Say each formula once, as its source says it, else as its parts do."""
    for one in tree.find_all(re.compile(":math$")):
        for part in (one, *one.find_all(True)):
            part.name = part.name.rpartition(":")[2]
    sources = tree.find_all("script", type=re.compile("^math/tex"))
    for one in tree.find_all(class_=_TYPESET):
        meant = one.find("math") if not (one.decomposed or sources) else None
        if meant is not None:
            one.replace_with(meant.extract())
        elif not one.decomposed:
            one.decompose()
    for one in sources:
        one.replace_with(f"${one.get_text().strip()}$")
    for one in tree.find_all("math"):
        one.replace_with(f"${_plain(str(one['alttext']))}$" if one.get("alttext") else _formula(one))


def _formula(tag: Tag) -> str:
    tex = tag.find("annotation", encoding="application/x-tex")
    if tex is not None:
        return f"${_plain(tex.get_text())}$"
    made = etree.fromstring(str(tag).encode(), etree.XMLParser(recover=True, resolve_entities=False))
    return latex(made) if made is not None else tag.get_text()


def _plain(tex: str) -> str:
    """What a formula says, without the size that it is drawn in."""
    drawn = _DISPLAY.fullmatch(tex)
    return (drawn[1] if drawn else tex).strip()


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
        if found.get("type") != "none":
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
    if any(one.get_text().strip() and _is_section(one) for one in table.find_all(("h1", "h2"))):
        return True
    return table.find("table") is not None and len(table.get_text()) > _LAYOUT_CHARACTERS


def _is_section(heading: Tag) -> bool:
    cell = heading.find_parent(("td", "th"))
    return cell is not None and len(cell.get_text()) - len(heading.get_text()) > _SECTION_CHARACTERS
