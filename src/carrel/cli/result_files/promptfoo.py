"""promptfoo's results: what `promptfoo eval --output outputs.json` (or .jsonl) writes, version 3.

A test is a row, its variables are what was asked, and each provider with each prompt is a candidate.
"""

from typing import Any, Final

from carrel.cli.result_files.answers import AnswerTable, Unreadable, free_name, get, text_of

_LONG_LABEL: Final = 40


def is_results(document: Any) -> bool:
    """Whether decoded JSON is such a file."""
    return isinstance(document, dict) and isinstance(get(document, "results", "results"), list)


def is_result(document: Any) -> bool:
    """Whether decoded JSON is one line of such a JSONL file."""
    return isinstance(document, dict) and {"testIdx", "promptIdx", "vars"} <= set(document)


def of_results(document: Any) -> AnswerTable:
    """The answers in outputs.json.

    Raises:
        Unreadable: naming the field.
    """
    return read(get(document, "results", "results"), "results.results")


def read(results: list[Any], place: str) -> AnswerTable:
    """The answers in a list of results; `place` names the list in messages.

    Raises:
        Unreadable: naming the field.
    """
    if not results:
        raise Unreadable(f"{place} is empty")
    tests: dict[int, dict[str, str | None]] = {}
    answers: dict[tuple[int, int], str | None] = {}
    prompts: dict[int, tuple[str, str]] = {}
    for number, result in enumerate(results):
        at = f"{place}[{number}]"
        test, prompt = _index(result, "testIdx", at), _index(result, "promptIdx", at)
        if (test, prompt) in answers:
            raise Unreadable(f"{at} is the answer to test {test} by prompt {prompt}, which is there already")
        tests.setdefault(test, _asked(result, at))
        prompts.setdefault(prompt, (_provider(result, at), _label(result, prompt)))
        answers[test, prompt] = text_of(get(result, "response", "output"))
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
    return AnswerTable(rows=rows, id=row_id, inputs=tuple(inputs), candidates=tuple(labels.values()))


def _index(result: Any, name: str, at: str) -> int:
    found = get(result, name)
    if not isinstance(found, int):
        raise Unreadable(f"{at}.{name} is missing: only results of version 3 and later have it")
    return found


def _asked(result: Any, at: str) -> dict[str, str | None]:
    """The variables of a test; without any, the prompt itself."""
    variables = get(result, "vars") or get(result, "testCase", "vars")
    if isinstance(variables, dict) and variables:
        return {name: text_of(value) for name, value in variables.items()}
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
