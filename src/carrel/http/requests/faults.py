"""Every fault of a body that could not be decoded: msgspec stops at the first, a caller wants to mend all at once.

The body is taken apart level by level. What is sound is decoded once more and thrown away; only what is not is looked
into, so the cost follows the faults and not the size. Both are bounded.
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import islice
from types import NoneType, UnionType
from typing import Annotated, Any, Final, NamedTuple, Union, get_args, get_origin

import msgspec
from msgspec.structs import fields

from carrel.errors import FieldError
from carrel.http.requests.limits import MAX_FAULTS, Check, compiled, told
from carrel.http.requests.validation import explain, join, name_of
from carrel.kit.plain_text import NOT_TEXT, is_text

_MAX_PARTS: Final = 1_000
"""How many fields and entries are looked at before the search ends with what it has found."""

_ABSENT: Final = FieldError("", "a JSON body is required")
_UNIONS: Final = (Union, UnionType)


def of_body(value: bytes, annotation: Any, limits: object, first: FieldError) -> tuple[FieldError, ...]:
    """The faults of `value`, which is no `annotation`, `limits` included. `first` is the one that the decoder told."""
    search = _Search(limits)
    # The decoder stopped before the end of the body, so what follows may be no JSON at all.
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        search.within(value, annotation, "")
    # The decoder's own word is among them, unless the search ended before it came that far.
    found = search.found if first in search.found else [first, *search.found]
    return told(found)


def of_absence(annotation: Any) -> tuple[FieldError, ...]:
    """What a request without a body lacks: the body, and each field that must be in it."""
    struct = next((member for member in members(annotation) if _is_struct(member)), None)
    required = [field for field in fields(struct) if field.required] if struct is not None else []
    return (_ABSENT, *(FieldError(field.encode_name, "is required") for field in required))


def of_characters(data: object) -> tuple[FieldError, ...]:
    """The strings in a decoded body that are no text."""
    return told(list(islice(_no_texts(data, ""), MAX_FAULTS + 1)))


def _no_texts(value: object, path: str) -> Iterator[FieldError]:
    if isinstance(value, str) and not is_text(value):
        yield FieldError(path, NOT_TEXT)
    elif isinstance(value, msgspec.Struct):
        for field in fields(value):
            yield from _no_texts(getattr(value, field.name), join(path, field.encode_name))
    elif isinstance(value, list | tuple):
        for index, entry in enumerate(value):
            yield from _no_texts(entry, f"{path}[{index}]")
    elif isinstance(value, dict):
        # The keys are the caller's own words, so the path does not name them.
        for entry in (part for pair in value.items() for part in pair):
            yield from _no_texts(entry, f"{path}[...]")
    elif isinstance(value, msgspec.Raw):
        yield from _no_texts(msgspec.json.decode(value), path)


class _Kind(NamedTuple):
    """A type with what holds a value against it."""

    annotation: Any
    decoder: "msgspec.json.Decoder[Any]"
    check: Check | None


@cache
def _kind(annotation: Any) -> _Kind:
    return _Kind(annotation, msgspec.json.Decoder(annotation), compiled(annotation))


class _Search:
    """One search through one body."""

    def __init__(self, limits: object) -> None:
        self.found: list[FieldError] = []
        self._limits = limits
        self._parts = 0

    def look(self, value: bytes | msgspec.Raw, kind: _Kind, path: str) -> None:
        """Add the faults of the value at `path`."""
        self._parts += 1
        try:
            sound = kind.decoder.decode(value)
        except msgspec.ValidationError as error:
            count = len(self.found)
            self.within(value, kind.annotation, path)
            if len(self.found) == count:
                self.found.append(explain(str(error), path))
            return
        if kind.check is not None:
            kind.check(sound, path, self._limits, self.found)

    def within(self, value: bytes | msgspec.Raw, annotation: Any, path: str) -> None:
        """The faults of its parts; none if the fault is not in a part."""
        for member in members(annotation):
            origin, arguments = get_origin(member), get_args(member)
            if _is_struct(member):
                self._struct(value, member, path)
            elif origin is list or (origin is tuple and arguments[1:] == (...,)):
                self._list(value, arguments[0], path)
            elif origin is dict:
                self._dict(value, arguments[1], path)

    def _is_over(self) -> bool:
        # One more than are told, so that it is known that there are more.
        return len(self.found) > MAX_FAULTS or self._parts >= _MAX_PARTS

    def _struct(self, value: bytes | msgspec.Raw, struct: type[msgspec.Struct], path: str) -> None:
        parts = _split(value, dict[str, msgspec.Raw])
        if parts is None:
            return
        known = {field.encode_name: field for field in fields(struct)}
        if struct.__struct_config__.forbid_unknown_fields:
            unknown = islice((name for name in parts if name not in known), MAX_FAULTS + 1)
            self.found += [FieldError(join(path, name_of(name)), "is not a known field") for name in unknown]
        for name, field in known.items():
            if self._is_over():
                return
            if name in parts:
                self.look(parts[name], _kind(field.type), join(path, name))
            elif field.required:
                self.found.append(FieldError(join(path, name), "is required"))

    def _list(self, value: bytes | msgspec.Raw, entry_type: Any, path: str) -> None:
        kind = _kind(entry_type)
        for index, part in enumerate(_split(value, list[msgspec.Raw]) or ()):
            if self._is_over():
                return
            self.look(part, kind, f"{path}[{index}]")

    def _dict(self, value: bytes | msgspec.Raw, entry_type: Any, path: str) -> None:
        kind = _kind(entry_type)
        # The keys are the caller's own words, so the path does not name them.
        for part in (_split(value, dict[str, msgspec.Raw]) or {}).values():
            if self._is_over():
                return
            self.look(part, kind, f"{path}[...]")


def _split(value: bytes | msgspec.Raw, into: Any) -> Any:
    """The parts, still encoded; `None` if the value is of another shape."""
    try:
        return msgspec.json.decode(value, type=into)
    except msgspec.ValidationError:
        return None


def members(annotation: Any) -> tuple[Any, ...]:
    """The types that a value may have, without constraints, new names and null."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        else:
            break
    if get_origin(annotation) in _UNIONS:
        return tuple(inner for member in get_args(annotation) if member is not NoneType for inner in members(member))
    return (annotation,)


def _is_struct(member: Any) -> bool:
    return isinstance(member, type) and issubclass(member, msgspec.Struct)
