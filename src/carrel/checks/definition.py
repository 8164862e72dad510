"""What a check asks of an answer, as a preset names it, and the rules for that."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from carrel.errors import FieldError
from carrel.http.requests.schema import In

CheckKind = Literal[
    "contains",
    "not_contains",
    "forbidden",
    "regex",
    "equals",
    "fields",
    "json",
    "json_schema",
    "length",
    "rouge_l",
    "chrf",
    "grade",
]
MAX_CHECKS: Final = 20
MAX_NAME_CHARACTERS: Final = 100
_MAX_TEXTS = 100
_MAX_TEXT_CHARACTERS = 10_000
_MAX_PATTERN_CHARACTERS = 1_000
_MAX_FORBIDDEN_CHARACTERS = 10_000
"""Of all words together, which make one pattern: of any letters, so many take half of what a pattern may."""

CheckColumnName = Annotated[str, Meta(min_length=1, max_length=100)]
CheckText = Annotated[str, Meta(min_length=1, max_length=_MAX_TEXT_CHARACTERS)]


class Check(In, frozen=True, rename={"schema_": "schema"}):
    """One check of every answer. It needs no judge and costs no call.

    - `contains`: every one of `texts` stands in the answer. `not_contains`: none of them does. Without `texts`, both
      look for the expected output.
    - `forbidden`: none of `texts` stands in the answer as whole words, in any case.
    - `regex`: the answer holds a match of `pattern`, in the syntax of RE2. `^` and `$` are the ends of the answer.
    - `equals`: the answer is the expected output. With `tolerance`, two numbers may differ by so much.
    - `fields`: the share of the fields of the expected output, which is JSON, that the answer has with the same values,
      in any order of keys. A field beyond these counts like a wrong one. Numbers may differ by `tolerance`, which also
      lets a text such as "1,200" be a number, and dates (ISO 8601) by `days`; with `unordered`, lists are sets. With
      `least`, the answer passes if the share is at least this.
    - `json`: the answer is valid JSON. `json_schema`: it also follows `schema`.
    - `length`: the answer has at least `least` and at most `most` words.
    - `rouge_l`, `chrf`: the share by which the answer overlaps with the expected output (ROUGE-L by words, chrF by
      characters). With `least`, the answer passes if the share is at least this.
    - `grade`: the number from 0 to 1 that the row has in the column which `columns` names for the candidate: what
      another program gave the answer. With `least`, the answer passes if the number is at least this.

    The expected output of a document is its reference, unless the check has an `expected` of its own, or names in
    `column` a column of the data set (role `metadata`). For `regex` the pattern is there; `json`, `json_schema` and
    `length` are made of the rows that have anything there. A document without any has no mark. `ignore_case` and
    `ignore_space` go with `contains`, `not_contains`, `equals` and `fields`; `ignore_case` also with `regex`.
    `ignore_prefix` (a first `Answer:`, `Label:` or the like) and `ignore_fence` (Markdown's fence around the whole) go
    with `equals`, `fields`, `json` and `json_schema`. Results say how many answers pass only because of that. An answer
    that fails a `required` check loses by rule against one that passes all of them, and gets the least score on every
    criterion. `name` names the check in results; without one it has the name of its kind.
    """

    kind: CheckKind
    name: Annotated[str, Meta(max_length=MAX_NAME_CHARACTERS)] = ""
    required: bool = False
    texts: Annotated[list[CheckText], Meta(max_length=_MAX_TEXTS)] = msgspec.field(default_factory=list)
    pattern: Annotated[str, Meta(min_length=1, max_length=_MAX_PATTERN_CHARACTERS)] | None = None
    expected: CheckText | None = None
    schema_: dict[str, Any] | None = None
    least: Annotated[float, Meta(ge=0, le=1_000_000)] | None = None
    most: Annotated[float, Meta(ge=0, le=1_000_000)] | None = None
    tolerance: Annotated[float, Meta(ge=0, le=1e300)] | None = None
    ignore_case: bool = False
    ignore_space: bool = False
    ignore_prefix: bool = False
    ignore_fence: bool = False
    unordered: bool = False
    days: Annotated[int, Meta(ge=0, le=100_000)] | None = None
    column: CheckColumnName | None = None
    columns: Annotated[dict[CheckColumnName, CheckColumnName], Meta(max_length=_MAX_TEXTS)] = msgspec.field(
        default_factory=dict
    )


Checks = Annotated[list[Check], Meta(max_length=MAX_CHECKS)]

_AROUND: Final = ("ignore_prefix", "ignore_fence")
_FIELDS: Final[dict[CheckKind, frozenset[str]]] = {
    "contains": frozenset({"texts", "expected", "column", "ignore_case", "ignore_space"}),
    "not_contains": frozenset({"texts", "expected", "column", "ignore_case", "ignore_space"}),
    "forbidden": frozenset({"texts"}),
    "regex": frozenset({"pattern", "column", "ignore_case"}),
    "equals": frozenset({"expected", "column", "tolerance", "ignore_case", "ignore_space", *_AROUND}),
    "fields": frozenset(
        {"expected", "column", "tolerance", "days", "unordered", "least", "ignore_case", "ignore_space", *_AROUND}
    ),
    "json": frozenset({"column", *_AROUND}),
    "json_schema": frozenset({"schema_", "column", *_AROUND}),
    "length": frozenset({"least", "most", "column"}),
    "rouge_l": frozenset({"expected", "column", "least"}),
    "chrf": frozenset({"expected", "column", "least"}),
    "grade": frozenset({"columns", "least"}),
}
_NEEDED: Final[dict[CheckKind, tuple[str, ...]]] = {
    "forbidden": ("texts",),
    "regex": ("pattern", "column"),
    "json_schema": ("schema_",),
    "grade": ("columns",),
}
"""At least one of these."""
_COMMON: Final = frozenset({"kind", "name", "required"})
_SHARES: Final[frozenset[CheckKind]] = frozenset({"fields", "rouge_l", "chrf", "grade"})


def named(checks: Sequence[Check]) -> list[Check]:
    """The checks with their names: their own, or else that of the kind, with a number where it comes again."""
    found: list[Check] = []
    for check in checks:
        name = check.name.strip() or check.kind
        taken = {one.name for one in found}
        if not check.name.strip() and name in taken:
            name = next(
                f"{check.kind} {number}" for number in range(2, MAX_CHECKS + 2) if f"{name} {number}" not in taken
            )
        found.append(msgspec.structs.replace(check, name=name))
    return found


def of_schema(schema: dict[str, Any], number: int, checks: Sequence[Check]) -> Check:
    """The check of answers that were to follow a schema. No other of `checks` has its name."""
    names = [f"answer schema{'' if number == 1 else f' {number}'}"]
    while names[-1] in {check.name for check in checks}:
        names.append(f"{names[-1]}*")
    return Check(kind="json_schema", name=names[-1], required=True, schema_=schema)


def is_share(check: Check) -> bool:
    """Whether the check gives a share from 0 to 1, and not only 0 or 1."""
    return check.kind in _SHARES and check.least is None


def is_of_classes(check: Check) -> bool:
    """Whether the check may tell classes: it compares answers with what is expected of each document."""
    return check.kind == "equals" and check.expected is None and check.tolerance is None


def columns_of(check: Check) -> list[str]:
    """The columns of the data set that the check names."""
    return list(dict.fromkeys([*([check.column] if check.column is not None else []), *check.columns.values()]))


def faults(checks: Sequence[Check]) -> Iterator[FieldError]:
    """Every rule that the checks break, but for what is wrong inside of patterns and schemas: `compiler` tells that."""
    names = [check.name for check in named(checks)]
    for index, check in enumerate(checks):
        path = f"checks[{index}]"
        if names[index] in names[:index]:
            yield FieldError(f"{path}.name", "must differ from the names of the other checks")
        for field in _given(check):
            if field not in _FIELDS[check.kind]:
                yield FieldError(f"{path}.{field.rstrip('_')}", f"does not go with {check.kind}")
        yield from _kind_faults(check, path)


def _given(check: Check) -> list[str]:
    """The fields with another value than the default."""
    bare = Check(kind=check.kind)
    fields = [field for field in check.__struct_fields__ if field not in _COMMON]
    return [field for field in fields if getattr(check, field) != getattr(bare, field)]


def _kind_faults(check: Check, path: str) -> Iterator[FieldError]:
    needed = _NEEDED.get(check.kind)
    if needed is not None and not any(getattr(check, field) for field in needed):
        yield FieldError(f"{path}.{needed[0].rstrip('_')}", f"is required with {check.kind}")
        return
    if check.column is not None and (check.texts or check.expected is not None or check.pattern is not None):
        yield FieldError(f"{path}.column", "must not be given together with texts, expected or pattern")
    match check.kind:
        case "contains" | "not_contains" | "forbidden":
            yield from _text_faults(check, path)
        case "length" | "fields" | "rouge_l" | "chrf" | "grade":
            yield from _bound_faults(check, path)
        case _:
            pass


def _text_faults(check: Check, path: str) -> Iterator[FieldError]:
    if check.texts and check.expected is not None:
        yield FieldError(f"{path}.expected", "must not be given together with texts")
    # With a blank text, every answer passes or none does.
    if check.expected is not None and not check.expected.strip():
        yield FieldError(f"{path}.expected", "must not be blank")
    for index, text in enumerate(check.texts):
        if not text.strip():
            yield FieldError(f"{path}.texts[{index}]", "must not be blank")
    if check.kind == "forbidden" and sum(map(len, check.texts)) > _MAX_FORBIDDEN_CHARACTERS:
        yield FieldError(f"{path}.texts", f"must have at most {_MAX_FORBIDDEN_CHARACTERS:,} characters together")


def _bound_faults(check: Check, path: str) -> Iterator[FieldError]:
    if check.kind in _SHARES:
        if check.least is not None and check.least > 1:
            yield FieldError(f"{path}.least", "must be a share from 0 to 1")
        if check.least is None and check.required:
            yield FieldError(f"{path}.least", "is required where the check is")
    elif check.least is None and check.most is None:
        yield FieldError(f"{path}.least", "is required with length, or most")
    elif check.least is not None and check.most is not None and check.most < check.least:
        yield FieldError(f"{path}.most", "must not be below least")
