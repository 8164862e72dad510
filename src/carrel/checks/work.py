"""What the workers of checks do: try what a user wrote, and mark answers.

Service and worker import this module; the libraries that compile are imported by the worker alone: a schema of a
kilobyte may take them seconds and gigabytes.
"""

import time
from typing import Annotated, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta

from carrel.checks.definition import Check
from carrel.checks.fields import FieldFates

Kind = Literal["pattern", "pattern_in_any_case", "schema"]
Fault = Literal["pattern", "json", "size", "depth", "reference", "count", "schema_pattern", "schema"]

MAX_SCHEMA_BYTES: Final = 64 * 1024
MAX_SCHEMA_DEPTH: Final = 50
MAX_SCHEMA_PATTERNS: Final = 50

MESSAGES: Final[dict[Fault, str]] = {
    "pattern": "is not a pattern in the syntax of RE2, or it is too large",
    "json": "is not JSON",
    "size": f"is larger than {MAX_SCHEMA_BYTES:,} bytes",
    "depth": f"is nested deeper than {MAX_SCHEMA_DEPTH} levels",
    "reference": "has a reference to another document; only those into the schema itself are followed",
    "count": f"has more than {MAX_SCHEMA_PATTERNS} patterns",
    "schema_pattern": "is not a pattern, has a look-around or a back-reference, or is too large",
    "schema": "is not a valid JSON schema",
}


class CheckInput(msgspec.Struct, frozen=True):
    """An answer with what is expected of it; `expected` is `None` if nobody said that.

    `cells` are what the data set has for the checks that name columns, by the names of the checks.
    """

    text: str
    expected: str | None = None
    cells: dict[str, str] = {}


class TextFault(NamedTuple):
    """What is wrong with a text, and where in it: a path such as `properties.city.pattern`, or nothing."""

    at: Annotated[str, Meta(max_length=2_000, pattern=r"^[A-Za-z0-9_.?$\[\]-]*\Z")]
    fault: Fault


class CompileResult(NamedTuple):
    """What came of compiling a text, and the processor time that it took."""

    cpu_seconds: Annotated[float, Meta(ge=0)]
    found: TextFault | None


def mark(checks: list[Check], answers: list[CheckInput]) -> list[list[float | None]]:
    """The marks of each answer, in the order of the checks; `None` where a check needs an expected output and has none.

    Raises:
        ValueError: a pattern or a schema cannot be compiled.
    """
    from carrel.checks import marking

    return marking.mark(checks, answers)


def fields(checks: list[Check], answers: list[CheckInput]) -> list[dict[str, FieldFates]]:
    """What became of the fields of each answer, by the names of the checks that compare fields."""
    from carrel.checks import marking

    return marking.fields(checks, answers)


def compiles(kind: Kind, text: str) -> CompileResult:
    """Compile the text, which is a pattern or a schema as JSON, and say what is wrong with it."""
    from carrel.checks import json_schema, patterns

    begun = time.process_time()
    if kind == "schema":
        found = json_schema.fault(text)
    else:
        pattern = patterns.compiled_if_valid(text, ignore_case=kind == "pattern_in_any_case")
        found = TextFault("", "pattern") if pattern is None else None
    return CompileResult(time.process_time() - begun, found)
