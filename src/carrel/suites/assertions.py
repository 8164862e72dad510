"""Assertions of promptfoo as checks of Carrel, and those that a model grades as criteria of judges. Pure.

Each test has its own, so values of checks come from columns.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import structs

from carrel.checks.definition import MAX_CHECKS, Check, CheckKind
from carrel.errors import BadInput
from carrel.kit import yaml_values
from carrel.kit.yaml_values import YamlUnreadable
from carrel.suites import templates
from carrel.suites.suite import Drops

_TEXT_CHARACTERS: Final = 10_000
_PATTERN_CHARACTERS: Final = 1_000
_MOST_TEXTS: Final = 100
_MOST_ASSERTIONS: Final = 50_000
_MOST_CHARACTERS: Final = 1 << 22
_MOST_SCHEMA_VALUES: Final = 2_000
_DEPTH: Final = 5
_SPECIAL: Final = re.compile(r"[\\.+*?()|\[\]{}^$]")
_CONTAINS: Final[dict[str, tuple[CheckKind, bool]]] = {
    "contains": ("contains", False),
    "icontains": ("contains", True),
    "contains-all": ("contains", False),
    "icontains-all": ("contains", True),
    "not-contains": ("not_contains", False),
    "not-icontains": ("not_contains", True),
    "not-contains-any": ("not_contains", False),
    "not-icontains-any": ("not_contains", True),
}
_MATCHES: Final = {"contains-any": False, "icontains-any": True, "starts-with": False, "regex": False}
_WORD: Final = re.compile(
    r"(?P<type>(?:not-)?[a-z][a-z0-9-]*)(?:\((?P<threshold>[\d.]+)\))?(?::(?P<value>.*))?", re.DOTALL
)
_LISTS: Final = ("-any", "-all")
_OTHERS: Final = ("equals", "is-json", "similar", "llm-rubric", "factuality", "latency", "cost", "javascript", "python")


_RUBRICS: Final = {
    **dict.fromkeys(("llm-rubric", "g-eval", "model-graded-closedqa"), "{}"),
    **dict.fromkeys(("factuality", "model-graded-factuality"), "Agrees with this, and contradicts nothing of it: {}"),
}
"""What judges are asked in place of an assertion that a model grades."""
_WHERE: Final[frozenset[CheckKind]] = frozenset({"json", "json_schema", "length"})
"""Kinds of which a column says only of which tests they are."""
_Key = tuple[str, int]
"""The type of an assertion, and the how manieth of this type it is in its test."""


class _Asked(NamedTuple):
    """One assertion of one test. `name` is its type, `value` a text, or several of which all count."""

    name: str
    kind: CheckKind
    ignore_case: bool = False
    value: str | tuple[str, ...] = ""
    written: bool = False
    """Whether the value is a pattern that the author wrote."""


class _Rubric(NamedTuple):
    """What a judge is asked about the answer to one test."""

    text: str


class CheckedRows(NamedTuple):
    """The checks, and the cells of the columns that they name, for each test; the rubrics of each test."""

    rubrics: list[list[str]]
    checks: list[Check]
    cells: list[dict[str, str]]
    patterns: list[str]
    """The columns with patterns that the author wrote."""


def of_word(text: str) -> dict[str, Any]:
    """The assertion that a cell of a CSV file means: `contains: Paris`, or a text that is to be equal."""
    found = _WORD.fullmatch(text)
    kind = found["type"] if found else ""
    known = kind.removeprefix("not-") in {*_CONTAINS, *_MATCHES, *_OTHERS}
    if found is None or not known:
        prefix = text.partition(":")[0]
        # Code, and judges, under the names that they had once.
        if prefix in ("fn", "eval", "file"):
            return {"type": "javascript"}
        rubric = {"type": "llm-rubric", "value": text.partition(":")[2].strip()}
        return rubric if prefix == "grade" else {"type": "equals", "value": text}
    value: Any = (found["value"] or "").strip()
    if kind.endswith(_LISTS):
        value = [one.strip() for one in value.split(",")]
    return {"type": kind, "value": value or None}


def checks_of(
    tests: Sequence[tuple[Sequence[Any], Mapping[str, str | None]]], config: Any, dropped: Drops
) -> CheckedRows:
    """The checks of the tests, each with its assertions and its variables.

    Raises:
        BadInput: there are too many assertions, or they are too long together.
    """
    asked, rubrics = _asked(tests, config, dropped)
    often = Counter(key for own in asked for key in own)
    found = CheckedRows(rubrics, [], [{} for _ in tests], [])
    for key, _ in often.most_common():
        values = [own.get(key) for own in asked]
        for check, cells in _checks(key, values):
            if len(found.checks) == MAX_CHECKS:
                dropped.add(f"assertion {key[0]}, beyond {MAX_CHECKS} checks", often[key])
                continue
            found.checks.append(check)
            if check.column is not None:
                for row, cell in zip(found.cells, cells, strict=True):
                    if cell is not None:
                        row[check.column] = cell
                if any(one is not None and one.written for one in values):
                    found.patterns.append(check.column)
    return found


def _asked(
    tests: Sequence[tuple[Sequence[Any], Mapping[str, str | None]]], config: Any, dropped: Drops
) -> tuple[list[dict[_Key, _Asked]], list[list[str]]]:
    """What each test asks, by the type of assertion and its number in the test, and its rubrics."""
    asked: list[dict[_Key, _Asked]] = []
    rubrics: list[list[str]] = []
    schemas: dict[str, int] = {}
    if sum(len(assertions) for assertions, _ in tests) > _MOST_ASSERTIONS:
        raise BadInput.at("config.tests", f"must have at most {_MOST_ASSERTIONS:,} assertions together")
    characters = 0
    for assertions, variables in tests:
        numbers: Counter[str] = Counter()
        own: dict[_Key, _Asked] = {}
        rubrics.append([])
        for one in _each(assertions, variables, config, dropped):
            characters += len(one.text) if isinstance(one, _Rubric) else sum(map(len, one.value))
            if characters > _MOST_CHARACTERS:
                raise BadInput.at("config.tests", f"must have at most {_MOST_CHARACTERS:,} characters in assertions")
            if isinstance(one, _Rubric):
                rubrics[-1].append(one.text)
                continue
            numbers[one.name] += 1
            number = numbers[one.name]
            if one.kind in _WHERE:
                # Its value is not in a column, so each value is a check of its own.
                number = schemas.setdefault(f"{one.name} {one.value}", 1 + len(schemas))
            own[one.name, number] = one
        asked.append(own)
    return asked, rubrics


def _checks(key: _Key, values: Sequence[_Asked | None]) -> Iterator[tuple[Check, list[str | None]]]:
    """A check for all tests if they ask the same, and else one whose value is in a column."""
    given = [one for one in values if one is not None]
    first, name = given[0], key[0] if key[1] == 1 else f"{key[0]} {key[1]}"
    everywhere = len(given) == len(values)
    if everywhere and len(set(given)) == 1:
        yield _constant(first, name), [None for _ in values]
    elif first.kind in _WHERE:
        found = structs.replace(_constant(first, name), column=f"check: {name}")
        yield found, [None if one is None else "yes" for one in values]
    else:
        width = max(len(one.value) if isinstance(one.value, tuple) else 1 for one in given)
        for place in range(width):
            numbered = name if width == 1 else f"{name}, text {place + 1}"
            check = Check(kind=first.kind, name=numbered, ignore_case=first.ignore_case, column=f"check: {numbered}")
            yield check, [None if one is None else _text(one, place) for one in values]


def _text(one: _Asked, place: int) -> str | None:
    if isinstance(one.value, str):
        return one.value if place == 0 else None
    return one.value[place] if place < len(one.value) else None


def _constant(one: _Asked, name: str) -> Check:
    match one.kind:
        case "contains" | "not_contains":
            texts = [one.value] if isinstance(one.value, str) else list(one.value)
            return Check(kind=one.kind, name=name, texts=texts, ignore_case=one.ignore_case)
        case "regex":
            return Check(kind="regex", name=name, pattern=str(one.value), ignore_case=one.ignore_case)
        case "equals":
            return Check(kind="equals", name=name, expected=str(one.value))
        case "json_schema":
            return Check(kind="json_schema", name=name, schema_=json.loads(str(one.value)))
        case "length":
            least, most = json.loads(str(one.value))
            return Check(kind="length", name=name, least=least, most=most)
        case _:
            return Check(kind=one.kind, name=name)


def _each(
    assertions: Sequence[Any], variables: Mapping[str, str | None], config: Any, dropped: Drops, depth: int = 0
) -> Iterator[_Asked | _Rubric]:
    """The assertions of a test that Carrel knows; all others are counted."""
    for given in assertions:
        assertion = _referred(given, config)
        kind = assertion.get("type") if isinstance(assertion, dict) else None
        if not isinstance(kind, str):
            dropped.add("assertion without a type")
        elif kind == "assert-set" and "threshold" not in assertion and depth < _DEPTH:
            inner = assertion.get("assert")
            yield from _each(inner if isinstance(inner, list) else [], variables, config, dropped, depth + 1)
        else:
            value = None if "transform" in assertion else assertion.get("value")
            if kind in _RUBRICS and (texts := _texts(value if isinstance(value, list) else [value], variables)):
                yield from (_Rubric(_RUBRICS[kind].format(text)) for text in texts)
                continue
            found = None if "transform" in assertion else _known(kind, value, variables)
            if found is None:
                dropped.add(f"assertion {kind}")
            else:
                yield found


def _referred(assertion: Any, config: Any) -> Any:
    """The template that a reference names."""
    path = assertion.get("$ref") if isinstance(assertion, dict) else None
    if not isinstance(path, str) or not path.startswith("#/assertionTemplates/"):
        return assertion
    templates_ = config.get("assertionTemplates")
    return templates_.get(path.rpartition("/")[2]) if isinstance(templates_, dict) else None


def _known(kind: str, value: Any, variables: Mapping[str, str | None]) -> _Asked | None:
    """The assertion as Carrel makes it; `None` if it makes no such check."""
    if kind == "is-json":
        return _json(value)
    if kind == "word-count":
        return _words(value)
    texts = _texts(value if isinstance(value, list) else [value], variables)
    if not texts:
        return None
    if kind in _CONTAINS:
        found, ignore_case = _CONTAINS[kind]
        return _Asked(kind, found, ignore_case, texts[0] if len(texts) == 1 else tuple(texts))
    if kind == "equals" and len(texts) == 1 and not isinstance(value, dict):
        return _Asked(kind, "equals", value=texts[0])
    if kind not in _MATCHES:
        return None
    pattern = texts[0] if kind == "regex" else "|".join(_SPECIAL.sub(r"\\\g<0>", text) for text in texts)
    pattern = f"^(?:{pattern})" if kind == "starts-with" else pattern
    if len(pattern) > _PATTERN_CHARACTERS:
        return None
    return _Asked(kind, "regex", _MATCHES[kind], pattern, written=kind == "regex")


def _texts(values: Sequence[Any], variables: Mapping[str, str | None]) -> list[str]:
    """The values with the test's variables; none of them if one is no such text."""
    found: list[str] = []
    for value in values:
        text = templates.text_of(value)
        text = None if text is None or text.startswith("file://") else templates.filled(text, variables)
        if text is None or not text.strip() or len(text) > _TEXT_CHARACTERS:
            return []
        found.append(text)
    return found if len(found) <= _MOST_TEXTS else []


def _json(value: Any) -> _Asked | None:
    if isinstance(value, str):
        try:
            value = yaml_values.read(value, _MOST_SCHEMA_VALUES)
        except YamlUnreadable:
            return None
    if value is None:
        return _Asked("is-json", "json")
    return _Asked("is-json", "json_schema", value=json.dumps(value)) if isinstance(value, dict) else None


def _words(value: Any) -> _Asked | None:
    bounds = [value.get("min"), value.get("max")] if isinstance(value, dict) else [value, value]
    numbers = all(one is None or (isinstance(one, int) and 0 <= one <= 1_000_000) for one in bounds)
    if not numbers or bounds == [None, None]:
        return None
    return _Asked("word-count", "length", value=json.dumps(bounds))
