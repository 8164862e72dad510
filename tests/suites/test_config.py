"""What a promptfoo configuration comes to: known assertions become checks, the rest is counted, and nothing runs."""

from typing import Any

import pytest
import yaml

from carrel.checks.definition import Check
from carrel.errors import BadInput
from carrel.suites import config
from carrel.suites.suite import Suite

CALLABLE = frozenset({"openai", "anthropic", "ollama", "openrouter"})


def suite(*tests: dict[str, Any], files: dict[str, str] | None = None, **more: Any) -> Suite:
    written = {"prompts": ["Say {{ q }}"], "providers": ["openai:gpt-5"], **({"tests": list(tests)} if tests else {})}
    return config.read(yaml.safe_dump(written | more), files or {}, {}, CALLABLE)


def dropped(found: Suite) -> dict[str, int]:
    return {one.kind: one.count for one in found.dropped.listed()}


def asking(*asserts: dict[str, Any]) -> Suite:
    return suite({"vars": {"q": "a"}, "assert": list(asserts)})


@pytest.mark.parametrize(
    ("assertion", "check"),
    [
        ({"type": "equals", "value": 42}, Check(kind="equals", name="equals", expected="42")),
        (
            {"type": "icontains", "value": "it is {{q}}"},
            Check(kind="contains", name="icontains", texts=["it is a"], ignore_case=True),
        ),
        ({"type": "contains-all", "value": ["a", "b"]}, Check(kind="contains", name="contains-all", texts=["a", "b"])),
        (
            {"type": "not-icontains-any", "value": ["x"]},
            Check(kind="not_contains", name="not-icontains-any", texts=["x"], ignore_case=True),
        ),
        ({"type": "contains-any", "value": ["a.", "b"]}, Check(kind="regex", name="contains-any", pattern=r"a\.|b")),
        ({"type": "starts-with", "value": "A("}, Check(kind="regex", name="starts-with", pattern=r"^(?:A\()")),
        ({"type": "regex", "value": r"\d+"}, Check(kind="regex", name="regex", pattern=r"\d+")),
        ({"type": "is-json"}, Check(kind="json", name="is-json")),
        (
            {"type": "is-json", "value": "required: [a]"},
            Check(kind="json_schema", name="is-json", schema_={"required": ["a"]}),
        ),
        ({"type": "word-count", "value": {"max": 9}}, Check(kind="length", name="word-count", most=9)),
        (
            {"type": "assert-set", "assert": [{"type": "contains", "value": "a"}]},
            Check(kind="contains", name="contains", texts=["a"]),
        ),
    ],
)
def test_an_assertion_that_carrel_knows_becomes_a_check(assertion: dict[str, Any], check: Check) -> None:
    assert asking(assertion).checks == [check]
    assert dropped(asking(assertion)) == {}


@pytest.mark.parametrize(
    "assertion",
    [
        {"type": "javascript", "value": "output.length < 5"},
        {"type": "python", "value": "file://check.py"},
        {"type": "llm-rubric", "value": "file://rubric.txt"},
        {"type": "not-llm-rubric", "value": "is kind"},
        {"type": "not-equals", "value": "a"},
        {"type": "equals", "value": "{{ env.SECRET }}"},
        {"type": "contains", "value": "{% if q %}a{% endif %}"},
        {"type": "contains", "value": "a", "transform": "output.trim()"},
        {"type": "contains-all", "value": ["file://words.txt"]},
    ],
)
def test_every_other_assertion_is_counted_by_its_kind(assertion: dict[str, Any]) -> None:
    found = asking(assertion)
    assert (found.checks, dropped(found)) == ([], {f"assertion {assertion['type']}": 1})


def test_what_a_model_grades_becomes_criteria_and_what_single_tests_ask_the_reference() -> None:
    found = suite(
        {"vars": {"q": "a"}, "assert": [{"type": "g-eval", "value": ["is kind", "names {{q}}"]}]},
        {"vars": {"q": "b"}, "assert": [{"type": "factuality", "value": "b is 2"}]},
        {"vars": {"q": "c"}},
        defaultTest={
            "options": {"provider": {"id": "openai:chat:gpt-5-mini"}},
            "assert": [{"type": "llm-rubric", "value": "is short"}, {"type": "contains", "value": "a"}],
        },
    )
    assert dropped(found) == {}
    assert [check.name for check in found.checks] == ["contains"]
    assert [(one.name, one.description[:8]) for one in found.criteria] == [
        ("rubric 1", "is short"),
        ("rubric of the test", "How full"),
    ]
    assert [row["rubric of the test"] for row in found.rows] == [
        "is kind\n\nnames a",
        "Agrees with this, and contradicts nothing of it: b is 2",
        None,
    ]
    assert (found.roles["rubric of the test"], found.grader) == ("expected", "openai:gpt-5-mini")
    assert suite({"vars": {"q": "a"}}).criteria == []


def test_assertions_that_differ_between_tests_have_their_values_in_columns() -> None:
    found = suite(
        {"vars": {"q": "a"}, "assert": [{"type": "contains", "value": "A"}, {"type": "contains", "value": "!"}]},
        {
            "vars": {"q": ["b", "c"]},
            "assert": [{"type": "contains", "value": "{{q}}"}, {"$ref": "#/assertionTemplates/j"}],
        },
        defaultTest={"assert": [{"type": "not-contains", "value": "sorry"}]},
        assertionTemplates={"j": {"type": "is-json"}},
    )
    assert [(check.kind, check.column, check.texts) for check in found.checks] == [
        ("not_contains", None, ["sorry"]),
        ("contains", "check: contains", []),
        ("json", "check: is-json", []),
        ("contains", "check: contains 2", []),
    ]
    assert [list(row.values()) for row in found.rows] == [
        ["a", "A", None, "!"],
        ["b", "b", "yes", None],
        ["c", "c", "yes", None],
    ]
    assert found.roles == {"q": "variable"} | dict.fromkeys(list(found.rows[0])[1:], "metadata")


def test_prompts_and_tests_come_from_files_that_are_data_and_never_from_code() -> None:
    found = suite(
        prompts=[
            "file://two.txt",
            "chat.json",
            "file://make.py:prompt",
            "file://gone.txt",
            "{{ env.KEY }}",
            {"raw": "Hi", "label": "hi"},
        ],
        tests=["file://tests.csv", "file://tests.js", "https://example.org/tests", "file://*.jsonl"],
        providers=[
            "file://mine.py",
            {"id": "openai:chat:gpt-5", "label": "five", "config": {"temperature": 0.5, "tools": []}},
            "bedrock:x",
        ],
        files={
            "two.txt": "One {{q}}\n---\nTwo {{q}}",
            "chat.json": '[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "{{q}}"}]',
            "tests.csv": 'q,__expected,__description\na,"icontains-any: x, y",first\nb,plain,\n',
            "more.jsonl": '{"vars": {"q": "c"}}\n',
        },
    )
    assert [(prompt.label, prompt.text) for prompt in found.prompts] == [
        ("prompt 1", "One {{q}}"),
        ("prompt 2", "Two {{q}}"),
        ("prompt 3", "system: Be brief.\n\nuser: {{q}}"),
        ("hi", "Hi"),
    ]
    assert [(one.label, one.model, one.parameters.temperature) for one in found.providers] == [
        ("file://mine.py", None, None),
        ("five", "openai:gpt-5", 0.5),
        ("bedrock:x", None, None),
    ]
    assert [(check.kind, check.ignore_case) for check in found.checks] == [("regex", True), ("equals", False)]
    assert [row["q"] for row in found.rows] == ["a", "b", "c"]
    assert dropped(found) == {
        "prompt that is code": 1,
        "prompt in a file that was not sent": 1,
        "prompt with code": 1,
        "test that is code": 1,
        "tests from https": 1,
        "provider file": 1,
        "provider bedrock": 1,
        "setting tools of a provider": 1,
    }


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai:gpt-5", "openai:gpt-5"),
        ("openai:responses:gpt-5", "openai:gpt-5"),
        ("anthropic:messages:claude-x", "anthropic:claude-x"),
        ("ollama:chat:llama3:8b", "ollama:llama3:8b"),
        ("openrouter:meta/llama:free", "openrouter:meta/llama:free"),
        ("openai:image:dall-e-3", None),
        ("openai:{{ env.MODEL }}", None),
        ("exec:rm -rf /", None),
    ],
)
def test_a_provider_is_a_model_that_carrel_calls_or_none(provider: str, model: str | None) -> None:
    assert suite({"vars": {"q": "a"}}, providers=[provider]).providers[0].model == model


def test_without_tests_each_prompt_is_asked_once_and_scenarios_are_tests() -> None:
    assert suite(prompts=["Tell a joke"]).rows == [{"test": "test 1"}]
    several = [{"config": [{"vars": {"l": "de"}}, {"vars": {"l": "fr"}}], "tests": [{"vars": {"q": "a"}}]}]
    assert suite(scenarios=several).rows == [{"l": "de", "q": "a"}, {"l": "fr", "q": "a"}]


def test_plain_values_are_read_as_promptfoo_reads_them() -> None:
    text = (
        "prompts: [a]\ntests: [{vars: {a: Yes, b: 010, c: 1:30, d: 1.50, e: 7, f: true, g: , h: 2026-01-02, i: 1e3}}]"
    )
    assert config.read(text, {}, {}, CALLABLE).rows == [
        {
            "a": "Yes",
            "b": "010",
            "c": "1:30",
            "d": "1.5",
            "e": "7",
            "f": "true",
            "g": "",
            "h": "2026-01-02",
            "i": "1000.0",
        }
    ]


BOMB = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 10)}]\n" for n in range(12)
)


MANY = "prompts: [a]\ntests: [{vars: {" + ", ".join(f"v{n}: [1, 2, 3]" for n in range(30)) + "}}]"


LONG = "prompts: [a]\ndefaultTest: {vars: {v: " + "x" * 1_000 + "}}\ntests: [" + "{vars: {}}, " * 1_100 + "]"


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("prompts: [", "config", "is not YAML"),
        ("- a", "config", "is no configuration of promptfoo"),
        (BOMB, "config", "has too many values"),
        ("prompts: &p [*p]", "config", "has too many values"),
        ("!!python/object/apply:os.system ['touch /tmp/x']", "config", "is not YAML"),
        ("prompts: [file://a.py]\ntests: [{vars: {a: b}}]", "config.prompts", "are all code"),
        ("prompts: [a]\ntests: file://a.py", "config.tests", "are all code"),
        ("#" * 1_100_000, "files", "must have at most 1,048,576 characters together"),
        (LONG, "config.tests", "characters together"),
        (MANY, "config.tests", "at most 5,000"),
    ],
)
def test_what_is_no_suite_is_refused_at_its_place(text: str, path: str, words: str) -> None:
    with pytest.raises(BadInput) as refused:
        config.read(text, {}, {}, CALLABLE)
    assert refused.value.errors[0].path == path
    assert words in refused.value.errors[0].message
