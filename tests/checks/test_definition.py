"""Which checks a preset may ask for."""

from typing import Any

import msgspec
import pytest

from carrel.checks.definition import MAX_CHECKS, Check, faults, is_share, named


def faulty(**asked: Any) -> dict[str, str]:
    return {error.path: error.message for error in faults([msgspec.convert(asked, Check)])}


@pytest.mark.parametrize(
    "asked",
    [
        {"kind": "contains"},
        {"kind": "contains", "texts": ["a"], "ignore_case": True, "ignore_space": True},
        {"kind": "forbidden", "texts": ["a", "b c"]},
        {"kind": "regex", "pattern": r"\bword\b"},
        {"kind": "equals", "tolerance": 0.5},
        {"kind": "json", "required": True},
        {"kind": "json_schema", "schema": {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}},
        {"kind": "length", "least": 1, "most": 1},
        {"kind": "rouge_l"},
        {"kind": "chrf", "least": 0.5, "required": True},
        {"kind": "regex", "column": "pattern"},
        {"kind": "grade", "columns": {"gpt": "score"}},
    ],
)
def test_a_check_that_makes_sense_has_no_fault(asked: dict[str, Any]) -> None:
    assert faulty(**asked) == {}


@pytest.mark.parametrize(
    ("asked", "path", "message"),
    [
        ({"kind": "json", "pattern": "a"}, "pattern", "does not go with json"),
        ({"kind": "json", "schema": {"type": "object"}}, "schema", "does not go with json"),
        ({"kind": "contains", "texts": ["a"], "expected": "b"}, "expected", "must not be given together with texts"),
        ({"kind": "forbidden"}, "texts", "is required with forbidden"),
        (
            {"kind": "forbidden", "texts": ["a" * 10_000, "b"]},
            "texts",
            "must have at most 10,000 characters together",
        ),
        ({"kind": "forbidden", "texts": ["a", " \u00a0\n"]}, "texts[1]", "must not be blank"),
        ({"kind": "contains", "texts": ["  "]}, "texts[0]", "must not be blank"),
        ({"kind": "not_contains", "texts": ["\t"], "ignore_space": True}, "texts[0]", "must not be blank"),
        ({"kind": "not_contains", "expected": " "}, "expected", "must not be blank"),
        ({"kind": "regex"}, "pattern", "is required with regex"),
        ({"kind": "json_schema"}, "schema", "is required with json_schema"),
        ({"kind": "length"}, "least", "is required with length, or most"),
        ({"kind": "length", "least": 5, "most": 4}, "most", "must not be below least"),
        ({"kind": "chrf", "least": 40}, "least", "must be a share from 0 to 1"),
        ({"kind": "rouge_l", "required": True}, "least", "is required where the check is"),
        ({"kind": "grade"}, "columns", "is required with grade"),
        (
            {"kind": "contains", "column": "c", "texts": ["a"]},
            "column",
            "must not be given together with texts, expected or pattern",
        ),
    ],
)
def test_a_fault_names_the_field(asked: dict[str, Any], path: str, message: str) -> None:
    assert faulty(**asked) == {f"checks[0].{path}": message}


def test_checks_without_a_name_have_that_of_their_kind() -> None:
    checks = [Check(kind="json"), Check(kind="json"), Check(kind="length", most=1, name=" short "), Check(kind="json")]
    assert [check.name for check in named(checks)] == ["json", "json 2", "short", "json 3"]
    assert [check.name for check in named(named(checks))] == ["json", "json 2", "short", "json 3"]
    assert named([Check(kind="json")] * MAX_CHECKS)[-1].name == f"json {MAX_CHECKS}"


def test_two_checks_of_one_name_are_refused() -> None:
    checks = [Check(kind="json", name="a"), Check(kind="length", most=1, name="a")]
    assert [error.path for error in faults(checks)] == ["checks[1].name"]


def test_only_an_overlap_without_a_limit_is_a_share() -> None:
    assert is_share(Check(kind="chrf"))
    assert not is_share(Check(kind="chrf", least=0.5))
    assert not is_share(Check(kind="json"))
