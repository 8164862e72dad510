"""The commands of the guide "From a spreadsheet to a verdict" work on the tables that it shows."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/from-a-spreadsheet.md").read_text(encoding="utf-8")
TABLES = re.findall(r"`([\w-]+\.csv)`:\n\n```csv\n(.*?)```", GUIDE, re.DOTALL)
# The commands on files of other programs, and those with a key, are tested as to their words.
COMMANDS = [line for line in re.findall(r"^carrel (.+)$", GUIDE, re.MULTILINE) if "outputs.csv" in line]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_guide_ends_with_a_verdict(
    command: str, signed_in: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [name for name, _ in TABLES] == ["outputs.csv", "answers-mistral.csv"]
    for name, text in TABLES:
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    ranked = signed_in(*shlex.split(command))
    assert ranked.exit_code == 0, ranked.stderr
    assert "Verdict" in ranked.output


def test_two_commands_are_run_and_every_picture_is_made_by_make_screenshots() -> None:
    assert len(COMMANDS) == 2
    shown = set(re.findall(r"\(images/(guide-[\w-]+)\.png\)", GUIDE))
    made = (ROOT / "tests/browser/guide_pictures.py").read_text(encoding="utf-8")
    assert shown == set(re.findall(r'"(guide-[\w-]+)"', made))
