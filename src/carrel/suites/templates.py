"""promptfoo's templates, as far as they are plain: `{{name}}` stands for a variable. Everything else is code. Pure."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from carrel.contents.resolve import RESERVED
from carrel.datasets.columns import placeholder

_NAME: Final = re.compile(r"\{\{-?\s*([A-Za-z_][\w.-]*)\s*-?\}\}")
_CODE: Final = re.compile(r"\{\{|\{%|\{#")


def is_plain(text: str) -> bool:
    """Whether nothing in a text has to be computed."""
    return not _CODE.search(_NAME.sub(lambda found: "{{" if "." in found[1] else "", text))


def names(text: str) -> set[str]:
    """The variables that a plain text names."""
    return set(_NAME.findall(text))


def column(name: str) -> str:
    """The column, and the placeholder, of a variable."""
    found = placeholder(name)[:60]
    return f"{found}_" if found in RESERVED else found


def prompt(text: str) -> str:
    """A plain prompt with Carrel's placeholders."""
    return _NAME.sub(lambda found: "{{" + column(found[1]) + "}}", text)


def filled(text: str, variables: Mapping[str, str | None]) -> str | None:
    """A plain text with its variables; `None` if it has code, or a variable that is not there."""
    if not is_plain(text) or not names(text) <= variables.keys():
        return None
    return _NAME.sub(lambda found: variables[found[1]] or "", text)


def text_of(value: Any) -> str | None:
    """A value as a variable: texts as they are, numbers as they are written, and JSON for what has parts."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
