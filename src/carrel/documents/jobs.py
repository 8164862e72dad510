"""What the workers that read uploaded files may do: find the text of a document, and read a table."""

import importlib
import io
import pkgutil
import zipfile
from contextlib import suppress
from typing import Final, get_args

from carrel.datasets.batches import read_answers, read_table
from carrel.datasets.refusals import READING_REFUSALS
from carrel.datasets.result_files.inspect_log import unpacker
from carrel.documents import refusals
from carrel.documents.extract import page_of, text_of
from carrel.documents.schemas import Format
from carrel.errors import CarrelError, NotFound
from carrel.kit.processes.jobs import MIB, Jobs

_REFUSALS = (
    *(refusals.DocumentBroken, refusals.DocumentEncrypted, refusals.DocumentTooComplex, refusals.DocumentWithoutText),
    *(refusals.FormatMismatch, refusals.TextNotUtf8, refusals.TextTooLarge),
    *READING_REFUSALS,
    NotFound,
)


def prepare() -> None:
    """Import the readers with everything that they import later, and every encoding that a text may name."""
    for name in ("html", "mail", "pdf", "slides", "word"):
        importlib.import_module(f"carrel.documents.{name}")
    importlib.import_module("carrel.datasets.spreadsheets")
    unpacker()
    importlib.import_module("PIL.Image").preinit()
    for module in pkgutil.walk_packages(importlib.import_module("encodings").__path__, "encodings."):
        with suppress(ImportError):  # what needs another system
            importlib.import_module(module.name)
    files = {"docx": _word_file(), "pptx": _presentation(), "eml": b"From: a\n\na"}
    for name in get_args(Format):  # what a library imports with its first file
        with suppress(CarrelError):
            text_of(name, memoryview(files.get(name, b"<p>a</p>")), 1)


def _word_file() -> bytes:
    made = io.BytesIO()
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("word/document.xml", f'<d xmlns="{space}"><body><p><r><t>a</t></r></p></body></d>')
    return made.getvalue()


def _presentation() -> bytes:
    made = io.BytesIO()
    importlib.import_module("pptx").Presentation().save(made)
    return made.getvalue()


MAX_MEMORY_BYTES: Final = 512 * MIB
"""For what a call takes. A Word file of 872 pages takes 280 MB, and what people write otherwise far less."""
JOBS = Jobs(
    *("documents", __name__, (text_of, page_of, read_table, read_answers)),
    errors=_REFUSALS,
    prepare=prepare,
    memory_bytes=MAX_MEMORY_BYTES,
)
