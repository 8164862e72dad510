"""Reads criteria from YAML: a list of name, description, weight and scale. It accepts nothing else of YAML.

It reads the text as a stream of events and checks every event before it builds anything from it. Otherwise a few
hundred bytes of nested aliases could expand to a thousand million values. A fault names its line, counted from 1.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
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


class CriterionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A criterion as its user wrote it: every value is a text, and null where the user gave none."""

    name: str | None
    description: str | None
    weight: str | None
    minimum: str | None
    maximum: str | None


class CriteriaRows(msgspec.Struct, frozen=True):
    """Criteria as rows. `comments` says whether the text has comments, which no row holds."""

    rows: tuple[CriterionRow, ...]
    comments: bool


class _Entry(NamedTuple):
    """The texts of a criterion and the lines of its fields; those of its scale are under `scale.min`, `scale.max`."""

    line: int
    texts: dict[str, str]
    lines: dict[str, int]

    def line_of(self, field: str) -> int:
        return self.lines.get(field, self.line)


def parse(text: str, max_bytes: int) -> tuple[Criterion, ...]:
    """The criteria in `text`, which is the body of a content. The work is limited, whatever the text.

    Raises:
        BadInput: it is not what the module's docstring says, or larger than `max_bytes`; the path is `body[2].weight`.
    """
    entries = _read(text, max_bytes)
    criteria = tuple(_criterion(entry, f"body[{index}]") for index, entry in enumerate(entries))
    first: dict[str, int] = {}
    for index, criterion in enumerate(criteria):
        if first.setdefault(criterion.name, index) < index:
            line = entries[index].line_of("name")
            raise _refusal(f"body[{index}].name", "must not be the name of an earlier criterion", line)
    return criteria


def rows(text: str, max_bytes: int) -> CriteriaRows:
    """The criteria in `text` as rows. Only the form has to be right, and not yet the values.

    Raises:
        BadInput: it is no list of criteria, or larger than `max_bytes`.
    """
    fields = (("name", "name"), ("description", "description"), ("weight", "weight"))
    bounds = (("minimum", "scale.min"), ("maximum", "scale.max"))
    found = tuple(
        CriterionRow(**{name: entry.texts.get(field) for name, field in (*fields, *bounds)})
        for entry in _read(text, max_bytes)
    )
    return CriteriaRows(found, _has_comments(text))


def _has_comments(text: str) -> bool:
    """Whether a `#` stands outside of the values. The parser drops comments without a word."""
    end = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.ScalarEvent) and event.start_mark and event.end_mark:
            # A comment may follow the sign of a block.
            head = text.find("\n", event.start_mark.index) if event.style in ("|", ">") else event.start_mark.index
            if "#" in text[end:head]:
                return True
            end = event.end_mark.index
    return "#" in text[end:]


def _read(text: str, max_bytes: int) -> list[_Entry]:
    if len(text.encode()) > max_bytes:
        raise BadInput.at("body", f"must have at most {max_bytes} bytes")
    try:
        return _entries(_events(text))
    except yaml.YAMLError as error:
        raise BadInput.at("body", f"must be valid YAML{_where(error)}") from None


def _where(error: yaml.YAMLError) -> str:
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    return "" if mark is None else f"; it cannot be read at line {mark.line + 1}"


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _refusal(path: str, message: str, line: int) -> BadInput:
    return BadInput.at(path, _told(message, line))


def _told(message: str, line: int) -> str:
    return f"{message} (line {line})"


def _events(text: str) -> Iterator[yaml.Event]:
    """The events of the one document in `text`, without those that only mark its beginning and end."""
    documents = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _refusal("body", "must not use anchors or aliases", _line(event))
        if getattr(event, "tag", None) is not None:
            raise _refusal("body", "must not use tags", _line(event))
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise _refusal("body", "must be one YAML document", _line(event))
        if isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
            yield event


def _entries(events: Iterator[yaml.Event]) -> list[_Entry]:
    """Each criterion as its user wrote it."""
    if not isinstance(next(events, None), yaml.SequenceStartEvent):
        raise BadInput.at("body", "must be a list of criteria")
    entries: list[_Entry] = []
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            break
        path = f"body[{len(entries)}]"
        if len(entries) == MAX_CRITERIA:
            raise _refusal("body", f"must have at most {MAX_CRITERIA} entries", _line(event))
        if not isinstance(event, yaml.MappingStartEvent):
            raise _refusal(path, "must be a mapping of name, description, weight and scale", _line(event))
        entries.append(_entry(events, path, _line(event)))
    # Only further reading shows whether a second document follows.
    next(events, None)
    if not entries:
        raise BadInput.at("body", "must have at least 1 entry")
    return entries


def _entry(events: Iterator[yaml.Event], path: str, line: int) -> _Entry:
    entry = _Entry(line, {}, {})
    for name, at, value in _pairs(events, path, _FIELDS):
        entry.lines[name] = at
        if name != "scale":
            entry.texts[name] = _text(value, f"{path}.{name}")
        elif isinstance(value, yaml.MappingStartEvent):
            for bound, bound_at, text in _pairs(events, f"{path}.scale", _BOUNDS):
                entry.lines[f"scale.{bound}"] = bound_at
                entry.texts[f"scale.{bound}"] = _text(text, f"{path}.scale.{bound}")
        else:
            raise _refusal(f"{path}.scale", "must be a mapping of min and max", at)
    return entry


def _pairs(events: Iterator[yaml.Event], path: str, known: tuple[str, ...]) -> Iterator[tuple[str, int, yaml.Event]]:
    """The keys of a mapping, each known and each once, with its line and the event that begins its value."""
    seen: set[str] = set()
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            return
        key = event.value if isinstance(event, yaml.ScalarEvent) else ""
        if key not in known:
            raise _refusal(path, f"has a field that is not known; known are {', '.join(known)}", _line(event))
        if key in seen:
            raise _refusal(f"{path}.{key}", "must not stand twice", _line(event))
        seen.add(key)
        yield key, _line(event), next(events)


def _text(event: yaml.Event, path: str) -> str:
    if not isinstance(event, yaml.ScalarEvent):
        raise _refusal(path, "must be a single value", _line(event))
    return str(event.value).strip()


def _criterion(entry: _Entry, path: str) -> Criterion:
    name, description = entry.texts.get("name", ""), entry.texts.get("description", "")
    weight = _number(entry, "weight", path, default=1.0)
    minimum = _number(entry, "scale.min", path, default=1.0)
    maximum = _number(entry, "scale.max", path, default=5.0)
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
    faults = tuple(
        FieldError(f"{path}.{field}", _told(message, entry.line_of(field)))
        for field, kept, message in rules
        if not kept
    )
    if faults:
        raise BadInput(errors=faults)
    return Criterion(name, description, weight, minimum, maximum)


def _number(entry: _Entry, field: str, path: str, *, default: float) -> float:
    text = entry.texts.get(field)
    if text is None:
        return default
    if not _NUMBER.fullmatch(text):
        raise _refusal(f"{path}.{field}", "must be a number", entry.line_of(field))
    return float(text)
