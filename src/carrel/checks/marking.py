"""Makes the checks of answers: a mark from 0 to 1 for each. Pure, and for workers only: see `work`."""

from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from carrel.checks import json_schema, overlap, patterns
from carrel.checks.definition import Check
from carrel.checks.fields import ABSENT, MAX_PATHS, FieldFates, compare, expected_value, number, share
from carrel.checks.normalising import folded, unwrapped
from carrel.checks.work import CheckInput

_NOT_JSON: Final = object()


class _ReadAnswer(NamedTuple):
    """An answer as the checks of one list read it, parsed at most once."""

    answer: CheckInput
    parsed: "_ParsedText"


class _ParsedText:
    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def value(self) -> object:
        try:
            return msgspec.json.decode(self._text)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return _NOT_JSON


_Made = Callable[[_ReadAnswer], float | None]


def mark(checks: list[Check], answers: list[CheckInput]) -> list[list[float | None]]:
    """The marks of each answer, in the order of the checks; `None` where a check needs an expected output and has none.

    Raises:
        ValueError: a pattern or a schema is not valid; nobody who keeps the rules of `definition` can see that.
    """
    made = [_made(check) for check in checks]
    marks: list[list[float | None]] = []
    for answer in answers:
        read = _ReadAnswer(answer, _ParsedText(answer.text))
        marks.append([one(read) for one in made])
    return marks


def _made(check: Check) -> _Made:
    """The check as a function of an answer."""
    match check.kind:
        case "contains" | "not_contains":
            return _containing(check, wanted=check.kind == "contains")
        case "forbidden":
            return _forbidding(check.texts)
        case "regex":
            return _matching(check)
        case "equals":
            return lambda read: _with_expected(check, read, _equal)
        case "fields":
            return _agreeing(check)
        case "json":
            return _where_asked(check, lambda read: _value(check, read) is not _NOT_JSON)
        case "json_schema":
            follows = json_schema.compiled(check.schema_ or {})
            return _where_asked(check, lambda read: (value := _value(check, read)) is not _NOT_JSON and follows(value))
        case "length":
            return _where_asked(check, lambda read: _lies_within(check, len(read.answer.text.split())))
        case "rouge_l":
            return lambda read: _with_expected(check, read, _overlapping(overlap.rouge_l))
        case "chrf":
            return lambda read: _with_expected(check, read, _overlapping(overlap.chrf))
        case "grade":
            return lambda read: _grade(check, read.answer.cells.get(check.name))


def fields(checks: list[Check], answers: list[CheckInput]) -> list[dict[str, FieldFates]]:
    """What became of the fields of each answer, by the names of the checks that compare fields."""
    found: list[dict[str, FieldFates]] = []
    for answer in answers:
        read = _ReadAnswer(answer, _ParsedText(answer.text))
        fates = {check.name: _fates(check, read) for check in checks if check.kind == "fields"}
        found.append({name: dict(islice(one.items(), MAX_PATHS)) for name, one in fates.items() if one is not None})
    return found


def _value(check: Check, read: _ReadAnswer) -> object:
    """The JSON that the answer is, or that stands in what the check ignores."""
    text = unwrapped(check, read.answer.text)
    return read.parsed.value if text == read.answer.text else _ParsedText(text).value


def _fates(check: Check, read: _ReadAnswer) -> FieldFates | None:
    expected = _expected(check, read)
    if expected is None:
        return None
    try:
        wanted = expected_value(expected)
    except ValueError:
        return None
    value = _value(check, read)
    return compare(check, ABSENT if value is _NOT_JSON else value, wanted)


def _agreeing(check: Check) -> _Made:
    def made(read: _ReadAnswer) -> float | None:
        fates = _fates(check, read)
        if fates is None:
            return None
        found = share(fates)
        return found if check.least is None else float(found >= check.least)

    return made


def _where_asked(check: Check, passes: Callable[[_ReadAnswer], bool]) -> _Made:
    """The check of all answers; with a column, of those whose row has something there."""

    def made(read: _ReadAnswer) -> float | None:
        asked = check.column is None or check.name in read.answer.cells
        return float(passes(read)) if asked else None

    return made


def _expected(check: Check, read: _ReadAnswer) -> str | None:
    if check.column is not None:
        return read.answer.cells.get(check.name)
    return read.answer.expected if check.expected is None else check.expected


def _with_expected(check: Check, read: _ReadAnswer, compare: Callable[[Check, str, str], float]) -> float | None:
    expected = _expected(check, read)
    return None if expected is None else compare(check, read.answer.text, expected)


def _matching(check: Check) -> _Made:
    if check.column is None:
        pattern = patterns.compiled(check.pattern or "", ignore_case=check.ignore_case)
        return lambda read: float(pattern.search(read.answer.text) is not None)
    compiled: dict[str, patterns.Pattern | None] = {}

    def made(read: _ReadAnswer) -> float | None:
        text = read.answer.cells.get(check.name)
        if text is None:
            return None
        if text not in compiled:
            compiled.clear()
            compiled[text] = patterns.compiled_if_valid(text, ignore_case=check.ignore_case)
        pattern = compiled[text]
        return None if pattern is None else float(pattern.search(read.answer.text) is not None)

    return made


def _grade(check: Check, cell: str | None) -> float | None:
    mark = None if cell is None else number(cell)
    if mark is None or not 0 <= mark <= 1:
        return None
    return mark if check.least is None else float(mark >= check.least)


def _containing(check: Check, *, wanted: bool) -> _Made:
    own = [folded(check, text) for text in check.texts]

    def made(read: _ReadAnswer) -> float | None:
        texts = own
        if not texts:
            expected = _expected(check, read)
            if expected is None or not expected.strip():  # every answer would contain it
                return None
            texts = [folded(check, expected)]
        answer = folded(check, read.answer.text)
        return float(all((text in answer) == wanted for text in texts))

    return made


def _forbidding(texts: Iterable[str]) -> _Made:
    found = patterns.compiled(patterns.of_words(texts), ignore_case=True)
    return lambda read: float(found.search(read.answer.text) is None)


def _equal(check: Check, answer: str, expected: str) -> float:
    if check.tolerance is not None:
        ours, theirs = number(answer), number(expected)
        if ours is not None and theirs is not None:
            return float(abs(ours - theirs) <= check.tolerance)
    return float(folded(check, answer) == folded(check, expected))


def _lies_within(check: Check, words: int) -> bool:
    return (check.least is None or words >= check.least) and (check.most is None or words <= check.most)


def _overlapping(measure: Callable[[str, str], float]) -> Callable[[Check, str, str], float]:
    def made(check: Check, answer: str, expected: str) -> float:
        share = measure(answer, expected)
        return share if check.least is None else float(share >= check.least)

    return made
