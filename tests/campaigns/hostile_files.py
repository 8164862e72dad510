"""Files and packages that hurt: many parts, one huge part, parts within parts, and what unpacks to far more."""

import json
import zlib
from collections.abc import Callable
from functools import partial
from typing import Final

from tests.campaigns import packages
from tests.campaigns.user import Json, Request
from tests.support.tables import hostile

_FILE: Final = 24_000_000
_PACKED: Final = 130_000_000
"""Bytes of spaces, which take a thousandth when they are packed."""
_LINE: Final = 2_000_000
_BOUNDARY: Final = "limit"
_Files = dict[str, Callable[[], Request]]


def documents() -> _Files:
    """Documents in every format, besides `packages.FILES`."""
    bodies: dict[str, tuple[str, Callable[[], bytes]]] = {
        "elements within elements": ("a.html", lambda: b"<div>" * (_FILE // 5)),
        "one attribute": ("a.html", lambda: b'<p title="' + b"x" * _FILE),
        "entities": ("a.html", lambda: b"&lt;" * (_FILE // 4)),
        "comments": ("a.html", lambda: b"<!---->" * (_FILE // 7)),
        "cells": ("a.html", lambda: b"<table><tr>" + b"<td>" * (_FILE // 4)),
        "one line": ("a.txt", lambda: b"x" * 3_000_000),
        "quotation marks": ("a.csv", lambda: b'"' * 3_000_000),
        "packed spaces": ("a.docx", partial(_docx, {"word/document.xml": b" " * _PACKED})),
        "elements within elements of a document": (
            "a.docx",
            partial(_docx, {"word/document.xml": b"<a>" * 10_000_000}),
        ),
        "one attribute of a document": (
            "a.docx",
            partial(_docx, {"word/document.xml": b'<a b="' + b"x" * 50_000_000 + b'"/>'}),
        ),
        "100,000 parts of a document": (
            "a.docx",
            partial(_docx, {f"word/{number}.xml": b"" for number in range(100_000)}),
        ),
        "a packed stream": ("a.pdf", partial(_pdf, zlib.compress(b" " * _PACKED, 9), b"/Filter/FlateDecode")),
        "a stream packed twice": (
            "a.pdf",
            partial(_pdf, zlib.compress(zlib.compress(b" " * _PACKED, 9), 9), b"/Filter[/FlateDecode/FlateDecode]"),
        ),
        "arrays within arrays": ("a.pdf", partial(_pdf, b"[" * 10_000_000, b"")),
        "objects": ("a.pdf", lambda: b"%PDF-1.4\n" + b"1 0 obj<<>>endobj\n" * (_FILE // 18)),
        "names": ("a.pdf", lambda: b"%PDF-1.4\n1 0 obj<<" + b"/a 1" * (_FILE // 4)),
    }
    found = {name: partial(_form, file, make, "/documents") for name, (file, make) in bodies.items()}
    return {**found, **_forms("a.txt", "/documents")}


def tables() -> _Files:
    """Tables that are refused, and the largest that are not."""
    found: _Files = {
        name: partial(_form, f"a.{kind}", make, "/data-sets") for name, (kind, make) in hostile(_FILE).items()
    }
    accepted: dict[str, tuple[str, Callable[[], bytes]]] = {
        "characters of three bytes": ("a.csv", lambda: ("text\n" + "字" * 100 + "\n").encode() * (_FILE // 306)),
        "UTF-16": ("a.csv", lambda: ("text\n" + ("字" * 200 + "\n") * (_FILE // 402)).encode("utf-16")),
        "one row and a wide character": ("a.csv", partial(_wide, 1_000_000)),
        "long rows": ("a.jsonl", lambda: (b'{"a":"%b","b":"\xf0\x9f\x98\x80"}\n' % (b"x" * 1_000_000)) * 20),
        "a conversation in each row": ("a.jsonl", lambda: _conversations(3_000)),
        "rows of a sparse table": (
            "a.jsonl",
            lambda: b"".join(b'{"c%d":1}\n' % (number % 50) for number in range(100_000)),
        ),
        "the same id again and again": ("a.csv", lambda: b"id,a\n" + b"x,y\n" * 100_000),
        "cells that are no text": ("a.jsonl", lambda: b'{"a":"\\ud800"}\n' * 100_000),
        "escapes": ("a.jsonl", lambda: (b'{"a":"' + rb"\u0001" * 150_000 + b'"}\n') * 25),
    }
    found |= {name: partial(_form, file, make, "/data-sets") for name, (file, make) in accepted.items()}
    return {**found, **_forms("a.csv", "/data-sets")}


def imports() -> _Files:
    """Packages of a few kB in which one entry is nothing but one thing."""
    lines: dict[str, Callable[[], bytes]] = {
        "keys": lambda: _keys(_LINE // 12),
        "empty lists": lambda: b'{"name":[' + b"[]," * (_LINE // 3) + b"[]]}",
        "brackets": lambda: b"[" * _LINE,
        "one text": lambda: b'{"name":"' + b"x" * _LINE + b'"}',
        "a line of 20 MB": lambda: b'{"name":"' + b"x" * 20_000_000 + b'"}',
        "a million lines": lambda: b"{}\n" * 1_000_000,
        "empty lines": lambda: b"\n" * 20_000_000,
        "packed spaces": lambda: b" " * _PACKED,
    }
    entries = (
        *("carrel.json", "settings.json", "contents.jsonl", "presets.jsonl", "preset_drafts.jsonl"),
        *("model_prices.jsonl", "data_sets.jsonl", "data_sets/d.jsonl", "contents/a.md"),
    )
    found: _Files = {
        f"{entry}: {name}": partial(_package, entry, make) for entry in entries for name, make in lines.items()
    }
    found["100,000 entries"] = partial(_package, "x", bytes, 100_000)
    return found


def _wide(size: int) -> bytes:
    return f"a,b\n{'x' * size},\U0001f600{'x' * size}".encode()


def _keys(count: int) -> bytes:
    return b"{" + b",".join(b'"k%06d":1' % number for number in range(count)) + b"}"


def _conversations(messages: int) -> bytes:
    said = [{"role": "user", "content": "x" * 200}] * messages
    return (json.dumps({"messages": said}).encode() + b"\n") * (_FILE // (250 * messages))


def _form(name: str, make: Callable[[], bytes], path: str) -> Request:
    return packages.form(name, make(), path)


def _forms(name: str, path: str) -> _Files:
    """Forms whose other parts hurt."""

    def sent(parts: bytes) -> Request:
        good = packages.form(name, b"a\n1\n", path)
        return good._replace(content=parts + (good.content or b""))

    def part(head: bytes, body: bytes = b"") -> bytes:
        return f"--{_BOUNDARY}\r\n".encode() + head + b"\r\n\r\n" + body + b"\r\n"

    named = b'Content-Disposition: form-data; name="%b"'
    return {
        "form: 100,000 parts": lambda: sent(part(named % b"a") * 100_000),
        "form: a long head": lambda: sent(part(named % (b"a" * 1_000_000))),
        "form: a long name": lambda: sent(part(named % b"name", b"x" * 8_000)),
        "form: roles of many columns": lambda: sent(part(named % b"columns", _keys(5_000))),
        "form: brackets as roles": lambda: sent(part(named % b"columns", b"[" * 60_000)),
    }


def _docx(entries: dict[str, bytes]) -> bytes:
    kind = b'<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
    return packages.zipped({"[Content_Types].xml": kind, "word/document.xml": b"", **entries})


def _pdf(stream: bytes, filters: bytes) -> bytes:
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/MediaBox[0 0 9 9]>>",
        b"<</Length %d%b>>stream\n%b\nendstream" % (len(stream), filters, stream),
    ]
    found = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(found))
        found += b"%d 0 obj%bendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(found)
    return found + b"xref\n0 5\n0000000000 65535 f \n" + table + end


def _package(entry: str, make: Callable[[], bytes], more: int = 0) -> Request:
    at: Json = {"version": 1, "created_at": "", "updated_at": ""}
    table = {"id": "d", "file": "data_sets/d.jsonl", "name": "n", "description": "", "format": "jsonl", "columns": []}
    content = {"id": "a", "file": "contents/a.md", "name": "n", "type": "fragment", **at}
    entries = {
        "carrel.json": b'{"format":"carrel-workspace","version":1}',
        "settings.json": b"{}",
        "contents.jsonl": json.dumps(content).encode(),
        "contents/a.md": b"x",
        "presets.jsonl": b"",
        "data_sets.jsonl": json.dumps({**table, "row_count": 1, "bytes": 1, **at}).encode(),
        "data_sets/d.jsonl": b'{"a":1}',
        entry: make(),
    }
    entries |= {f"more/{number}": b"" for number in range(more)}
    return Request("POST", "", content=packages.zipped(entries), headers={"Content-Type": "application/zip"})
