"""The files that `docs/how-to-extend.md` names exist, and no change needs more of them than is promised."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/how-to-extend.md").read_text(encoding="utf-8")
AT_MOST = {
    "The limit of a criterion's weight": 2,
    "A provider protocol": 3,
    "A state of a run": 3,
    "A field of contents": 5,
    "An option of a command": 2,
    "The rule of win shares": 1,
    "A page in the app": 3,
    "A migration": 2,
}
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", GUIDE, re.MULTILINE | re.DOTALL))


def test_there_is_a_section_for_each_of_the_eight_changes() -> None:
    assert list(SECTIONS) == list(AT_MOST)


@pytest.mark.parametrize("change", AT_MOST)
def test_a_change_names_files_that_exist_and_no_more_than_promised(change: str) -> None:
    files = files_of(change)
    assert 1 <= len(files) <= AT_MOST[change]
    assert [file for file in files if not (ROOT / file).exists()] == []


@pytest.mark.parametrize("change", AT_MOST)
def test_a_change_names_the_tests_to_run_and_they_exist(change: str) -> None:
    commands = re.findall(r"^\.venv/bin/python -m pytest (.+)$", SECTIONS[change], re.MULTILINE)
    tests = [word for command in commands for word in command.split() if word.startswith("tests/")]
    assert tests
    assert [test for test in tests if not (ROOT / test).exists()] == []


def test_every_path_of_the_guide_exists() -> None:
    named = set(re.findall(r"`((?:src|sdk|web|tests|docs|demo)/[\w./-]+)`", GUIDE))
    assert len(named) > sum(AT_MOST.values()) / 2
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


def files_of(change: str) -> list[str]:
    """The files in the first table of the section; a new file is named by the one that it is made like."""
    table = SECTIONS[change].partition("| file | why |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = [line.split(" | ")[0] for line in table.splitlines()]
    found = [re.findall(r"`([^`]+)`", cell) for cell in rows]
    assert all(len(paths) == 1 for paths in found), f"each row of {change} names one file"
    return [path for paths in found for path in paths]
