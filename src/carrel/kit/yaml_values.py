"""Reads YAML of strangers: only plain values, and counted before any is made.

A few hundred bytes of nested aliases stand for a thousand million values, so an alias counts as all that it repeats.
"""

import re
from datetime import date
from typing import Any, Final

import yaml


class _Loader(yaml.CSafeLoader):
    """Plain values as YAML 1.2 has them, which other programs write: `yes` and `1:30` are texts."""


_Loader.yaml_implicit_resolvers = {}
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"(?:~|null|Null|NULL|)\Z"), ["~", "n", "N", ""])
_Loader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile(r"<<\Z"), ["<"])
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), list("tTfF")
)
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z"), list("-+0123456789"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?\Z"),
    list("-+0123456789."),
)


class YamlUnreadable(ValueError):
    """The text is not YAML, or has too many values. The message says which, in constant words."""


_TOO_MANY: Final = "has too many values"


def read(text: str, most: int) -> Any:
    """The value of the one document in a text: mappings, lists, texts, numbers and null. Dates are texts.

    Raises:
        YamlUnreadable: also if it has more than `most` values.
    """
    try:
        _require_few(text, most)
        return _plain(yaml.load(text, Loader=_Loader))  # noqa: S506  # it makes no more than the safe loader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, YamlUnreadable):
            raise
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        raise YamlUnreadable("is not YAML" + ("" if mark is None else f": see line {mark.line + 1}")) from None


def _require_few(text: str, most: int) -> None:
    """Go through the events, which take no memory, and count what each alias stands for."""
    sizes: dict[str, int] = {}
    open_: list[tuple[str | None, int]] = []
    total = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, begun = open_.pop()
            if anchor is not None:
                sizes[anchor] = total - begun
        elif isinstance(event, yaml.CollectionStartEvent):
            open_.append((event.anchor, total))
            total += 1
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                # It is inside of what it repeats.
                raise YamlUnreadable(_TOO_MANY)
            total += sizes[event.anchor]
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
            if event.anchor is not None:
                sizes[event.anchor] = 1
        if total > most:
            raise YamlUnreadable(_TOO_MANY)


def _plain(value: Any) -> Any:
    """The value with texts as keys, and with texts for what JSON does not know."""
    if isinstance(value, dict):
        return {_key(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(one) for one in value]
    if isinstance(value, date):
        return value.isoformat()
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    return {True: "true", False: "false", None: "null"}.get(key) or str(_plain(key))
