"""Names that providers give: of their models, and of the version of their protocol in a URL. Pure."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from carrel.providers.foreign_json import decoded

_LONGEST_NAME = 200
_MOST_MODELS = 10_000
_LISTS = ("data", "models", "inferenceProfileSummaries", "publisherModels")
_NAMES = ("id", "name", "model", "inferenceProfileId")
_WINDOWS = ("max_model_len", "context_length", "context_window", "max_context_length")
_OUTPUTS = ("max_completion_tokens", "max_output_tokens")

_anything = msgspec.json.Decoder()


class Listed(NamedTuple):
    """A model as a server lists it, with its limits in tokens, and the day of its end, where the server tells them."""

    name: str
    window: int | None = None
    most_output: int | None = None
    ends_on: str | None = None


def can_be(name: str) -> bool:
    """Whether a model can have this name: paths, makers, revisions and blanks are all in use."""
    return name.isprintable() and name == name.strip() != ""


def entries(body: bytes) -> list[Mapping[str, object]] | None:
    """The entries of a list of models that have a name; `None` if the body is no such list.

    Servers wrap the list in an object or do not, say `null` if there are no models, and list names alone. What cannot
    be read among them costs nobody the rest.
    """
    found = decoded(_anything, body)
    if isinstance(found, dict):
        keys = [key for key in _LISTS if key in found]
        found = (found[keys[0]] or []) if keys else None
    if not isinstance(found, list):
        return None
    named = ({"id": one} if isinstance(one, str) else one for one in found)
    return [one for one in named if isinstance(one, dict) and name_in(one)]


def name_in(entry: Mapping[str, object]) -> str | None:
    """The name in an entry of a list, if it can be one."""
    names = (entry.get(key) for key in _NAMES)
    return next((name for name in names if isinstance(name, str) and can_be(name) and len(name) <= _LONGEST_NAME), None)


def listed(found: Iterable[Mapping[str, object]]) -> tuple[Listed, ...]:
    """The models as Carrel shows them: sorted, each once, without very long names, and only up to a limit."""
    models = {
        name: Listed(name, _tokens(one, _WINDOWS), _tokens(one, _OUTPUTS), _end(one))
        for one in found
        if (name := name_in(one))
    }
    return tuple(models[name] for name in sorted(models)[:_MOST_MODELS])


def _end(entry: Mapping[str, object]) -> str | None:
    day = entry.get("shutdown_date")
    return day if isinstance(day, str) else None


def _tokens(entry: Mapping[str, object], keys: Iterable[str]) -> int | None:
    numbers = (entry.get(key) for key in keys)
    return next((number for number in numbers if type(number) is int and 0 < number < 1 << 40), None)


def versioned(base: str, version: str) -> str:
    """The base URL with the protocol's version at its end, whether or not it was there before."""
    return base if base.endswith(f"/{version}") else f"{base}/{version}"
