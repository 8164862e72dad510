"""Holds a decoded body against the limits that are settings, wherever its type says `limited(...)`.

A type can also bring a rule of its own: `Meta(extra={"fault": fn})`, where `fn` says what is wrong with a value.
"""

from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET
from msgspec.inspect import CollectionType, DictType, Metadata, StructType, Type, UnionType, type_info

from carrel.errors import FieldError
from carrel.http.requests.schema import Limit
from carrel.http.requests.validation import counted, join

MAX_FAULTS: Final = 20
"""How many faults an answer tells at most."""
_MORE: Final = FieldError("", "and more faults than these")

Check = Callable[[Any, str, object, list[FieldError]], None]
"""Appends what is wrong with a value at a path; the third argument has one attribute for each limit."""


def compiled(annotation: Any) -> Check | None:
    """The check of every limit inside `annotation`; `None` if there is none."""
    return _compile(type_info(annotation), {})


def told(found: list[FieldError]) -> tuple[FieldError, ...]:
    """The faults that an answer tells, and that there are more, if so."""
    return tuple(found) if len(found) <= MAX_FAULTS else (*found[:MAX_FAULTS], _MORE)


def _compile(kind: Type, seen: dict[type, Check | None]) -> Check | None:
    if isinstance(kind, Metadata):
        extra = kind.extra or {}
        inner = _compile(kind.type, seen)
        if "fault" in extra:
            return _ruled(extra["fault"])
        own = extra.get("limit")
        return _both(_own(own), inner) if isinstance(own, Limit) else inner
    if isinstance(kind, StructType):
        return _struct(kind, seen)
    if isinstance(kind, CollectionType):
        return _each(_compile(kind.item_type, seen))
    if isinstance(kind, DictType):
        return _values(_compile(kind.value_type, seen))
    if isinstance(kind, UnionType):
        return _union(kind, seen)
    return None


def _ruled(fault_of: Callable[[Any], str | None]) -> Check:
    def check(value: Any, path: str, limits: object, found: list[FieldError]) -> None:
        fault = fault_of(value)
        if fault is not None:
            found.append(FieldError(path, fault))

    return check


def _own(limit: Limit) -> Check:
    def check(value: Any, path: str, limits: object, found: list[FieldError]) -> None:
        most: int = getattr(limits, limit.setting)
        # A character has at least one byte, so what is short enough in bytes need not be encoded to be counted.
        count = len(value.encode()) if limit.unit == "bytes" and len(value) * 4 > most else len(value)
        if count > most:
            found.append(FieldError(path, f"must have at most {counted(most, limit.unit)}"))

    return check


def _both(first: Check, second: Check | None) -> Check:
    def check(value: Any, path: str, limits: object, found: list[FieldError]) -> None:
        first(value, path, limits, found)
        if second is not None:
            second(value, path, limits, found)

    return check


def _struct(kind: StructType, seen: dict[type, Check | None]) -> Check | None:
    if kind.cls in seen:
        # A type inside itself: what is being compiled is looked up when it is needed.
        return lambda value, path, limits, found: _late(seen[kind.cls], value, path, limits, found)
    seen[kind.cls] = None
    fields = [
        (field.name, field.encode_name, check)
        for field in kind.fields
        if (check := _compile(field.type, seen)) is not None
    ]
    if not fields:
        return None

    def check_fields(value: Any, path: str, limits: object, found: list[FieldError]) -> None:
        for name, encoded, check in fields:
            held = getattr(value, name)
            # A field that was left out has no value to be held against a limit.
            if held is not UNSET:
                check(held, join(path, encoded), limits, found)

    seen[kind.cls] = check_fields
    return check_fields


def _late(check: Check | None, value: Any, path: str, limits: object, found: list[FieldError]) -> None:
    if check is not None:
        check(value, path, limits, found)


def _each(item: Check | None) -> Check | None:
    if item is None:
        return None

    def check(value: Any, path: str, limits: object, found: list[FieldError]) -> None:
        for index, entry in enumerate(value):
            if len(found) > MAX_FAULTS:
                return
            item(entry, f"{path}[{index}]", limits, found)

    return check


def _values(inner: Check | None) -> Check | None:
    if inner is None:
        return None

    def check(value: Any, path: str, limits: object, found: list[FieldError]) -> None:
        # The keys are the caller's own words, so the path does not name them.
        for entry in value.values():
            if len(found) > MAX_FAULTS:
                return
            inner(entry, f"{path}[...]", limits, found)

    return check


def _union(kind: UnionType, seen: dict[type, Check | None]) -> Check | None:
    structs: dict[type, Check] = {}
    others: list[Check] = []
    for member in kind.types:
        check = _compile(member, seen)
        if check is None:
            continue
        if isinstance(member, StructType):
            structs[member.cls] = check
        else:
            others.append(check)
    if not structs and not others:
        return None

    def check_member(value: Any, path: str, limits: object, found: list[FieldError]) -> None:
        chosen = structs.get(type(value))
        if chosen is not None:
            chosen(value, path, limits, found)
        elif value is not None and type(value) not in structs:
            for other in others:
                other(value, path, limits, found)

    return check_member
