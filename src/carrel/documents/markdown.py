"""Markdown of a tree of HTML: what a reader of the page sees, with real tables, numbered lists and formulas.

Markdownify turns elements into Markdown. It writes one line for a row whatever the cells hold, begins every list at its
first number and drops what stands above the line, so tables, lists and superscripts are told here.
"""

import re
from typing import Final

from bs4 import Tag
from markdownify import ATX, MarkdownConverter

LABEL: Final = "label"
"""The attribute of an `li` that holds what stands before its text: `-`, `7.`, `b)`. Without one, nothing does."""
_CELL, _SPANS, _END, _ROW = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
"""What stands around cells and rows until the whole table is known: code points that Unicode keeps out of texts."""
_MARKS: Final = str.maketrans(dict.fromkeys(map(ord, _CELL + _SPANS + _END + _ROW)))
_CELLS: Final = re.compile(f"{_CELL}([0-9]+),([0-9]+){_SPANS}([^{_END}]*){_END}")
_UNSEEN: Final = str.maketrans({"\u00ad": None, "\u00a0": " ", "\u2011": "-"})
"""A hyphen that shows at the end of a line only, and two characters that only keep a line together."""
_SPACES: Final = re.compile(r"[ \t]*\n[ \t]*")
_ORDINALS: Final = frozenset({"st", "nd", "rd", "th", "er", "ème", "®", "©"})
_UNBRACKETED: Final = re.compile(r"[-+−]?\w+|\[\^?\w+\]|[^\w\s]")
_MAX_INDENT: Final = 4
"""Below labels that Markdown does not know, such as `Section 1.`, more would make a text a listing of a program."""
_MAX_COLUMNS: Final = 200
_MAX_ROWS: Final = 65_534
_MAX_CELLS: Final = 500_000

Parents = set[str]


def markdown(tree: Tag) -> str:
    """The text of the tree, which this changes."""
    for one in tree.find_all("img"):
        if not str(one.get("alt") or "").strip():
            one.decompose()
    tree.smooth()  # so that the spaces on both sides of what went are one
    return str(_Converter().convert_soup(tree)).translate(_UNSEEN).strip()


class _Converter(MarkdownConverter):
    class Options:
        heading_style = ATX
        escape_asterisks = False
        escape_underscores = False
        wrap = True
        wrap_width = None
        strip = ("a", "b", "strong", "em", "i", "kbd", "samp", "video")

    def __init__(self) -> None:
        super().__init__()
        self._cells = 0

    def process_text(self, el: str, parent_tags: Parents) -> str:
        text: str = super().process_text(el, parent_tags=parent_tags)  # type: ignore[misc]  # not among its types
        return text.translate(_MARKS)

    def convert_br(self, _: Tag, text: str, parent_tags: Parents) -> str:
        return (" " if "_inline" in parent_tags and not _in_cell(parent_tags) else "\n") + text

    def convert_p(self, _: Tag, text: str, parent_tags: Parents) -> str:
        text = text.strip()
        if not text:
            return ""
        if _in_cell(parent_tags):
            return f"\n{text}\n"
        return f" {text} " if "_inline" in parent_tags else f"\n\n{_SPACES.sub(chr(10), text)}\n\n"

    def convert_div(self, el: Tag, text: str, parent_tags: Parents) -> str:
        if _in_cell(parent_tags):
            return self.convert_p(el, text, parent_tags)
        return str(super().convert_div(el, text, parent_tags))  # type: ignore[misc]

    convert_article = convert_section = convert_main = convert_header = convert_footer = convert_aside = convert_div
    convert_nav = convert_address = convert_figure = convert_figcaption = convert_caption = convert_details = (
        convert_div
    )
    convert_summary = convert_fieldset = convert_legend = convert_form = convert_center = convert_body = convert_div

    def convert_hr(self, _: Tag, text: str, parent_tags: Parents) -> str:
        return text if "_inline" in parent_tags else f"\n\n---\n\n{text}"

    def convert_pre(self, el: Tag, text: str, parent_tags: Parents) -> str:
        return text if _in_cell(parent_tags) else str(super().convert_pre(el, text, parent_tags))  # type: ignore[misc]

    def convert_li(self, el: Tag, text: str, parent_tags: Parents) -> str:
        label = str(el.get(LABEL, ""))
        text = text.strip()
        if not text:
            return f"{label}\n" if label else ""
        if not label:
            return f"{text}\n"
        indent = "\n" + " " * min(len(label) + 1, _MAX_INDENT) * (not _in_cell(parent_tags))
        return f"{label} {text.replace(chr(10), indent)}\n".replace(f"{indent}\n", "\n\n")

    def convert_sup(self, el: Tag, text: str, parent_tags: Parents) -> str:
        divided = (str(el.next_sibling or "").strip() in ("/", "\u2044")) and el.find_next_sibling(True)
        if divided and divided.name == "sub":
            return f" {text.strip()}"
        return text if text.strip().startswith("[^") or text.strip() in _ORDINALS else _raised("^", text)

    def convert_sub(self, el: Tag, text: str, parent_tags: Parents) -> str:
        beside = (el.previous_sibling, el.next_sibling)
        is_raised = any(isinstance(one, Tag) and one.name == "sup" for one in beside)
        return text if text.strip().isdecimal() and not is_raised else _raised("_", text)

    def convert_img(self, el: Tag, text: str, parent_tags: Parents) -> str:
        return f"![{' '.join(str(el.get('alt')).split())}]()"

    def convert_input(self, el: Tag, text: str, parent_tags: Parents) -> str:
        if el.get("type") in ("checkbox", "radio"):
            has_space = str(el.next_sibling or "")[:1].isspace()
            return ("☑" if el.has_attr("checked") else "☐") + " " * (not has_space)
        return "" if el.get("type") in ("hidden", "password") else str(el.get("value", ""))

    def convert_option(self, el: Tag, text: str, parent_tags: Parents) -> str:
        return text if el.has_attr("selected") else ""

    def convert_td(self, el: Tag, text: str, parent_tags: Parents) -> str:
        if "table" not in parent_tags:
            return self.convert_div(el, text, parent_tags)
        lines = (line.strip() for line in text.split("\n"))
        cell = "<br>".join(line for line in lines if line).replace("|", "\\|")
        return f"{_CELL}{span(el, 'colspan', _MAX_COLUMNS)},{span(el, 'rowspan', _MAX_ROWS)}{_SPANS}{cell}{_END}"

    convert_th = convert_td

    def convert_tr(self, _: Tag, text: str, parent_tags: Parents) -> str:
        return text + _ROW * ("table" in parent_tags)

    def convert_table(self, el: Tag, text: str, parent_tags: Parents) -> str:
        before, rows = _rows(text + _ROW)  # the last cells may be in no row
        self._cells += sum(map(len, rows))
        if self._cells > _MAX_CELLS:
            raise MemoryError
        if _in_cell(parent_tags):
            inner = "; ".join(", ".join(row).rstrip(", ") for row in rows)
            return f"\n{before} {inner}\n".replace("\\|", "|")
        if not rows:
            return f"\n\n{before}\n\n"
        rows.insert(1, ["---"] * len(rows[0]))
        drawn = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        return f"\n\n{before}\n\n{drawn}\n\n" if before else f"\n\n{drawn}\n\n"


def _in_cell(parents: Parents) -> bool:
    return "td" in parents or "th" in parents


def _raised(mark: str, text: str) -> str:
    """Letters that stand lower are in brackets, for nothing else shows where they end."""
    inner = text.strip()
    if not inner:
        return text
    is_plain = _UNBRACKETED.fullmatch(inner) and not (mark == "_" and len(inner) > 1 and inner.isalpha())
    return text.replace(inner, mark + (inner if is_plain else f"({inner})"))


def span(cell: Tag, name: str, most: int) -> int:
    """How many columns or rows a cell covers. Zero rows are all that follow."""
    value = str(cell.get(name, ""))
    if not value.isdecimal() or len(value) > 6:
        return 1
    return min(most, int(value) or (most if name == "rowspan" else 1))


def _rows(text: str) -> tuple[str, list[list[str]]]:
    """What stands beside the cells, such as a caption, and the cells: one for each column of each row."""
    rows: list[list[str]] = []
    covered: dict[int, int] = {}
    """How many rows the cell that stands in a column still covers."""
    for line in text.split(_ROW)[:-1]:
        row: list[str] = []
        for columns, height, cell in _CELLS.findall(line):
            _cover(row, covered)
            filled = [cell, *[""] * (int(columns) - 1)][: max(0, _MAX_COLUMNS - len(row))]
            covered |= dict.fromkeys(range(len(row), len(row) + len(filled)), int(height) - 1)
            row += filled
        _cover(row, covered)
        rows.append(row)
    width = max(map(len, rows), default=0)
    beside = " ".join(_CELLS.sub("", text).replace(_ROW, "").split())
    return beside, [row + [""] * (width - len(row)) for row in rows if any(row)]


def _cover(row: list[str], covered: dict[int, int]) -> None:
    """Leave the places empty that a cell of an earlier row covers."""
    while covered.get(len(row), 0) > 0:
        covered[len(row)] -= 1
        row.append("")
