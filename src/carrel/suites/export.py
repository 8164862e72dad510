"""Writes a preset as a promptfoo configuration: its prompts, models, inputs and checks."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
import yaml

from carrel.checks.definition import Check
from carrel.contents import store as contents
from carrel.datasets import rows as tables
from carrel.datasets.columns import placeholder
from carrel.kit.sqlite.database import Connection
from carrel.presets import rows
from carrel.presets import store as presets
from carrel.presets.configuration import Candidate
from carrel.presets.schemas import Preset
from carrel.providers.registry import is_built_in
from carrel.suites.schemas import ExportedSuite
from carrel.suites.suite import Drops
from carrel.vault.ids import ContentId, PresetId

_WAYS: Final = {"openai": "chat", "anthropic": "messages", "ollama": "chat"}
"""What promptfoo writes between the provider and the model."""
_DOCUMENT: Final = "document"
_HEAD: Final = "# yaml-language-server: $schema=https://promptfoo.dev/config-schema.json\n"


def written(conn: Connection, preset_id: PresetId) -> ExportedSuite:
    """The configuration. Goes through all inputs: to be scanned.

    Raises:
        NotFound: there is no preset with this id.
    """
    preset = presets.get(conn, preset_id)
    dropped = Drops()
    for one in preset.dropped:
        dropped.add(one.kind, one.count)
    prompts: dict[ContentId, dict[str, str]] = {}
    providers: list[dict[str, Any]] = []
    for candidate in preset.generation.candidates:
        instructions = candidate.instructions or preset.instructions
        if candidate.model is None or is_built_in(candidate.model) or instructions is None:
            dropped.add("candidate without a model of a provider")
            continue
        if instructions not in prompts:
            found = contents.get(conn, instructions)
            text = found.body if preset.rows is not None else f"{found.body}\n\n{{{{{_DOCUMENT}}}}}"
            prompts[instructions] = {"label": found.name, "raw": text}
        providers.append(_provider(candidate, prompts[instructions]["label"]))
    for name in ("scoring", "comparison", "combination"):
        if getattr(preset, name) is not None:
            dropped.add(f"the {name} by judges")
    always = [one for check in preset.checks if check.column is None for one in _assertions(check, None, dropped)]
    config: dict[str, Any] = {"description": preset.description or preset.name, "prompts": list(prompts.values())}
    config |= {"providers": providers, "defaultTest": {"assert": always}, "tests": list(_tests(conn, preset, dropped))}
    if not always:
        del config["defaultTest"]
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=120)
    return ExportedSuite(_HEAD + text, dropped.listed())


def _provider(candidate: Candidate, prompt: str) -> dict[str, Any]:
    provider, _, model = (candidate.model or "").partition(":")
    way = f"{_WAYS[provider]}:" if provider in _WAYS else ""
    settings = msgspec.to_builtins(candidate.parameters)
    if "max_output_tokens" in settings:
        settings["max_tokens"] = settings.pop("max_output_tokens")
    found = {"id": f"{provider}:{way}{model}", "label": candidate.label, "config": settings, "prompts": [prompt]}
    return {name: value for name, value in found.items() if value}


def _tests(conn: Connection, preset: Preset, dropped: Drops) -> Iterator[dict[str, Any]]:
    version = rows.table(conn, preset)
    if preset.rows is None or version is None:
        for content_id in preset.inputs:
            reference = preset.references.get(content_id)
            expected = None if reference is None else contents.get(conn, reference).body
            asserts = [] if expected is None else _expected(preset, expected, dropped)
            yield _test({_DOCUMENT: contents.get(conn, content_id).body}, asserts)
        return
    names = [column.name for column in version.columns]
    roles = {column.name: column.role for column in version.columns}
    for row in tables.each(conn, version, rows.choice(preset.rows)):
        cells = {name: cell for name, cell in zip(names, row.cells, strict=False) if cell is not None}
        asserts = [
            one
            for check in preset.checks
            if check.column is not None and check.column in cells
            for one in _assertions(check, cells[check.column], dropped)
        ]
        expected = next((cell for name, cell in cells.items() if roles[name] == "expected"), None)
        if expected is not None:
            asserts += _expected(preset, expected, dropped)
        yield _test({placeholder(name): cell for name, cell in cells.items() if roles[name] == "variable"}, asserts)


def _test(variables: dict[str, str], asserts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"vars": variables, "assert": asserts} if asserts else {"vars": variables}


def _expected(preset: Preset, expected: str, dropped: Drops) -> list[dict[str, Any]]:
    """The assertions of checks that look for the expected output."""
    return [one for check in preset.checks if _needs_expected(check) for one in _assertions(check, expected, dropped)]


def _needs_expected(check: Check) -> bool:
    asks = check.kind in ("contains", "not_contains", "equals", "rouge_l", "chrf") and not check.texts
    return asks and check.expected is None and check.column is None


def _assertions(check: Check, cell: str | None, dropped: Drops) -> Iterator[dict[str, Any]]:
    """A check as assertions; `cell` is what the test has for it. What promptfoo has no word for is counted."""
    i = "i" if check.ignore_case else ""
    value = cell if cell is not None else check.expected
    if cell is None and _needs_expected(check):
        # The tests that have an expected output ask it.
        return
    match check.kind:
        case "contains" | "not_contains" if not check.ignore_space:
            no = "not-" if check.kind == "not_contains" else ""
            for text in check.texts or [value or ""]:
                yield {"type": f"{no}{i}contains", "value": text}
        case "regex" if not check.ignore_case:
            yield {"type": "regex", "value": check.pattern if cell is None else cell}
        case "equals" if not (check.ignore_case or check.ignore_space or check.tolerance is not None):
            yield {"type": "equals", "value": value}
        case "json":
            yield {"type": "is-json"}
        case "json_schema":
            yield {"type": "is-json", "value": check.schema_}
        case "length":
            bounds = {"min": check.least, "max": check.most}
            yield {"type": "word-count", "value": {name: int(one) for name, one in bounds.items() if one is not None}}
        case "forbidden":
            for text in check.texts:
                yield {"type": "not-icontains", "value": text}
        case _:
            dropped.add(f"check {check.kind}")
