"""The base of every request body: strict structs, and types whose limits the operator sets."""

from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import msgspec
from msgspec import Meta


class In(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The base of every request body; it refuses unknown fields."""

    MAX_ELEMENTS: ClassVar[int] = 10_000
    """How many elements its JSON has at most (`json_elements`): so many take the event loop four milliseconds."""


class Hidden:
    """Put before the base of a struct that holds a secret: neither `repr` nor rich's printer shows a field of it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(hidden)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return []


class Limit(NamedTuple):
    """A limit that is a setting: the service checks it when it reads a body, and publishes its value in `openapi.json`.

    `setting` is the field of the settings, `unit` the unit of the limit.
    """

    setting: str
    unit: Literal["characters", "bytes", "entries"]


def limited(setting: str, unit: Literal["characters", "bytes", "entries"], *, min_length: int | None = None) -> Any:
    """The annotation of a type that `setting` limits: `Annotated[str, limited("max_body_bytes", "bytes")]`."""
    return Meta(min_length=min_length, extra={"limit": Limit(setting, unit)}, extra_json_schema={"x-limit": setting})


Name = Annotated[str, limited("max_name_characters", "characters", min_length=1)]
Text = Annotated[str, limited("max_body_bytes", "bytes")]
CriteriaText = Annotated[str, limited("max_criteria_bytes", "bytes")]
Description = Annotated[str, Meta(max_length=2_000)]
Tag = Annotated[str, Meta(min_length=1, max_length=50)]
Tags = Annotated[list[Tag], Meta(max_length=20)]
Ids = Annotated[list[str], limited("max_bulk_ids", "entries", min_length=1)]

UserUuid = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$(?!\n)")]
"""A user's uuid as the host gives it: matched whole, compared exactly. (Python's `$` alone lets a newline follow.)"""
