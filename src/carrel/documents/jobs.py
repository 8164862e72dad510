"""What the workers that read uploaded files may do: find the text of a document, and read a table."""

import importlib
import pkgutil
from contextlib import suppress

from carrel.datasets.batches import read_table
from carrel.datasets.refusals import READING_REFUSALS
from carrel.documents import refusals
from carrel.documents.extract import text_of
from carrel.kit.processes.jobs import Jobs

_REFUSALS = (
    *(refusals.DocumentBroken, refusals.DocumentEncrypted, refusals.DocumentTooComplex, refusals.DocumentWithoutText),
    *(refusals.FormatMismatch, refusals.TextNotUtf8, refusals.TextTooLarge),
    *READING_REFUSALS,
)


def prepare() -> None:
    """Import the readers with everything that they import later, and every encoding that a font may name."""
    for name in ("docx", "html", "pdf"):
        importlib.import_module(f"carrel.documents.{name}")
    importlib.import_module("carrel.datasets.spreadsheets")
    for package in ("pypdf", "encodings"):
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            with suppress(ImportError):  # what needs another system, or a library for pictures
                importlib.import_module(module.name)


JOBS = Jobs("documents", __name__, (text_of, read_table), errors=_REFUSALS, prepare=prepare)
"""A file that is well made needs a third of the memory."""
