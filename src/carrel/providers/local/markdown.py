"""Markdown read as prose: headings, and the paragraphs and list items under them, without markup, code or tables.

This module does not render Markdown. It runs in one pass, in time linear in the text for any text, and it is right
about what people write. Every quantifier below is possessive (`++`, `*+`) or bounded by the character it excludes.
"""

import html
import re
from collections.abc import Iterator
from typing import NamedTuple


class Block(NamedTuple):
    """A heading (`level` 1–6) or a run of prose (`level` 0); `text` is one line without markup."""

    level: int
    text: str


MAX_LINES = 100_000
"""The reader stops after this many lines: a text of 4 MiB with more lines is not a document."""

_FENCE = re.compile(r" {0,3}(`{3,}+|~{3,}+)")
_HEADING = re.compile(r" {0,3}(#{1,6}+)(?:[ \t]++|$)")
_SETEXT = re.compile(r" {0,3}(?:=++|-{2,}+)[ \t]*+$")
_RULE = re.compile(r" {0,3}(?:[-*_][ \t]*+){3,}+$")
_QUOTE = re.compile(r" {0,3}>[ \t]?")
_ITEM = re.compile(r"[ \t]*+(?:[-*+]|\d{1,9}+[.)])[ \t]++(?:\[[ xX]\][ \t]++)?+")
_DEFINITION = re.compile(r" {0,3}\[[^\[\]]++\]:[ \t]")
_INDENTED = re.compile(r"(?: {4}|\t)")

_IMAGE = re.compile(r"!\[[^\[\]]*+\](?:\((?:[^()]|\([^()]*+\))*+\)|\[[^\[\]]*+\])?+")
_LINK = re.compile(r"\[([^\[\]]*+)\](?:\((?:[^()]|\([^()]*+\))*+\)|\[[^\[\]]*+\])?+")
_CONTENTS = re.compile(r"\[[^\[\]]*+\]\(#[^()\s]*+\)\s*+\Z")
_NOTE = re.compile(r"\[\^[^\[\]]++\]")
_TAG = re.compile(r"</?[A-Za-z][^<>]*+>")
_UNDERSCORE = re.compile(r"_(?:_++|(?<!\w_)|(?!\w))")
_ESCAPE = re.compile(r"(?<!\\)\\++(?=[!-/:-@\[-`{-~])")


def blocks(document: str) -> Iterator[Block]:
    """Headings and prose of `document` in order; code blocks, tables, comments and front matter are left out."""
    prose: list[str] = []
    fence = ""
    in_list = False
    after_blank = True
    for line in _lines(document):
        if fence:
            fence = "" if _closes(line, fence) else fence
            continue
        if not line.strip():
            yield from _flush(prose)
            after_blank = True
            continue
        opening = _FENCE.match(line)
        if opening:
            yield from _flush(prose)
            fence = opening[1]
        elif _HEADING.match(line):
            yield from _flush(prose)
            yield from _heading(line)
            in_list = False
        elif prose and _SETEXT.match(line):
            level = 1 if "=" in line else 2
            yield from (Block(level, block.text) for block in _flush(prose))
            in_list = False
        elif _RULE.match(line) or _is_table(line) or _DEFINITION.match(line):
            yield from _flush(prose)
        elif item := _ITEM.match(line):
            yield from _flush(prose)
            prose.append(line[item.end() :])
            in_list = True
        elif after_blank and not in_list and _INDENTED.match(line):
            continue  # indented code; inside a list the same indent carries on the item
        else:
            in_list = in_list and line[0] in " \t"
            prose.append(line)
        after_blank = False
    yield from _flush(prose)


def plain(markdown: str) -> str:
    """`markdown` (a paragraph) as one line of plain text: links become their text, images and tags go."""
    text = _ESCAPE.sub("", markdown) if "\\" in markdown else markdown
    if "[" in text:
        text = _LINK.sub(r"\1", _NOTE.sub("", _IMAGE.sub("", text)))
        text = _LINK.sub(r"\1", text)  # a badge is an image inside a link: the second pass removes the outer brackets
    pieces = text.split("`")
    pieces[::2] = map(_without_marks, pieces[::2])  # what stands between two backticks is code, and stays
    text = "".join(pieces)
    if "&" in text:
        text = html.unescape(text)
    return " ".join(text.split())


def _without_marks(text: str) -> str:
    if "<" in text:
        text = _TAG.sub("", text)
    if "_" in text:
        text = _UNDERSCORE.sub("", text)
    return text.replace("*", "").replace("~~", "")


def _lines(document: str) -> Iterator[str]:
    """Lines without comments, front matter and quotation marks."""
    lines = _without_comments(document).lstrip("\ufeff").splitlines()
    start = 0
    if lines and lines[0].rstrip() == "---":
        start = next((at + 1 for at in range(1, min(len(lines), 200)) if lines[at].rstrip() == "---"), 0)
    for line in lines[start:MAX_LINES]:
        quote = _QUOTE.match(line)
        yield line[quote.end() :] if quote else line


def _without_comments(document: str) -> str:
    first, *rest = document.split("<!--")
    return first + "".join(piece.partition("-->")[2] if "-->" in piece else piece for piece in rest)


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence) and not bare.strip(fence[0])


def _is_table(line: str) -> bool:
    return line.lstrip().startswith("|") or " | " in line or "-|-" in line


def _heading(line: str) -> Iterator[Block]:
    bare = line.strip()
    text = plain(bare.lstrip("#").strip().rstrip("#"))
    if text:
        yield Block(min(6, len(bare) - len(bare.lstrip("#"))), text)


def _flush(prose: list[str]) -> Iterator[Block]:
    if not prose:
        return
    markdown = "\n".join(prose)
    prose.clear()
    text = "" if _CONTENTS.match(markdown) else plain(markdown)  # a line of a table of contents says nothing itself
    if text:
        yield Block(0, text)
