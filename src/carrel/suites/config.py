"""Reads a promptfoo configuration: prompts, providers, tests and assertions. It executes nothing. Pure."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice, product
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

import msgspec

from carrel.datasets.schemas import MAX_COLUMNS, Role
from carrel.errors import BadInput
from carrel.kit import yaml_values
from carrel.kit.yaml_values import YamlUnreadable
from carrel.presets.configuration import MAX_LABEL_CHARACTERS
from carrel.providers.base import Criterion, Parameters
from carrel.suites import assertions, templates
from carrel.suites.assertions import CheckedRows
from carrel.suites.suite import Drops, Suite, SuitePrompt, SuiteProvider

MAX_VALUES: Final = 20_000
"""Of a configuration or of a file beside it."""
MAX_TESTS: Final = 5_000
MAX_CHARACTERS: Final = 1 << 20
"""Of all files together, and of the variables of all tests."""
_MOST_PROMPTS: Final = 20
_PREFIX: Final = "file://"
_TEXT_FILES: Final = (".txt", ".md", ".json", ".jsonl", ".yaml", ".yml", ".csv", ".j2")
_CODE_FILES: Final = (".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".go", ".sh")
_LONG_PATH: Final = 200
_LOST: Final = "\0lost"
"""Stands for the value of a variable that cannot be had."""
_MOST_RUBRICS: Final = 20
_RUBRIC_CHARACTERS: Final = 800
_RUBRIC: Final = "rubric of the test"
_AS_THE_REFERENCE: Final = (
    "How fully the answer does what the reference asks of it. The reference is no answer; without one, all is done."
)
_CHAT: Final = frozenset({"chat", "responses", "messages", "completion"})
"""What promptfoo writes between the provider and the model."""
_WITH_COLONS: Final = frozenset({"openrouter", "ollama", "bedrock"})
"""Providers whose models have colons in their names."""
_SETTINGS: Final = {
    **{name: name for name in Parameters.__struct_fields__},
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "maxOutputTokens": "max_output_tokens",
    "topP": "top_p",
    "topK": "top_k",
}


class _Test(NamedTuple):
    description: str | None
    variables: dict[str, str | None]
    asserts: list[Any]


class _Source(NamedTuple):
    """What is read: the configuration, the texts of files beside it, and what could not be taken."""

    config: dict[str, Any]
    files: Mapping[str, str]
    models: Mapping[str, str]
    callable: frozenset[str]
    dropped: Drops


def read(text: str, files: Mapping[str, str], models: Mapping[str, str], callable_: frozenset[str]) -> Suite:
    """The suite in a configuration.

    `files` are the texts beside it by their paths, `models` say what to call instead of a provider, and `callable_` are
    the providers of models that Carrel can call.

    Raises:
        BadInput: it is no such configuration, or nothing is left of its prompts or tests.
    """
    if len(text) + sum(map(len, files.values())) > MAX_CHARACTERS:
        raise BadInput.at(
            "files", f"must have at most {MAX_CHARACTERS:,} characters together, the configuration included"
        )
    try:
        config = yaml_values.read(text, MAX_VALUES)
    except YamlUnreadable as error:
        raise BadInput.at("config", str(error)) from None
    if not isinstance(config, dict) or not config.keys() & {"prompts", "providers", "targets", "tests", "scenarios"}:
        raise BadInput.at("config", "is no configuration of promptfoo: it has neither prompts nor providers nor tests")
    normal = {_normal(path): body for path, body in files.items()}
    source = _Source(config, normal, models, callable_, Drops())
    for name in ("redteam", "extensions", "derivedMetrics", "nunjucksFilters"):
        if config.get(name):
            source.dropped.add(name)
    prompts, tests = _prompts(source), _tests(source)
    if not prompts:
        raise BadInput.at("config.prompts", "are all code, or in files that were not sent")
    if not tests:
        raise BadInput.at("config.tests", "are all code, from elsewhere, or in files that were not sent")
    rows, roles, checked = _rows(source, prompts, tests)
    criteria, rubrics = _criteria(checked.rubrics)
    if any(rubrics):
        roles[_RUBRIC] = "expected"
        for row, rubric in zip(rows, rubrics, strict=True):
            row[_RUBRIC] = rubric or None
    return Suite(
        description=str(config.get("description") or "")[:2_000],
        prompts=[prompt._replace(text=templates.prompt(prompt.text)) for prompt in prompts],
        providers=_providers(source),
        rows=rows,
        roles=roles,
        checks=checked.checks,
        patterns=checked.patterns,
        criteria=criteria,
        grader=_grader(source, tests) if criteria else None,
        dropped=source.dropped,
    )


def _criteria(rubrics: Sequence[Sequence[str]]) -> tuple[list[Criterion], list[str]]:
    """The rubrics that all tests have are criteria; those of single tests are what judges see as the reference."""
    often = Counter(text for own in rubrics for text in dict.fromkeys(own))
    everywhere = [text for text, times in often.items() if times == len(rubrics) and len(text) <= _RUBRIC_CHARACTERS]
    shared = everywhere[:_MOST_RUBRICS]
    rest = ["\n\n".join(dict.fromkeys(text for text in own if text not in shared)) for own in rubrics]
    found = [Criterion(f"rubric {number}", text) for number, text in enumerate(shared, start=1)]
    return found + [Criterion(_RUBRIC, _AS_THE_REFERENCE)] * any(rest), rest


def _grader(source: _Source, tests: Sequence[_Test]) -> str | None:
    """The first model that the tests name to grade, if Carrel can call it."""
    options = _mapping(_mapping(source.config, "defaultTest"), "options")
    named = [options.get("provider"), *(one.get("provider") for one in _graded(tests))]
    for one in named:
        name = one.get("id") if isinstance(one, dict) else one
        if isinstance(name, str):
            return source.models.get(name) or _model(name, source.callable)
    return None


def _graded(tests: Sequence[_Test]) -> Iterator[dict[str, Any]]:
    return (one for test in tests for one in test.asserts if isinstance(one, dict))


def _rows(
    source: _Source, prompts: Sequence[SuitePrompt], tests: Sequence[_Test]
) -> tuple[list[dict[str, str | None]], dict[str, Role], CheckedRows]:
    found = assertions.checks_of([(test.asserts, test.variables) for test in tests], source.config, source.dropped)
    used = {name for prompt in prompts for name in templates.names(prompt.text)}
    names = list(dict.fromkeys(name for test in tests for name in test.variables))
    columns = {name: templates.column(name) for name in names}
    if len(set(columns.values())) < len(names) or len(names) > MAX_COLUMNS // 2:
        raise BadInput.at("config.tests", f"must have variables of different names, and at most {MAX_COLUMNS // 2}")
    variables = [name for name in names if name in used] or names
    roles: dict[str, Role] = {columns[name]: "variable" if name in variables else "metadata" for name in names}
    rows: list[dict[str, str | None]] = []
    checked = [check.column for check in found.checks if check.column is not None]
    described = any(test.description for test in tests)
    for number, (test, cells) in enumerate(zip(tests, found.cells, strict=True), start=1):
        row: dict[str, str | None] = {columns[name]: test.variables.get(name) for name in names}
        for name in variables:
            # A variable that a test leaves out is empty in its prompt.
            row[columns[name]] = row[columns[name]] or ""
        if not variables:
            row["test"] = test.description or f"test {number}"
        if described:
            row["description of the test"] = test.description
        rows.append(row | {column: cells.get(column) for column in checked})
    if not variables:
        roles["test"] = "variable"
    metadata: dict[str, Role] = {name: "metadata" for name in rows[0] if name not in roles}
    return rows, roles | metadata, found


def _prompts(source: _Source) -> list[SuitePrompt]:
    given = source.config.get("prompts") or "{{prompt}}"
    found: list[SuitePrompt] = []
    for one in given if isinstance(given, list) else [given]:
        label, value = None, one
        if isinstance(one, dict):
            if "raw" in one or "id" in one:
                label, value = one.get("label") or one.get("display"), one.get("raw", one.get("id"))
            elif len(one) == 1:
                # The old form: a path with its label.
                value, label = next(iter(one.items()))
        for text in _prompt_texts(source, value):
            plain = _flat(text)
            if plain is None or not templates.is_plain(plain) or not plain.strip():
                source.dropped.add("prompt with code")
            else:
                found.append(SuitePrompt(str(label or ""), plain))
    source.dropped.add("prompt beyond 20", max(0, len(found) - _MOST_PROMPTS))
    found = found[:_MOST_PROMPTS]
    return [
        prompt._replace(label=_label(prompt.label, f"prompt {number}", [one.label for one in found]))
        for number, prompt in enumerate(found, start=1)
    ]


def _label(label: str, number: str, all_labels: Sequence[str]) -> str:
    short = label[:40].strip()
    return short if short and sum(one[:40].strip() == short for one in all_labels) == 1 else number


def _prompt_texts(source: _Source, value: Any) -> Iterator[str]:
    if not isinstance(value, str):
        source.dropped.add("prompt in an unknown form")
    elif (path := _path(value)) is None:
        yield value
    else:
        bodies = _bodies(source, path, "prompt")
        for name, body in bodies:
            if name.endswith((".txt", ".md")):
                yield from (part.strip() for part in f"\n{body}\n".split("\n---\n") if part.strip())
            elif name.endswith(".jsonl"):
                yield from (line for line in body.splitlines() if line.strip())
            elif name.endswith(".csv"):
                yield from (row["prompt"] for row in _table(body) if row.get("prompt"))
            else:
                yield body


def _flat(text: str) -> str | None:
    """A prompt as one text: chats, in JSON or YAML, become their messages with the roles before them."""
    if not text.lstrip().startswith(("[", "- role", "{")) or text.lstrip().startswith("{{"):
        return text
    try:
        messages = yaml_values.read(text, MAX_VALUES)
    except YamlUnreadable:
        # A template may be no JSON before it is filled.
        return text
    if not isinstance(messages, list) or not messages:
        return text
    parts = []
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            texts = [part.get("text") if isinstance(part, dict) else None for part in content]
            content = "\n".join(map(str, texts)) if all(isinstance(one, str) for one in texts) else None
        if not isinstance(content, str):
            return text if not isinstance(message, dict) or "role" not in message else None
        parts.append(content if len(messages) == 1 else f"{message.get('role')}: {content}")
    return "\n\n".join(parts)


def _providers(source: _Source) -> list[SuiteProvider]:
    given = source.config.get("providers") or source.config.get("targets") or []
    found = []
    for one in given if isinstance(given, list) else [given]:
        name, options = one, {}
        if isinstance(one, dict):
            name, options = one.get("id"), one
            if name is None and len(one) == 1:
                name, options = next(iter(one.items()))
        options = options if isinstance(options, dict) else {}
        if not isinstance(name, str):
            source.dropped.add("provider that is code")
            continue
        model = source.models.get(name) or _model(name, source.callable)
        if model is None:
            source.dropped.add(f"provider {name.partition(':')[0]}")
        settings = options.get("config")
        parameters = _parameters(settings, source.dropped) if isinstance(settings, dict) else Parameters()
        found.append(SuiteProvider(str(options.get("label") or name)[:MAX_LABEL_CHARACTERS], model, parameters))
    return found


def _model(name: str, callable_: frozenset[str]) -> str | None:
    """What Carrel calls the provider; `None` if it cannot call it."""
    provider, _, rest = name.partition(":")
    way, colon, model = rest.partition(":")
    if way in _CHAT:
        rest = model
    elif colon and provider not in _WITH_COLONS:
        # Images, embeddings, assistants and the like.
        return None
    return f"{provider}:{rest}" if provider in callable_ and rest and "{{" not in rest else None


def _parameters(settings: Mapping[str, Any], dropped: Drops) -> Parameters:
    found: dict[str, Any] = {}
    for name, value in settings.items():
        known = _SETTINGS.get(name)
        try:
            msgspec.convert({known: value} if known else {name: value}, Parameters)
        except msgspec.ValidationError:
            dropped.add(f"setting {name} of a provider")
        else:
            found[known or name] = value
    return msgspec.convert(found, Parameters)


def _tests(source: _Source) -> list[_Test]:
    default = source.config.get("defaultTest")
    default = default if isinstance(default, dict) else {}
    if _transforms(default):
        source.dropped.add("transform of every answer")
    given = list(islice(_given_tests(source), MAX_TESTS + 1))
    if not given and not source.config.get("tests") and not source.config.get("scenarios"):
        # Without tests, promptfoo asks each prompt once.
        given = [{}]
    tests: list[_Test] = []
    characters = 0
    for one in given:
        for test in _expanded(source, one, default):
            tests.append(test)
            characters += sum(len(value or "") for value in test.variables.values())
            if len(tests) > MAX_TESTS:
                raise BadInput.at("config.tests", f"must be at most {MAX_TESTS:,}")
            if characters > MAX_CHARACTERS:
                raise BadInput.at("config.tests", f"must have at most {MAX_CHARACTERS:,} characters together")
    return tests


def _transforms(test: Mapping[str, Any]) -> bool:
    options = test.get("options")
    return isinstance(options, dict) and any(name in options for name in ("transform", "postprocess"))


def _given_tests(source: _Source) -> Iterator[Mapping[str, Any]]:
    yield from _test_list(source, source.config.get("tests"))
    scenarios = source.config.get("scenarios")
    for scenario in scenarios if isinstance(scenarios, list) else []:
        if not isinstance(scenario, dict):
            source.dropped.add("scenario in a file")
            continue
        shared = [one for one in scenario.get("config") or [] if isinstance(one, dict)]
        for outer, inner in product(shared, list(_test_list(source, scenario.get("tests")))):
            yield _merged(outer, inner)


def _merged(outer: Mapping[str, Any], inner: Mapping[str, Any]) -> dict[str, Any]:
    variables = {**_mapping(outer, "vars"), **_mapping(inner, "vars")}
    return {**outer, **inner, "vars": variables, "assert": [*_list(outer, "assert"), *_list(inner, "assert")]}


def _test_list(source: _Source, given: Any) -> Iterator[Mapping[str, Any]]:
    for one in given if isinstance(given, list) else [given]:
        path = one.get("path") if isinstance(one, dict) and "vars" not in one else one
        if isinstance(path, str):
            yield from _tests_of_file(source, path)
        elif isinstance(one, dict):
            yield one


def _tests_of_file(source: _Source, reference: str) -> Iterator[Mapping[str, Any]]:
    path = reference.removeprefix(_PREFIX)
    if "://" in path:
        source.dropped.add(f"tests from {path.partition(':')[0]}")
        return
    for name, body in _bodies(source, path, "test"):
        if name.endswith(".csv"):
            yield from map(_of_row, _table(body))
        elif name.endswith(".jsonl"):
            yield from (one for line in body.splitlines() if isinstance(one := _json(line), dict))
        else:
            try:
                found = yaml_values.read(body, 5 * MAX_VALUES)
            except YamlUnreadable:
                source.dropped.add("test in a file that is not YAML")
                continue
            yield from (one for one in (found if isinstance(found, list) else [found]) if isinstance(one, dict))


def _of_row(row: Mapping[str, str]) -> dict[str, Any]:
    """A test in a line of CSV: names that begin with two underscores are not variables."""
    expected = [text.strip() for name, text in row.items() if name.startswith("__expected") and text.strip()]
    return {
        "description": row.get("__description"),
        "vars": {name: text for name, text in row.items() if not name.startswith("__")},
        "assert": [assertions.of_word(text) for text in expected],
    }


def _expanded(source: _Source, test: Mapping[str, Any], default: Mapping[str, Any]) -> Iterator[_Test]:
    """The tests that one stands for: a variable with a list stands for each of its values."""
    merged = _merged(default, test)
    if isinstance(test.get("vars"), str | list):
        source.dropped.add("variables in a file")
    if _transforms(test):
        source.dropped.add("transform of an answer")
    values: dict[str, list[str | None]] = {}
    for name, value in merged["vars"].items():
        several = value if isinstance(value, list) else [value]
        found = [_variable(source, one) for one in several]
        if any(one is _LOST for one in found):
            source.dropped.add("test with a variable that is code, or a file that was not sent")
            return
        values[name] = [one for one in found if one is not _LOST]
    description = templates.text_of(merged.get("description"))
    for chosen in islice(product(*values.values()), MAX_TESTS + 1):
        variables = dict(zip(values, chosen, strict=True))
        for name, value in variables.items():
            # Variables may name each other.
            variables[name] = (templates.filled(value, variables) if value else value) or value
        yield _Test(description, variables, merged["assert"])


def _variable(source: _Source, value: Any) -> str | None:
    text = templates.text_of(value)
    if text is None or not text.startswith(_PREFIX):
        return text
    body = source.files.get(_normal(text))
    return _LOST if body is None else body


def _bodies(source: _Source, path: str, what: str) -> list[tuple[str, str]]:
    """The files that a path names, also with `*`."""
    normal = _normal(path)
    if PurePosixPath(normal.partition(":")[0]).suffix in _CODE_FILES:
        source.dropped.add(f"{what} that is code")
        return []
    found = [(name, body) for name, body in sorted(source.files.items()) if name == normal or fnmatchcase(name, normal)]
    if not found:
        source.dropped.add(f"{what} in a file that was not sent")
    return found


def _path(value: str) -> str | None:
    """The path that a prompt is; `None` if it is the prompt itself."""
    if value.startswith(_PREFIX):
        return value
    name = value.partition(":")[0]
    looks = len(value) <= _LONG_PATH and not any(sign in value for sign in "\n {")
    return value if looks and PurePosixPath(name).suffix in (*_TEXT_FILES, *_CODE_FILES) else None


def _normal(path: str) -> str:
    return str(PurePosixPath(path.removeprefix(_PREFIX)))


def _table(text: str) -> list[dict[str, str]]:
    rows = csv.reader(io.StringIO(text, newline=""))
    try:
        header = [name.strip() for name in next(rows, [])]
        return [dict(zip(header, row, strict=False)) for row in islice(rows, MAX_TESTS + 1) if any(row)]
    except csv.Error:
        return []


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _mapping(test: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = test.get(name)
    return found if isinstance(found, dict) else {}


def _list(test: Mapping[str, Any], name: str) -> list[Any]:
    found = test.get(name)
    return found if isinstance(found, list) else []
