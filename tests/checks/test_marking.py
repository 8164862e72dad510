"""What each kind of check says of an answer."""

import time
from typing import Any

import pytest

from carrel.checks import overlap
from carrel.checks.definition import Check
from carrel.checks.marking import fields, mark
from carrel.checks.work import CheckInput


def marked(answer: str, reference: str | None = None, /, **asked: Any) -> float | None:
    [[found]] = mark([Check(**asked)], [CheckInput(answer, reference)])
    return found


@pytest.mark.parametrize(
    ("asked", "answer", "expected", "wanted"),
    [
        ({"kind": "contains", "texts": ["Paris", "Seine"]}, "Paris lies on the Seine.", None, 1.0),
        ({"kind": "contains", "texts": ["Paris", "Rhine"]}, "Paris lies on the Seine.", None, 0.0),
        ({"kind": "contains", "texts": ["paris"]}, "PARIS", None, 0.0),
        ({"kind": "contains", "texts": ["paris"], "ignore_case": True}, "PARIS", None, 1.0),
        ({"kind": "contains", "texts": ["New York"], "ignore_space": True}, "in New\n  York", None, 1.0),
        ({"kind": "contains"}, "The answer is 42.", "42", 1.0),
        ({"kind": "contains", "expected": "43"}, "The answer is 42.", "42", 0.0),
        ({"kind": "contains"}, "The answer is 42.", None, None),
        ({"kind": "not_contains", "texts": ["sorry", "cannot"]}, "Here it is.", None, 1.0),
        ({"kind": "not_contains", "texts": ["sorry", "cannot"]}, "I cannot.", None, 0.0),
        ({"kind": "forbidden", "texts": ["ass", "C++"]}, "A class on rust.", None, 1.0),
        ({"kind": "forbidden", "texts": ["ass", "C++"]}, "Use c++!", None, 0.0),
        ({"kind": "forbidden", "texts": ["ass"]}, "An Ass.", None, 0.0),
        ({"kind": "forbidden", "texts": ["ass"]}, "the ass_et", None, 1.0),
        ({"kind": "forbidden", "texts": ["straße"]}, "Auf der Straße", None, 0.0),
        ({"kind": "regex", "pattern": r"^\d{4}-\d\d$"}, "2026-11", None, 1.0),
        ({"kind": "regex", "pattern": r"^\d{4}-\d\d$"}, "on 2026-11", None, 0.0),
        ({"kind": "regex", "pattern": "yes", "ignore_case": True}, "YES", None, 1.0),
        ({"kind": "equals"}, "yes", "yes", 1.0),
        ({"kind": "equals"}, "yes\n", "yes", 0.0),
        ({"kind": "equals", "ignore_space": True, "ignore_case": True}, " Yes\n", "yes", 1.0),
        ({"kind": "equals"}, "yes", None, None),
        ({"kind": "equals", "expected": "no"}, "yes", "yes", 0.0),
        ({"kind": "equals", "tolerance": 0.01}, "3.14159", "3.14", 1.0),
        ({"kind": "equals", "tolerance": 0.001}, "3.14159", "3.14", 0.0),
        ({"kind": "equals", "tolerance": 0}, "1,234,567.50", "1234567.5", 1.0),
        ({"kind": "equals", "tolerance": 0}, " -.5e2 ", "-50", 1.0),
        ({"kind": "equals", "tolerance": 1e300}, "nan", "1", 0.0),
        ({"kind": "equals", "tolerance": 1.0}, "about 3", "3", 0.0),
        ({"kind": "equals", "tolerance": 0}, "1e400", "1e400", 1.0),
        ({"kind": "equals", "tolerance": 1e300}, "1e400", "-1e400", 0.0),
        ({"kind": "equals", "tolerance": 1e300}, "1e400", "1e401", 0.0),
        ({"kind": "equals", "ignore_prefix": True}, "**Answer:** spam", "spam", 1.0),
        ({"kind": "equals", "ignore_prefix": True}, "The answer: spam", "spam", 0.0),
        ({"kind": "equals", "ignore_fence": True, "ignore_prefix": True}, "Output:\n```text\nspam\n```\n", "spam", 1.0),
        ({"kind": "json"}, "```json\n{}\n```", None, 0.0),
        ({"kind": "json", "ignore_fence": True}, "```json\n{}\n```", None, 1.0),
        ({"kind": "json_schema", "schema_": {"required": ["a"]}, "ignore_fence": True}, "```\n{}\n```", None, 0.0),
        ({"kind": "fields"}, '{"b": 2.0, "a": 1}', '{"a": 1, "b": 2}', 1.0),
        ({"kind": "fields"}, '{"a": 1, "c": 3}', '{"a": 1, "b": 2}', 1 / 3),
        ({"kind": "fields"}, '{"a": true}', '{"a": 1}', 0.0),
        ({"kind": "fields"}, "no JSON", '{"a": 1, "b": 2}', 0.0),
        ({"kind": "fields"}, "{}", "no JSON", None),
        ({"kind": "fields"}, "[" * 5_000, "[" * 400 + "]" * 400, 0.0),
        ({"kind": "fields", "tolerance": 0.5}, '{"a": "1,200.4"}', '{"a": 1200}', 1.0),
        ({"kind": "fields"}, '{"a": "1200"}', '{"a": 1200}', 0.0),
        ({"kind": "fields", "days": 1}, '{"on": "2026-11-28T10:00"}', '{"on": "2026-11-27"}', 1.0),
        ({"kind": "fields", "days": 0}, '{"on": "2026-11-28"}', '{"on": "2026-11-27"}', 0.0),
        ({"kind": "fields"}, '{"a": ["x", "y"]}', '{"a": ["y", "x"]}', 0.0),
        ({"kind": "fields", "unordered": True}, '{"a": ["x", "y", "z"]}', '{"a": ["y", "x"]}', 2 / 3),
        ({"kind": "fields", "ignore_case": True}, '{"a": "PARIS"}', '{"a": "Paris"}', 1.0),
        ({"kind": "fields", "least": 0.5}, '{"a": 1, "b": 3}', '{"a": 1, "b": 2}', 1.0),
        ({"kind": "contains"}, "The answer is 42.", " \n", None),
        ({"kind": "not_contains", "ignore_space": True}, "The answer is 42.", "\t", None),
        ({"kind": "json"}, '{"a": [1, 2]}', None, 1.0),
        ({"kind": "json"}, "{'a': 1}", None, 0.0),
        ({"kind": "json"}, "[" * 100_000, None, 0.0),
        ({"kind": "json"}, "NaN", None, 0.0),
        ({"kind": "json_schema", "schema_": {"required": ["a"]}}, '{"a": 1}', None, 1.0),
        ({"kind": "json_schema", "schema_": {"required": ["a"]}}, '{"b": 1}', None, 0.0),
        ({"kind": "json_schema", "schema_": {"required": ["a"]}}, "no JSON", None, 0.0),
        ({"kind": "length", "most": 3}, "one two three", None, 1.0),
        ({"kind": "length", "least": 2, "most": 2}, "one two three", None, 0.0),
        ({"kind": "length", "least": 4}, "one two three", None, 0.0),
        ({"kind": "rouge_l", "least": 0.8}, "The cat sat on the mat.", "The cat is on the mat.", 1.0),
        ({"kind": "rouge_l", "least": 0.9}, "The cat sat on the mat.", "The cat is on the mat.", 0.0),
        ({"kind": "chrf"}, "the cat", None, None),
    ],
)
def test_a_check_gives_its_mark(asked: dict[str, Any], answer: str, expected: str | None, wanted: float | None) -> None:
    assert marked(answer, expected, **asked) == wanted


@pytest.mark.parametrize(
    ("asked", "cell", "wanted"),
    [
        ({"kind": "contains"}, "Paris", 1.0),
        ({"kind": "contains"}, None, None),
        ({"kind": "equals"}, "in Paris", 1.0),
        ({"kind": "regex"}, r"^in\b", 1.0),
        ({"kind": "regex"}, "(", None),
        ({"kind": "json"}, "yes", 0.0),
        ({"kind": "length", "most": 1}, None, None),
    ],
)
def test_a_check_with_a_column_takes_what_the_row_has_there(
    asked: dict[str, Any], cell: str | None, wanted: float | None
) -> None:
    cells = {} if cell is None else {"one": cell}
    assert mark([Check(name="one", column="c", **asked)], [CheckInput("in Paris", "no", cells)]) == [[wanted]]


@pytest.mark.parametrize(
    ("cell", "least", "wanted"),
    [
        ("0.4", None, 0.4),
        ("1", 0.5, 1.0),
        ("0.4", 0.5, 0.0),
        ("7", None, None),
        ("bad", None, None),
        (None, None, None),
    ],
)
def test_a_grade_is_the_number_from_0_to_1_that_the_row_has(
    cell: str | None, least: float | None, wanted: float | None
) -> None:
    check = Check(kind="grade", name="one", columns={"a": "c"}, least=least)
    assert mark([check], [CheckInput("x", None, {} if cell is None else {"one": cell})]) == [[wanted]]


@pytest.mark.parametrize(
    ("answer", "expected", "rouge_l", "chrf"),
    [
        ("The cat sat on the mat.", "The cat is on the mat.", 0.833333, 0.671727),
        ("a quick brown dog jumps over", "The quick brown fox jumps over the lazy dog", 0.533333, 0.496645),
        ("42", "42", 1.0, 1.0),
        ("no", "yes", 0.0, 0.0),
        ("Die Straße ist lang und grau", "Die lange Straße ist grau", 0.727273, 0.596149),
        ("x", "a much longer expected output than the answer", 0.0, 0.03268),
        ("the the the the", "the cat the hat", 0.5, 0.218939),
        ("", "something", 0.0, 0.0),
    ],
)
def test_overlap_is_what_the_usual_libraries_compute(answer: str, expected: str, rouge_l: float, chrf: float) -> None:
    """The figures come from `rouge-score` 0.1.2, with words instead of its English tokens, and `sacrebleu` 2.6.0."""
    assert overlap.rouge_l(answer, expected) == pytest.approx(rouge_l, abs=1e-6)
    assert overlap.chrf(answer, expected) == pytest.approx(chrf, abs=1e-6)


def test_a_pattern_that_is_catastrophic_elsewhere_costs_nothing() -> None:
    """In an engine that goes back, the first takes longer than the age of the universe."""
    begun = time.process_time()
    assert marked("a" * 50_000 + "!", kind="regex", pattern=r"^(a+)+$") == 0.0
    assert marked("a" * 50_000 + "!", kind="regex", pattern=r"^(a|a)*$") == 0.0
    schema = {"type": "string", "pattern": r"^(a+)+$"}
    assert marked('"' + "a" * 50_000 + '!"', kind="json_schema", schema_=schema) == 0.0
    assert time.process_time() - begun < 2.0


def test_a_schema_that_refers_to_itself_ends() -> None:
    tree = {"type": "object", "properties": {"child": {"$ref": "#"}}, "required": ["name"]}
    assert marked('{"name": 1, "child": {"name": 2}}', kind="json_schema", schema_=tree) == 1.0
    assert marked('{"name": 1, "child": {}}', kind="json_schema", schema_=tree) == 0.0
    assert marked("{}", kind="json_schema", schema_={"$ref": "#"}) is not None


def test_marks_come_in_the_order_of_answers_and_checks() -> None:
    checks = [Check(kind="json"), Check(kind="length", most=1)]
    assert mark(checks, [CheckInput("1"), CheckInput("not JSON"), CheckInput("[1, 2]")]) == [
        [1.0, 1.0],
        [0.0, 0.0],
        [1.0, 0.0],
    ]


def test_every_field_says_whether_it_is_right_wrong_missing_or_too_much() -> None:
    check = Check(kind="fields", name="f")
    answer = CheckInput(
        '{"a": 1, "items": [{"p": 1}, {"p": 9}], "more": []}',
        '{"a": 2, "items": [{"p": 1}, {"p": 2}], "gone": {"x": 1}}',
    )
    [found] = fields([check, Check(kind="json", name="j")], [answer])
    assert found == {"f": {"a": (0, 1, 0, 0), "items[].p": (1, 1, 0, 0), "gone.x": (0, 0, 1, 0), "more": (0, 0, 0, 1)}}
