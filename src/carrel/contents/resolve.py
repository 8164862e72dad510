"""Replaces placeholders: `{{NAME}}` becomes a given text, or the text of the content that a variable links to.

Pure: `load` brings the contents. Work and memory stay limited, whatever links to what: the resolver resolves every
content once, counts every placeholder, and stops before it builds a text beyond the limit. So a chain of contents that
each hold the next one twice costs no more than its result.

A resolved text is a list of pieces, and long pieces are never copied.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import msgspec

from carrel.contents.budget import Budget
from carrel.contents.schemas import Used
from carrel.errors import BadInput
from carrel.kit.placeholders import LONGEST, PLACEHOLDER, plain
from carrel.vault.ids import ContentId

RESERVED = frozenset({"document", "reference"})
"""Placeholders that no variable may have: a run replaces them by its input and by the reference for it."""

MAX_CONTENTS = 1_000
"""The most contents that one result may use."""

_MEMORY_FACTOR = 8
"""How much memory the pieces that are made on the way to a result may take, in multiples of its limit: one character
may take four bytes of memory."""

_LONG_CHARACTERS = 16 * 1024
"""A piece of this length is taken as it is; shorter ones are joined until they are as long."""

_SEARCHED_AT_ONCE = 64 * 1024
"""Characters. Nothing else runs while 4 MB of braces are searched in one call, which takes 75 ms."""


class VariableCycle(BadInput):
    """The variables lead back to the content where they began."""

    code = "variable-cycle"
    detail = "The variables lead in a circle."


class VariableDepth(BadInput):
    """The variables lead from content to content further than the limit allows."""

    code = "variable-depth"
    detail = "The variables lead deeper than the limit allows."


class ResultTooLarge(BadInput):
    """The result, or what would have to be read for it, is larger than the limit allows."""

    code = "result-too-large"
    detail = "With its placeholders replaced the text is larger than the limit allows."


class SourceContent(NamedTuple):
    """A content as the resolver needs it. `size` is that of the body in bytes of UTF-8."""

    id: ContentId
    body: str
    variables: Mapping[str, ContentId | None]
    size: int


class Slot(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where a reserved placeholder stands: characters `start` to `end` of the resolved body."""

    start: int
    end: int
    name: str


@dataclass(frozen=True)
class ResolvedText:
    """A body with its placeholders replaced: the `pieces` one behind the other, `size` bytes of UTF-8.

    `unresolved` names placeholders without a text or a link, which are still in the body.
    """

    pieces: list[str]
    size: int
    unresolved: list[str]
    used: list[Used]
    slots: list[Slot] = field(repr=False)
    """The reserved placeholders in the contents' own texts; a given text has none, even if it looks like one."""

    @cached_property
    def body(self) -> str:
        """The pieces as one text."""
        return "".join(self.pieces)


@dataclass(frozen=True, slots=True)
class _Part:
    """One content, resolved. `size` is in bytes of UTF-8; `height` is how many links its longest chain has below it."""

    pieces: list[str]
    characters: int
    size: int
    slots: Sequence[Slot]
    height: int


@dataclass(slots=True)
class _Work:
    given: Mapping[str, str]
    load: Callable[[ContentId], SourceContent]
    max_bytes: int
    max_depth: int
    budget: Budget
    memory_bytes: int
    fields: Collection[str] = ()
    read_bytes: int = 0
    given_parts: dict[str, _Part] = field(default_factory=dict)
    reserved_parts: dict[str, _Part] = field(default_factory=dict)
    parts: dict[ContentId, _Part] = field(default_factory=dict)
    chain: set[ContentId] = field(default_factory=set)
    unresolved: dict[str, None] = field(default_factory=dict)
    used: dict[tuple[str, ContentId | None], None] = field(default_factory=dict)


def resolve(
    root: SourceContent,
    given: Mapping[str, str],
    load: Callable[[ContentId], SourceContent],
    *,
    max_bytes: int,
    max_depth: int,
    budget: Budget,
    fields: Collection[str] = (),
) -> ResolvedText:
    """The body of `root` with each placeholder replaced once.

    A text in `given` takes the placeholder's place unchanged; otherwise the linked content does, after it is resolved
    in the same way with its own variables. Names in `fields` are reserved, too, unless a text is given for them.

    Raises:
        VariableCycle: a content holds itself.
        VariableDepth: a chain of links is longer than `max_depth`.
        ResultTooLarge: the result is larger than `max_bytes`, or what leads to it takes too much memory.
        ResolveBudget: with this text, the request has used up its `budget`.
    """
    work = _Work(given, load, max_bytes, max_depth, budget, _MEMORY_FACTOR * max_bytes, fields)
    part = _resolved(work, root, depth=0)
    budget.read(part.size)
    used = [Used(name, content_id) for name, content_id in work.used]
    return ResolvedText(part.pieces, part.size, list(work.unresolved), used, [*part.slots])


def fill(body: str, slots: Iterable[Slot], values: Mapping[str, str]) -> str:
    """`body` with `values` in its slots; a slot without a value keeps its placeholder."""
    pieces: list[str] = []
    end = 0
    for slot in slots:
        if slot.name in values:
            pieces += (body[end : slot.start], values[slot.name])
            end = slot.end
    return "".join((*pieces, body[end:]))


class _Joiner:
    """Pieces one behind the other, of which the short ones are joined."""

    def __init__(self, work: _Work) -> None:
        self.pieces: list[str] = []
        self.characters = 0
        self._work = work
        self._short: list[str] = []
        self._short_characters = 0

    def add(self, piece: str) -> None:
        length = len(piece)
        self.characters += length
        if length >= _LONG_CHARACTERS:
            self.flush()
            self.pieces.append(piece)
        elif length:
            self._short.append(piece)
            self._short_characters += length
            if self._short_characters >= _LONG_CHARACTERS:
                self.flush()

    def flush(self) -> None:
        """Join what is short.

        Raises:
            ResultTooLarge: it is more than memory is allowed for.
        """
        if not self._short:
            return
        joined = "".join(self._short)
        self._short.clear()
        self._short_characters = 0
        self.pieces.append(joined)
        self._work.memory_bytes -= len(joined) * (1 if joined.isascii() else 4)
        if self._work.memory_bytes < 0:
            raise ResultTooLarge


def _resolved(work: _Work, source: SourceContent, depth: int) -> _Part:
    work.read_bytes += source.size
    if work.read_bytes > work.max_bytes or len(work.parts) >= MAX_CONTENTS:
        raise ResultTooLarge
    work.chain.add(source.id)
    joined = _Joiner(work)
    slots: list[Slot] = []
    # What a placeholder is replaced by is added, and the placeholder is taken away.
    size = source.size
    height = end = 0
    for match in _placeholders(source.body):
        joined.add(source.body[end : match.start()])
        end = match.end()
        part = _replacement(work, source, match, depth)
        work.budget.visit(1 + len(part.slots))
        at = joined.characters
        slots += [Slot(at + slot.start, at + slot.end, slot.name) for slot in part.slots]
        for piece in part.pieces:
            joined.add(piece)
        size += part.size - _bytes(match[0])
        height = max(height, part.height)
        if size > work.max_bytes + len(source.body) - end:
            raise ResultTooLarge
    if size > work.max_bytes:
        raise ResultTooLarge
    joined.add(source.body[end:])
    joined.flush()
    work.chain.discard(source.id)
    part = _Part(joined.pieces, joined.characters, size, slots, height)
    work.parts[source.id] = part
    return part


def _placeholders(body: str) -> Iterator[re.Match[str]]:
    """All placeholders, looked for in a part of the text after the other."""
    position = 0
    while position < len(body):
        until = position + _SEARCHED_AT_ONCE
        last = position
        for match in PLACEHOLDER.finditer(body, position, until):
            if not match[1].isspace():
                yield match
            last = match.end()
        # One may have begun before the end of the part.
        position = max(last, until - LONGEST) if until < len(body) else until


def _replacement(work: _Work, source: SourceContent, match: re.Match[str], depth: int) -> _Part:
    """The replacement of one placeholder; its height counts the link that leads to it."""
    name, own = plain(match[1]), match[0]
    if name in RESERVED or (name in work.fields and name not in work.given):
        found = work.reserved_parts.get(own)
        if found is None:
            found = work.reserved_parts[own] = _Part([own], len(own), _bytes(own), [Slot(0, len(own), name)], 0)
        return found
    given = work.given.get(name)
    if given is not None:
        work.used[name, None] = None
        found = work.given_parts.get(name)
        if found is None:
            found = work.given_parts[name] = _Part([given], len(given), _bytes(given), (), 0)
        return found
    linked = source.variables.get(name)
    if linked is None:
        work.unresolved[name] = None
        return _Part([own], len(own), _bytes(own), (), 0)
    if linked in work.chain:
        raise VariableCycle
    if depth == work.max_depth:
        raise VariableDepth
    work.used[name, linked] = None
    part = work.parts.get(linked) or _resolved(work, work.load(linked), depth + 1)
    if depth + 1 + part.height > work.max_depth:
        raise VariableDepth
    return _Part(part.pieces, part.characters, part.size, part.slots, part.height + 1)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
