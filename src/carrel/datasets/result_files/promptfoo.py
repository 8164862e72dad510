"""promptfoo's results: what `promptfoo eval --output` writes as JSON, JSONL, YAML or CSV, and what its page exports.

A test is a row, its variables are what was asked, and each provider with each prompt is a candidate.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from carrel.datasets.result_files.answers import AnswerTable, Grade, ResultFile, Unreadable, free_name, get, text_of

_LONG_LABEL: Final = 40
_CELL: Final = re.compile(r"\[(PASS|FAIL|ERROR)\] ?(?:\(([\d.]+|undefined)[^)\n]*\)\s*\n\n)?(.*)", re.DOTALL)
"""An output in CSV: whether it passed, its score, and the text."""
_REASON: Final = re.compile(r"\n\n(?:Pass|Fail) Reason: (?:(?!\n\n(?:Pass|Fail) Reason: ).)*\Z", re.DOTALL)
_UNGRADED: Final = "No assertions"
_METRIC: Final = "Metric: "
_PROMPT: Final = re.compile(r"\[([^\]]+)\] (.*)", re.DOTALL)
"""A column with outputs in CSV: the provider and the prompt."""


def fits(file: ResultFile) -> bool:
    """Whether promptfoo wrote the file."""
    return _is_results(file.document) or file.has("testIdx", "promptIdx", "vars") or any(map(_is_prompt, file.header))


def read(file: ResultFile) -> AnswerTable:
    """The answers in a file.

    Raises:
        Unreadable: naming the field.
    """
    if file.header:
        return _of_cells(file.header, file.cells)
    if _is_results(file.document):
        results = get(file.document, "results", "results")
        return _of_results(results if _has_numbers(results) else _numbered(results), "results.results")
    if file.has("testIdx", "promptIdx", "vars"):
        return _of_results(file.records, "lines")
    raise Unreadable("results.results is missing: this is no results file of promptfoo")


def _is_results(document: Any) -> bool:
    return isinstance(get(document, "results", "results"), list)


def _is_prompt(name: str) -> bool:
    return _PROMPT.fullmatch(name) is not None


def _has_numbers(results: list[Any]) -> bool:
    """Whether results say which test and prompt they are of, as they do from version 3 on."""
    return any("testIdx" in result for result in results if isinstance(result, dict))


def _numbered(results: list[Any]) -> list[Any]:
    """Results of version 2 with the numbers of tests and prompts: equal variables are a test, asked again another."""
    tests: dict[tuple[str, int], int] = {}
    prompts: dict[str, int] = {}
    often: Counter[tuple[str, str]] = Counter()
    found = []
    for number, result in enumerate(results):
        if not isinstance(result, dict):
            raise Unreadable(f"results.results[{number}] is not an object")
        label = get(result, "prompt", "label") or get(result, "prompt", "display") or get(result, "prompt", "raw")
        prompt = json.dumps([result.get("provider"), label])
        asked = json.dumps(result.get("vars") or get(result, "prompt", "raw"))
        often[asked, prompt] += 1
        test = tests.setdefault((asked, often[asked, prompt]), len(tests))
        found.append(result | {"testIdx": test, "promptIdx": prompts.setdefault(prompt, len(prompts))})
    return found


def _of_cells(header: Sequence[str], cells: Sequence[Sequence[str]]) -> AnswerTable:
    """The answers in CSV. What stands between two columns with outputs belongs to the first, as its score."""
    places = [place for place, name in enumerate(header) if _is_prompt(name)]
    if not places:
        raise Unreadable("no column is called as `[provider] prompt`: this is no CSV of promptfoo")
    asked = [place for place in range(places[0]) if header[place]]
    results = []
    for test, row in enumerate(cells):
        for prompt, place in enumerate(places):
            written = row[place] if place < len(row) else ""
            cell = _CELL.fullmatch(written)
            beside = dict(zip(header[place + 1 : [*places, None][prompt + 1]], row[place + 1 :], strict=False))
            passed = cell[1] if cell else beside.get("Status", "")
            score = (cell[2] if cell else None) or beside.get("Score") or passed
            text = _REASON.sub("", cell[3]) if cell else written
            if cell and passed == "FAIL":
                # The reasons come first.
                text = text.partition("\n---\n")[2] or text
            reason = beside.get("Grader Reason", "")
            named = {name.removeprefix(_METRIC): value for name, value in beside.items() if name.startswith(_METRIC)}
            found = _PROMPT.fullmatch(header[place])
            provider, label = found.groups() if found else ("", "")
            results.append(
                {"testIdx": test, "promptIdx": prompt, "provider": provider, "prompt": {"label": label, "raw": label}}
                | {
                    "vars": {header[at]: row[at] for at in asked if at < len(row)},
                    "graded": bool(passed) and reason != _UNGRADED,
                }
                | {"response": {"output": None if passed == "ERROR" else text}, "score": score}
                | {"namedScores": named}
            )
    return _of_results(results, "rows")


def _of_results(results: Sequence[Any], place: str) -> AnswerTable:
    """The answers in a list of results; `place` names the list in messages.

    Raises:
        Unreadable: naming the field.
    """
    if not results:
        raise Unreadable(f"{place} is empty")
    tests: dict[int, dict[str, str | None]] = {}
    answers: dict[tuple[int, int], str | None] = {}
    prompts: dict[int, tuple[str, str]] = {}
    grades: list[tuple[int, int, str, Any]] = []
    for number, result in enumerate(results):
        at = f"{place}[{number}]"
        test, prompt = _index(result, "testIdx", at), _index(result, "promptIdx", at)
        if (test, prompt) in answers:
            raise Unreadable(f"{at} is the answer to test {test} by prompt {prompt}, which is there already")
        tests.setdefault(test, _asked(result, at))
        prompts.setdefault(prompt, (_provider(result, at), _label(result, prompt)))
        answers[test, prompt] = text_of(get(result, "response", "output"))
        if (
            get(result, "graded")
            or get(result, "testCase", "assert")
            or get(result, "gradingResult", "componentResults")
        ):
            grades.append((test, prompt, "promptfoo", get(result, "score")))
            named = get(result, "namedScores")
            grades += (
                ((test, prompt, str(name), value) for name, value in named.items()) if isinstance(named, dict) else ()
            )
    labels = _labels(prompts)
    inputs = list(dict.fromkeys(name for asked in tests.values() for name in asked))
    clash = set(inputs) & set(labels.values())
    if clash:
        raise Unreadable(f"{min(clash)} is the name of a variable and of a candidate")
    row_id = free_name("test", [*inputs, *labels.values()])
    rows = [
        {row_id: str(test)}
        | {name: asked.get(name) for name in inputs}
        | {label: answers.get((test, prompt)) for prompt, label in labels.items()}
        for test, asked in sorted(tests.items())
    ]
    table = AnswerTable(rows=rows, id=row_id, inputs=tuple(inputs), candidates=tuple(labels.values()))
    return table.graded(Grade(str(test), labels[prompt], name, value) for test, prompt, name, value in grades)


def _index(result: Any, name: str, at: str) -> int:
    found = get(result, name)
    if not isinstance(found, int):
        raise Unreadable(f"{at}.{name} is missing")
    return found


def _asked(result: Any, at: str) -> dict[str, str | None]:
    """The variables of a test; without any, the prompt itself."""
    variables = get(result, "vars") or get(result, "testCase", "vars")
    if isinstance(variables, dict) and variables:
        return {str(name): text_of(value) for name, value in variables.items()}
    prompt = text_of(get(result, "prompt", "raw"))
    if prompt is None:
        raise Unreadable(f"{at} has neither vars nor prompt.raw: nothing says what was asked")
    return {"prompt": prompt}


def _provider(result: Any, at: str) -> str:
    provider = get(result, "provider")
    name = provider if isinstance(provider, str) else get(provider, "label") or get(provider, "id")
    if not isinstance(name, str) or not name:
        raise Unreadable(f"{at}.provider is missing")
    return name


def _label(result: Any, prompt: int) -> str:
    """The prompt's label; its number if that is the whole prompt, as it is without a label."""
    label = get(result, "prompt", "label")
    plain = isinstance(label, str) and 0 < len(label) <= _LONG_LABEL and "\n" not in label and "{{" not in label
    return str(label) if plain else f"prompt {prompt}"


def _labels(prompts: dict[int, tuple[str, str]]) -> dict[int, str]:
    """What names each candidate: its provider, its prompt, or both, whichever is enough."""
    providers = {prompt: provider for prompt, (provider, _) in sorted(prompts.items())}
    own = {prompt: label for prompt, (_, label) in sorted(prompts.items())}
    both = {prompt: f"{provider}, {own[prompt]}" for prompt, provider in providers.items()}
    numbered = {prompt: f"{label}, prompt {prompt}" for prompt, label in both.items()}
    several = len(set(providers.values())) > 1 or len(providers) == 1
    choices = (providers, both, numbered) if several else (own, numbered)
    return next((names for names in choices if len(set(names.values())) == len(names)), numbered)
