"""Packages of Office programs (ECMA-376, part 2): zips of parts, of which those that hold markup are read in bounds."""

import io
import zipfile
import zlib
from typing import Final
from xml.parsers import expat

from lxml import etree

from carrel.documents.refusals import DocumentBroken, DocumentEncrypted, DocumentTooComplex
from carrel.kit.memory_file import MemoryFile

MAX_XML_BYTES: Final = 64 * 1024 * 1024
"""Of all parts that hold markup, as they unpack."""
LAME: Final = (
    *(zipfile.BadZipFile, zlib.error, etree.LxmlError, expat.ExpatError),
    *(ArithmeticError, AssertionError, AttributeError, EOFError, LookupError, OSError),
    *(RuntimeError, TypeError, ValueError),
)
"""The errors that readers of packages raise on unexpected files: their own, and those of Python."""
_MAX_TAGS: Final = 250_000
"""Of a page, or of all parts of a package together; libraries make objects of all. 872 pages of Word's have 150,000."""
_MAX_ENTRIES: Final = 20_000
_ENCRYPTED: Final = 1

Element = etree._Element


def parts(body: memoryview, *, hollow: bool = False) -> dict[str, bytes]:
    """Every part that holds markup, by its name; with `hollow`, the others, too, of which nothing is read.

    Raises:
        DocumentEncrypted, DocumentTooComplex
    """
    found: dict[str, bytes] = {}
    left, tags = MAX_XML_BYTES, 0
    with zipfile.ZipFile(io.BufferedReader(MemoryFile(body))) as archive:
        entries = archive.infolist()
        if len(entries) > _MAX_ENTRIES:
            raise DocumentTooComplex
        for entry in entries:
            if entry.flag_bits & _ENCRYPTED:
                raise DocumentEncrypted
            name = entry.filename.replace("\\", "/").lstrip("/")
            if name.lower().endswith((".xml", ".rels")):
                with archive.open(entry) as part:
                    # What the list of the zip says of sizes need not be true.
                    found[name] = part.read(left + 1)
                left -= len(found[name])
                tags += found[name].count(b"<")
                if left < 0:
                    raise DocumentTooComplex
                require_few(tags)
            elif hollow:
                found[name] = b""
    return found


def require_few(tags: int) -> None:
    """Refuse what would become too many objects, before it does.

    Raises:
        DocumentTooComplex
    """
    if tags > _MAX_TAGS:
        raise DocumentTooComplex


def packed(made: dict[str, bytes]) -> io.BytesIO:
    """The parts as a package."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, body in made.items():
            archive.writestr(name, body)
    return file


def parsed(body: bytes) -> Element:
    """The tree of a part. Word declares no type of document, so a part that does is no part of Word's.

    Raises:
        DocumentBroken, etree.LxmlError
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    tree = etree.fromstring(body, parser)
    if tree.getroottree().docinfo.internalDTD is not None:
        raise DocumentBroken
    return tree


def replace(element: Element, *others: Element) -> None:
    """Put others in the place of an element."""
    parent = element.getparent()
    if parent is not None:
        at = parent.index(element)
        parent[at : at + 1] = list(others)


def choose(alternate: Element) -> None:
    """Of two forms of one thing, take the newer one unless nothing in it can be read."""
    for form in ("Choice", "Fallback"):
        for one in alternate.iterchildren(f"{{*}}{form}"):
            if next(one.iter("{*}drawing", "{*}pict", "{*}t", "{*}sym"), None) is not None:
                replace(alternate, *one)
                return
