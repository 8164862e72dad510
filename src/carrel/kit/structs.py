"""Structs made of other structs."""

from typing import TypeVar

import msgspec

S = TypeVar("S", bound=msgspec.Struct)


def narrowed(kind: type[S], source: msgspec.Struct, **changes: object) -> S:
    """A struct of `kind` with the values that `source` has for its fields; `changes` take the place of some."""
    kept = {name: getattr(source, name) for name in kind.__struct_fields__ if name not in changes}
    return kind(**kept, **changes)
