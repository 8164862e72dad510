"""Every command of `carrel` that a document prints exists, with the arguments and options that it is printed with."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from carrel.cli.main import main

ROOT = Path(__file__).parents[2]
PRINTED = re.compile(r"^```(?:sh|bash)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:\S*/)?carrel ([^|<#]*)")
FILES = (
    "criteria.yaml",
    "workspace.zip",
    "guides/a.md",
    "guides/b.md",
    "prompt.md",
    "report.pdf",
    "questions.csv",
    "outputs.csv",
    "outputs.json",
    "log-gpt.eval",
    "log-claude.eval",
    "answers-gpt.csv",
    "answers-mistral.csv",
    "answers-claude.jsonl",
)


def commands() -> Iterator[str]:
    for document in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]):
        for block in PRINTED.findall(document.read_text(encoding="utf-8")):
            for line in block.replace("\\\n", " ").splitlines():
                printed = COMMAND.search(line) if "carrel " in line and not line.startswith("CARREL_") else None
                if printed:
                    yield " ".join(printed[1].split())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "guides").mkdir()
    for name in FILES:
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("line", sorted(set(commands())))
def test_a_command_that_is_printed_can_be_typed(line: str) -> None:
    command: click.Command = main
    context = click.Context(main, info_name="carrel")
    words = shlex.split(line)
    while isinstance(command, click.Group):
        found = command.get_command(context, words[0])
        assert found is not None, words[0]
        command, context = found, click.Context(found, parent=context, info_name=words.pop(0))
    command.make_context(context.info_name, words, parent=context.parent)


def test_there_are_as_many_as_a_reader_would_try() -> None:
    assert len(set(commands())) > 30
