"""Replaces placeholders: `{{NAME}}` becomes a given text, or the text of the content that a variable links to.

Pure: `load` brings the contents. Work and memory stay limited, whatever links to what: the resolver resolves every
content once, counts every placeholder, and stops before it builds a text beyond the limit. So a chain of contents that
each hold the next one twice costs no more than its result.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from carrel.contents.budget import Budget
from carrel.contents.schemas import Used
from carrel.errors import BadInput
from carrel.vault.ids import ContentId

RESERVED = frozenset({"document", "reference"})
"""Placeholders that no variable may have: a run replaces them by its input and by the reference for it."""

MAX_CONTENTS = 1_000
"""The most contents that one result may use."""

_MEMORY_FACTOR = 8
"""How much memory the texts on the way to a result may take, in multiples of its limit: a chain of contents builds the
same text once for each link, and one character may take four bytes of memory."""

_PLACEHOLDER = re.compile(r"\{\{[ \t]{0,8}([A-Za-z_][A-Za-z0-9_]{0,63})[ \t]{0,8}\}\}")


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


class Source(NamedTuple):
    """A content as the resolver needs it."""

    id: ContentId
    body: str
    variables: Mapping[str, ContentId | None]


class Slot(msgspec.Struct, frozen=True, array_like=True):
    """Where a reserved placeholder stands: characters `start` to `end` of the resolved body."""

    start: int
    end: int
    name: str


class Resolved(msgspec.Struct, frozen=True):
    """A body with its placeholders replaced.

    `unresolved` names placeholders without a text or a link, which are still in the body. `slots` are the reserved
    placeholders in the contents' own texts; a given text has no slots, even if it looks as if it had one.
    """

    body: str
    unresolved: list[str]
    used: list[Used]
    slots: list[Slot]


@dataclass(frozen=True, slots=True)
class _Part:
    """One content, resolved. `size` is in bytes of UTF-8, `width` in bytes of memory for each character at most.

    `height` is how many links its longest chain has below it.
    """

    text: str
    size: int
    width: int
    slots: list[Slot]
    height: int


@dataclass(slots=True)
class _Work:
    given: Mapping[str, str]
    load: Callable[[ContentId], Source]
    max_bytes: int
    max_depth: int
    budget: Budget
    memory_bytes: int
    read_bytes: int = 0
    parts: dict[ContentId, _Part] = field(default_factory=dict)
    chain: set[ContentId] = field(default_factory=set)
    unresolved: dict[str, None] = field(default_factory=dict)
    used: dict[tuple[str, ContentId | None], None] = field(default_factory=dict)


def resolve(
    root: Source,
    given: Mapping[str, str],
    load: Callable[[ContentId], Source],
    *,
    max_bytes: int,
    max_depth: int,
    budget: Budget,
) -> Resolved:
    """The body of `root` with each placeholder replaced once.

    A text in `given` takes the placeholder's place unchanged; otherwise the linked content does, after it is resolved
    in the same way with its own variables.

    Raises:
        VariableCycle: a content holds itself.
        VariableDepth: a chain of links is longer than `max_depth`.
        ResultTooLarge: the result is larger than `max_bytes`, or what leads to it takes too much memory.
        ResolveBudget: with this text, the request has used up its `budget`.
    """
    work = _Work(given, load, max_bytes, max_depth, budget, _MEMORY_FACTOR * max_bytes)
    part = _resolved(work, root, depth=0)
    budget.read(part.size)
    used = [Used(name, content_id) for name, content_id in work.used]
    return Resolved(part.text, list(work.unresolved), used, part.slots)


def fill(body: str, slots: Iterable[Slot], values: Mapping[str, str]) -> str:
    """`body` with `values` in its slots; a slot without a value keeps its placeholder."""
    pieces: list[str] = []
    end = 0
    for slot in slots:
        if slot.name in values:
            pieces += (body[end : slot.start], values[slot.name])
            end = slot.end
    return "".join((*pieces, body[end:]))


def _resolved(work: _Work, source: Source, depth: int) -> _Part:
    work.read_bytes += _bytes(source.body)
    if work.read_bytes > work.max_bytes or len(work.parts) >= MAX_CONTENTS:
        raise ResultTooLarge
    work.chain.add(source.id)
    pieces: list[str] = []
    slots: list[Slot] = []
    size = characters = height = end = widest = 0
    for match in _PLACEHOLDER.finditer(source.body):
        before = source.body[end : match.start()]
        end = match.end()
        characters += len(before)
        part = _replacement(work, source, match, depth)
        work.budget.visit(1 + len(part.slots))
        slots += (Slot(slot.start + characters, slot.end + characters, slot.name) for slot in part.slots)
        pieces += (before, part.text)
        characters += len(part.text)
        size += _bytes(before) + part.size
        height = max(height, part.height)
        widest = max(widest, part.width)
        if size > work.max_bytes:
            raise ResultTooLarge
    rest = source.body[end:]
    size += _bytes(rest)
    characters += len(rest)
    widest = max(widest, _width(source.body))
    work.memory_bytes -= characters * widest
    if size > work.max_bytes or work.memory_bytes < 0:
        raise ResultTooLarge
    work.chain.discard(source.id)
    part = _Part("".join((*pieces, rest)), size, widest, slots, height)
    work.parts[source.id] = part
    return part


def _replacement(work: _Work, source: Source, match: re.Match[str], depth: int) -> _Part:
    """The replacement of one placeholder; its height counts the link that leads to it."""
    name, own = match[1], match[0]
    if name in RESERVED:
        return _Part(own, len(own), 1, [Slot(0, len(own), name)], 0)
    given = work.given.get(name)
    if given is not None:
        work.used[name, None] = None
        return _Part(given, _bytes(given), _width(given), [], 0)
    linked = source.variables.get(name)
    if linked is None:
        work.unresolved[name] = None
        return _Part(own, len(own), 1, [], 0)
    if linked in work.chain:
        raise VariableCycle
    if depth == work.max_depth:
        raise VariableDepth
    work.used[name, linked] = None
    part = work.parts.get(linked) or _resolved(work, work.load(linked), depth + 1)
    if depth + 1 + part.height > work.max_depth:
        raise VariableDepth
    return _Part(part.text, part.size, part.width, part.slots, part.height + 1)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _width(text: str) -> int:
    """The most bytes of memory that one character of `text` takes, also in a text that is made of it."""
    return 1 if text.isascii() else 4
