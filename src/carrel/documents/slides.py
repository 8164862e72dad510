"""Presentations (PPTX), read with python-pptx: titles, texts, tables, charts and notes, slide by slide.

What python-pptx passes over is told in terms that it knows before it reads: formulas, the newer of two forms of one
thing, superscripts and diagrams.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

import pptx
from lxml import etree
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.shapes.autoshape import Shape
from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape
from pptx.slide import Slide
from pptx.table import Table

from carrel.documents import packages
from carrel.documents.equations import latex
from carrel.documents.html import parsed
from carrel.documents.markdown import markdown
from carrel.documents.numerals import numeral
from carrel.documents.packages import LAME, Element
from carrel.documents.refusals import DocumentBroken, DocumentTooComplex

_MAIN: Final = "http://schemas.openxmlformats.org/drawingml/2006/main"
_DIAGRAM: Final = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TITLES: Final = (PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE, PP_PLACEHOLDER.VERTICAL_TITLE)
_LISTS: Final = (PP_PLACEHOLDER.BODY, PP_PLACEHOLDER.OBJECT, PP_PLACEHOLDER.VERTICAL_BODY)
_REPEATED: Final = (PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.HEADER, PP_PLACEHOLDER.SLIDE_NUMBER)
_NUMBERS: Final = {"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I", "circleNum": "circle", "ea1": "han"}
_ON: Final = ("1", "true")
_MAX_DEPTH: Final = 50
_MAX_POINTS: Final = 10_000
"""Of a chart."""


def text(body: memoryview, left_out: Counter[str]) -> str:
    """What the slides say; `left_out` counts what is not in it.

    Raises:
        DocumentBroken, DocumentEncrypted, DocumentTooComplex
    """
    try:
        found = packages.parts(body, hollow=True)
        for name, part in found.items():
            if name.startswith("ppt/slides/") and name.endswith(".xml"):
                found[name] = _readable(part)
            elif "/comments/" in name and part:
                left_out["comment"] += sum(1 for _ in packages.parsed(part).iter("{*}cm"))
        deck = pptx.Presentation(packages.packed(found))
        slides = ["\n\n".join(_slide(slide, left_out)) for slide in deck.slides if _is_shown(slide, left_out)]
    except RecursionError:
        raise DocumentTooComplex from None
    except LAME:
        raise DocumentBroken from None
    return "\n\n---\n\n".join(filter(None, slides))


def _readable(part: bytes) -> bytes:
    tree = packages.parsed(part)
    for alternate in list(tree.iter("{*}AlternateContent")):
        packages.choose(alternate)
    for paragraph in tree.iter(f"{{{_MAIN}}}p"):
        for one in list(paragraph):
            formulas = [latex(formula) for formula in one.iter("{*}oMath")]
            if formulas:
                run = paragraph.makeelement(f"{{{_MAIN}}}r")
                etree.SubElement(run, f"{{{_MAIN}}}t").text = " ".join(formulas)
                packages.replace(one, run)
    for properties in tree.iter(f"{{{_MAIN}}}rPr"):
        raised, words = properties.get("baseline", "0"), properties.getnext()
        if raised not in ("0", "") and words is not None and words.text:
            words.text = ("_" if raised.startswith("-") else "^") + words.text
    return etree.tostring(tree, encoding="UTF-8")


def _is_shown(slide: Slide, left_out: Counter[str]) -> bool:
    is_hidden = slide.element.get("show") in ("0", "false")
    left_out["hidden_text"] += is_hidden
    return not is_hidden


def _slide(slide: Slide, left_out: Counter[str]) -> Iterator[str]:
    shapes = list(_shapes(slide.shapes, 0))
    titles = [one for one in shapes if _placeholder(one) in _TITLES]
    for one in titles:
        title = " ".join(_words(one).split())
        if title:
            yield f"## {title}"
    for one in shapes:
        if one not in titles:
            yield from filter(None, (found.strip() for found in _shape(one, left_out)))
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text.replace("\v", "\n").strip()
        if notes:
            yield f"Notes: {notes}"


def _shapes(shapes: Iterable[BaseShape], depth: int) -> Iterator[BaseShape]:
    """All shapes, also those in groups."""
    if depth > _MAX_DEPTH:
        raise DocumentTooComplex
    for one in shapes:
        if isinstance(one, GroupShape):
            yield from _shapes(one.shapes, depth + 1)
        else:
            yield one


def _placeholder(shape: BaseShape) -> object:
    return shape.placeholder_format.type if shape.is_placeholder else None


def _words(shape: BaseShape) -> str:
    return shape.text_frame.text.replace("\v", "\n") if isinstance(shape, Shape) else ""


def _shape(shape: BaseShape, left_out: Counter[str]) -> Iterator[str]:
    about = next(shape.element.iter("{*}cNvPr"), None)
    kind = _placeholder(shape)
    if about is not None and about.get("hidden") in _ON:
        left_out["hidden_text"] += bool(_words(shape).strip())
    elif kind in _REPEATED:
        left_out["header_or_footer"] += kind != PP_PLACEHOLDER.SLIDE_NUMBER and bool(_words(shape).strip())
    elif isinstance(shape, Shape):
        yield _lines(shape, is_list=kind in _LISTS)
    elif shape.has_table and isinstance(shape, GraphicFrame):
        yield _table(shape.table)
    elif shape.has_chart and isinstance(shape, GraphicFrame):
        yield from _chart(shape, left_out)
    else:
        yield from _picture(shape, about, left_out)


def _lines(shape: Shape, *, is_list: bool) -> str:
    """The paragraphs; of a list, with the marks that their levels have."""
    found: list[str] = []
    counts: dict[int, int] = {}
    paragraphs = shape.text_frame.paragraphs
    is_list = is_list and len(paragraphs) > 1
    elements = (one for body in shape.element.iterchildren("{*}txBody") for one in body.iterchildren(f"{{{_MAIN}}}p"))
    for paragraph, element in zip(paragraphs, elements, strict=True):
        words = paragraph.text.replace("\v", "\n").strip()
        if not words:
            continue
        level = min(paragraph.level, 8)
        for deeper in [one for one in counts if one > level]:
            del counts[deeper]
        mark = _mark(next(element.iterchildren("{*}pPr"), None), level, counts, is_list=is_list)
        indent = "  " * level if mark else ""
        found.append(f"{indent}{mark}{words}" if mark or not found else f"\n{words}")
    return "\n".join(found)


def _mark(properties: Element | None, level: int, counts: dict[int, int], *, is_list: bool) -> str:
    numbered = None if properties is None else next(properties.iterchildren("{*}buAutoNum"), None)
    if numbered is not None:
        start = numbered.get("startAt", "1")
        counts[level] = counts[level] + 1 if level in counts else int(start) if start.isdecimal() else 1
        scheme = numbered.get("type", "")
        kind = next((sign for name, sign in _NUMBERS.items() if scheme.startswith(name)), "1")
        return f"{numeral(counts[level], kind)}{')' if 'Paren' in scheme else '.'} "
    counts.pop(level, None)
    if properties is not None and next(properties.iterchildren("{*}buNone"), None) is not None:
        return ""
    has_sign = properties is not None and next(properties.iterchildren("{*}buChar", "{*}buBlip"), None) is not None
    return "- " if is_list or has_sign else ""


def _table(table: Table) -> str:
    rows = []
    for row in table.rows:
        cells = [
            f'<td colspan="{cell.span_width}" rowspan="{cell.span_height}">'
            + "<br>".join(escape(line) for line in cell.text.replace("\v", "\n").split("\n"))
            + "</td>"
            for cell in row.cells
            if not cell.is_spanned
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return markdown(parsed(f"<table>{''.join(rows)}</table>"))


def _chart(frame: GraphicFrame, left_out: Counter[str]) -> Iterator[str]:
    """The title of a chart and its values as a table, with a row for each category."""
    try:
        chart = frame.chart
        if chart.has_title and chart.chart_title.has_text_frame:
            yield chart.chart_title.text_frame.text
        for plot in chart.plots:
            series = [(one.name, list(one.values)[:_MAX_POINTS]) for one in plot.series]
            names = [str(one) for one in plot.categories] or [""] * max((len(one) for _, one in series), default=0)
            rows = [("", *(name for name, _ in series))]
            rows += ((name, *(_at(one, place) for _, one in series)) for place, name in enumerate(names[:_MAX_POINTS]))
            cells = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
            yield markdown(parsed(f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"))
    except LAME:
        left_out["picture"] += 1


def _at(values: list[float | None], place: int) -> str:
    value = values[place] if place < len(values) else None
    return "" if value is None else f"{value:.15g}"


def _picture(shape: BaseShape, about: Element | None, left_out: Counter[str]) -> Iterator[str]:
    """What a diagram says, or what describes a picture."""
    for link in shape.element.iter(f"{{{_DIAGRAM}}}relIds"):
        data = packages.parsed(shape.part.related_part(link.get(f"{{{_OFFICE}}}dm", "")).blob)
        words = ("".join(map(str, one.itertext())).strip() for one in data.iter(f"{{{_MAIN}}}p"))
        yield "\n".join(f"- {one}" for one in words if one)
        return
    named = "" if about is None else " ".join((about.get("descr") or about.get("title") or "").split())
    if named:
        yield f"![{named}]()"
    elif next(shape.element.iter("{*}blip", "{*}oleObj"), None) is not None:
        left_out["picture"] += 1
