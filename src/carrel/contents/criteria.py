"""Reads criteria from YAML: a list of name, description, weight and scale. It accepts nothing else of YAML.

It reads the text as a stream of events and checks every event before it builds anything from it. Otherwise a few
hundred bytes of nested aliases could expand to a thousand million values.
"""

import re
from collections.abc import Iterator

import yaml

from carrel.errors import BadInput, FieldError
from carrel.providers.base import Criterion

MAX_CRITERIA = 50
MAX_NAME_CHARACTERS = 100
MAX_DESCRIPTION_CHARACTERS = 2_000
MAX_WEIGHT = 1_000_000
"""The user guide names this number."""
MAX_BOUND = 1_000_000
"""The greatest distance of a scale's end from 0."""

_NUMBER = re.compile(r"[+-]?([0-9]{1,12}(\.[0-9]{0,12})?|\.[0-9]{1,12})")
_FIELDS = ("name", "description", "weight", "scale")
_BOUNDS = ("min", "max")


def parse(text: str, max_bytes: int) -> tuple[Criterion, ...]:
    """The criteria in `text`, which is the body of a content. The work is limited, whatever the text.

    Raises:
        BadInput: it is not what the module's docstring says, or larger than `max_bytes`; the path is `body[2].weight`.
    """
    if len(text.encode()) > max_bytes:
        raise BadInput.at("body", f"must have at most {max_bytes} bytes")
    try:
        entries = _entries(_events(text))
    except yaml.YAMLError as error:
        raise BadInput.at("body", f"must be valid YAML{_where(error)}") from None
    criteria = tuple(_criterion(fields, f"body[{index}]") for index, fields in enumerate(entries))
    if len({criterion.name for criterion in criteria}) < len(criteria):
        raise BadInput.at("body", "must not name two criteria alike")
    return criteria


def _where(error: yaml.YAMLError) -> str:
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    return "" if mark is None else f"; it cannot be read at line {mark.line + 1}"


def _events(text: str) -> Iterator[yaml.Event]:
    """The events of the one document in `text`, without those that only mark its beginning and end."""
    documents = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise BadInput.at("body", "must not use anchors or aliases")
        if getattr(event, "tag", None) is not None:
            raise BadInput.at("body", "must not use tags")
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise BadInput.at("body", "must be one YAML document")
        if isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
            yield event


def _entries(events: Iterator[yaml.Event]) -> list[dict[str, str]]:
    """Each criterion as its user wrote it, as texts; the texts of its scale are under `scale.min` and `scale.max`."""
    if not isinstance(next(events, None), yaml.SequenceStartEvent):
        raise BadInput.at("body", "must be a list of criteria")
    entries: list[dict[str, str]] = []
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            break
        path = f"body[{len(entries)}]"
        if len(entries) == MAX_CRITERIA:
            raise BadInput.at("body", f"must have at most {MAX_CRITERIA} entries")
        if not isinstance(event, yaml.MappingStartEvent):
            raise BadInput.at(path, "must be a mapping of name, description, weight and scale")
        entries.append(_fields(events, path))
    # Only further reading shows whether a second document follows.
    next(events, None)
    if not entries:
        raise BadInput.at("body", "must have at least 1 entry")
    return entries


def _fields(events: Iterator[yaml.Event], path: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in _pairs(events, path, _FIELDS):
        if name != "scale":
            found[name] = _text(value, f"{path}.{name}")
        elif isinstance(value, yaml.MappingStartEvent):
            for bound, text in _pairs(events, f"{path}.scale", _BOUNDS):
                found[f"scale.{bound}"] = _text(text, f"{path}.scale.{bound}")
        else:
            raise BadInput.at(f"{path}.scale", "must be a mapping of min and max")
    return found


def _pairs(events: Iterator[yaml.Event], path: str, known: tuple[str, ...]) -> Iterator[tuple[str, yaml.Event]]:
    """The keys of a mapping, each known and each once, with the event that begins its value."""
    seen: set[str] = set()
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            return
        key = event.value if isinstance(event, yaml.ScalarEvent) else ""
        if key not in known:
            raise BadInput.at(path, f"has a field that is not known; known are {', '.join(known)}")
        if key in seen:
            raise BadInput.at(f"{path}.{key}", "must not stand twice")
        seen.add(key)
        yield key, next(events)


def _text(event: yaml.Event, path: str) -> str:
    if not isinstance(event, yaml.ScalarEvent):
        raise BadInput.at(path, "must be a single value")
    return str(event.value).strip()


def _criterion(fields: dict[str, str], path: str) -> Criterion:
    name, description = fields.get("name", ""), fields.get("description", "")
    weight = _number(fields, "weight", path, default=1.0)
    minimum = _number(fields, "scale.min", path, default=1.0)
    maximum = _number(fields, "scale.max", path, default=5.0)
    rules = (
        ("name", 1 <= len(name) <= MAX_NAME_CHARACTERS, f"must have 1 to {MAX_NAME_CHARACTERS} characters"),
        (
            "description",
            len(description) <= MAX_DESCRIPTION_CHARACTERS,
            f"must have at most {MAX_DESCRIPTION_CHARACTERS} characters",
        ),
        ("weight", 0 < weight <= MAX_WEIGHT, f"must be more than 0 and at most {MAX_WEIGHT}"),
        ("scale", -MAX_BOUND <= minimum < maximum <= MAX_BOUND, "must have a max above its min"),
    )
    faults = tuple(FieldError(f"{path}.{field}", message) for field, kept, message in rules if not kept)
    if faults:
        raise BadInput(errors=faults)
    return Criterion(name, description, weight, minimum, maximum)


def _number(fields: dict[str, str], field: str, path: str, *, default: float) -> float:
    text = fields.get(field)
    if text is None:
        return default
    if not _NUMBER.fullmatch(text):
        raise BadInput.at(f"{path}.{field}", "must be a number")
    return float(text)
