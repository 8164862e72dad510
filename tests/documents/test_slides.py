"""Presentations: what slides show comes in, in its order, and what nobody sees is counted."""

import io
import zipfile
from collections.abc import Callable

import pptx
import pytest
from pptx.chart.data import ChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.shapes.shapetree import SlideShapes
from pptx.table import Table
from pptx.util import Inches

from carrel.documents import packages
from carrel.documents.extract import text_of
from carrel.documents.refusals import DocumentBroken, DocumentTooComplex
from tests.documents import files

PLACE = (Inches(1), Inches(1), Inches(2), Inches(2))


def deck(draw: Callable[[SlideShapes], object], notes: str = "", *, hidden: bool = False) -> bytes:
    """A presentation of one slide with a title, and one more if it is hidden."""
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Prices\vof 2026"
    draw(slide.shapes)
    if notes:
        slide.notes_slide.notes_text_frame.text = notes
    if hidden:
        extra = made.slides.add_slide(made.slide_layouts[5])
        extra.shapes.title.text = "Not for you"
        extra.element.set("show", "0")
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


def listed(shapes: SlideShapes) -> None:
    frame = shapes.placeholders[1].text_frame
    frame.text = "Plans"
    for words, level in (("Basic", 1), ("Pro", 1), ("Support", 0)):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = words, level


def table(shapes: SlideShapes) -> Table:
    cells = shapes.add_table(2, 3, *PLACE).table
    for place, words in enumerate(("Plan", "Basic", "Pro", "Price", "", "20|21")):
        cells.cell(place // 3, place % 3).text = words
    return cells


def merged(shapes: SlideShapes) -> None:
    cells = table(shapes)
    cells.cell(1, 0).merge(cells.cell(1, 1))


def chart(shapes: SlideShapes) -> None:
    data = ChartData()  # type: ignore[no-untyped-call]  # python-pptx has types for most of it
    data.categories = ["East", "West"]
    data.add_series("Sales", (1.5, None))  # type: ignore[no-untyped-call]
    shapes.add_chart(XL_CHART_TYPE.BAR_CLUSTERED, *PLACE, data)


def grouped(shapes: SlideShapes) -> None:
    group = shapes.add_group_shape()
    group.shapes.add_textbox(*PLACE).text_frame.text = "In a group"
    shapes.add_textbox(*PLACE).text_frame.text = "Hidden"
    next(shapes[-1].element.iter("{*}cNvPr")).set("hidden", "1")


TITLE = "## Prices of 2026"
SHOWN: list[tuple[Callable[[SlideShapes], object], str, dict[str, int]]] = [
    (listed, f"{TITLE}\n\n- Plans\n  - Basic\n  - Pro\n- Support", {}),
    (table, f"{TITLE}\n\n| Plan | Basic | Pro |\n| --- | --- | --- |\n| Price |  | 20\\|21 |", {}),
    (merged, f"{TITLE}\n\n| Plan | Basic | Pro |\n| --- | --- | --- |\n| Price |  | 20\\|21 |", {}),
    (chart, f"{TITLE}\n\n|  | Sales |\n| --- | --- |\n| East | 1.5 |\n| West |  |", {}),
    (grouped, f"{TITLE}\n\nIn a group", {"hidden_text": 1}),
]


@pytest.mark.parametrize(("draw", "shown", "left_out"), SHOWN, ids=lambda one: getattr(one, "__name__", ""))
def test_a_slide_is_its_title_and_what_stands_below(
    draw: Callable[[SlideShapes], object], shown: str, left_out: dict[str, int]
) -> None:
    found = text_of("pptx", memoryview(deck(draw)), 10_000)
    assert (found.text, {one.kind: one.count for one in found.remarks}) == (shown, left_out)


def test_notes_belong_to_a_slide_and_hidden_slides_are_counted() -> None:
    found = text_of("pptx", memoryview(deck(listed, "Say it\vslowly.", hidden=True)), 10_000)
    assert found.text.endswith("- Support\n\nNotes: Say it\nslowly.")
    assert [(one.kind, one.count) for one in found.remarks] == [("hidden_text", 1)]


def test_formulas_and_raised_digits_are_told() -> None:
    math = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    formula = (
        f"<a:p><m><oMath xmlns='{math}'><f><num><r><t>1</t></r></num><den><r><t>x</t></r></den></f></oMath></m></a:p>"
    )
    raised = "<a:p><a:r><a:t>10</a:t></a:r><a:r><a:rPr baseline='30000'/><a:t>6</a:t></a:r></a:p>"
    body = deck(lambda shapes: setattr(shapes.placeholders[1].text_frame, "text", "HERE"))
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    here = b"<a:p><a:r><a:t>HERE</a:t></a:r></a:p>"
    assert here in parts["ppt/slides/slide1.xml"]
    parts["ppt/slides/slide1.xml"] = parts["ppt/slides/slide1.xml"].replace(here, (formula + raised).encode())
    assert text_of("pptx", memoryview(files.zipped(parts)), 10_000).text == f"{TITLE}\n\n- $\\frac{{1}}{{x}}$\n- 10^6"


def test_a_broken_or_vast_presentation_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for body in (files.docx(files.paragraph("x")), files.zipped({}), deck(table)[:9_000]):
        with pytest.raises(DocumentBroken):
            text_of("pptx", memoryview(body), 10_000)
    monkeypatch.setattr(packages, "MAX_XML_BYTES", 10_000)
    with pytest.raises(DocumentTooComplex):
        text_of("pptx", memoryview(deck(table)), 10_000)
