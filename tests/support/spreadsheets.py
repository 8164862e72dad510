"""Spreadsheets for tests, as XLSX."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006/relationships"
_FORMATS: Final = ("General", "yyyy-mm-dd", "0%", "00000", '#,##0.00 "€"')
_DAY: Final = 1
"""The style of a day."""
PERCENT, PADDED, EURO = 2, 3, 4
"""Styles of numbers."""


def text(value: str) -> str:
    """A cell with a text."""
    return f'<c t="inlineStr"><is><t>{value}</t></is></c>' if value else "<c/>"


def number(value: str, formula: str = "", style: int = 0) -> str:
    """A cell with a number, which a formula may have made."""
    return f'<c s="{style}"><f>{formula}</f><v>{value}</v></c>' if formula else f'<c s="{style}"><v>{value}</v></c>'


def error(name: str) -> str:
    """A cell with an error."""
    return f'<c t="e"><f>1/0</f><v>{name}</v></c>'


def day(value: int) -> str:
    """A cell with a day, counted from the end of 1899."""
    return number(str(value), style=_DAY)


def xlsx(sheets: Mapping[str, Sequence[Sequence[str]]], merged: str = "", hidden: int = 0) -> bytes:
    """A workbook with these sheets of rows of cells, of which some are `merged`, as in `A1:B1 A3:A4`.

    The last rows are `hidden`.
    """
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        parts = {f"xl/worksheets/sheet{place}.xml": rows for place, rows in enumerate(sheets.values(), start=1)}
        made.writestr("_rels/.rels", _links({"xl/workbook.xml": "officeDocument"}))
        links = {f"/{part}": "worksheet" for part in parts} | {"/xl/styles.xml": "styles"}
        made.writestr("xl/_rels/workbook.xml.rels", _links(links))
        named = "".join(
            f'<sheet name="{name}" sheetId="{place}" r:id="r{place}"/>' for place, name in enumerate(sheets, start=1)
        )
        spaces = f'xmlns="{_MAIN}" xmlns:r="{_OFFICE}"'
        made.writestr("xl/workbook.xml", f"<workbook {spaces}><sheets>{named}</sheets></workbook>")
        codes = "".join(
            f'<numFmt numFmtId="{at}" formatCode="{escape(code, quote=True)}"/>'
            for at, code in enumerate(_FORMATS, start=164)
        )
        used = "".join(f'<xf numFmtId="{at}"/>' for at in range(164, 164 + len(_FORMATS)))
        formats = f"<numFmts>{codes}</numFmts><cellXfs>{used}</cellXfs>"
        ranges = "".join(f'<mergeCell ref="{one}"/>' for one in merged.split())
        ranges = ranges and f"<mergeCells>{ranges}</mergeCells>"
        made.writestr("xl/styles.xml", f'<styleSheet xmlns="{_MAIN}">{formats}</styleSheet>')
        for part, rows in parts.items():
            shown = ["<row>"] * (len(rows) - hidden) + ['<row hidden="1">'] * hidden
            cells = "".join(f"{begin}{''.join(row)}</row>" for begin, row in zip(shown, rows, strict=True))
            made.writestr(part, f'<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData>{ranges}</worksheet>')
    return file.getvalue()


def _links(targets: Mapping[str, str]) -> str:
    found = "".join(
        f'<Relationship Id="r{place}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for place, (target, kind) in enumerate(targets.items(), start=1)
    )
    return f'<Relationships xmlns="{_PACKAGE}">{found}</Relationships>'
