"""`docs/how-to-extend.md`: each change is made in a copy, in the files that the guide names, and the named tests pass.

That takes minutes, so `make soak` does it for all eight, and the suite for the cheapest.
"""

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.docs.extensions import CHANGES, Copy

ROOT: Final = Path(__file__).parents[2]
GUIDE: Final = (ROOT / "docs/how-to-extend.md").read_text(encoding="utf-8")
AT_MOST: Final = {
    "The limit of a criterion's weight": 2,
    "A provider protocol": 2,
    "A state of a run": 4,
    "A field of contents": 6,
    "An option of a command": 1,
    "The rule of win shares": 1,
    "A page in the app": 3,
    "A migration": 2,
}
"""Files to write in, with what users read and without what is generated. Lower a number, and never raise one."""
INTERFACE: Final = {"A provider protocol", "A state of a run", "A field of contents"}
"""What changes `openapi.json`, or may."""
SECTIONS: Final = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", GUIDE, re.MULTILINE | re.DOTALL))
CHEAPEST: Final = "The limit of a criterion's weight"


def test_there_is_a_section_and_a_change_for_each_of_the_eight() -> None:
    assert list(SECTIONS) == list(AT_MOST) == list(CHANGES)


def test_every_path_of_the_guide_exists() -> None:
    named = set(re.findall(r"`((?:src|sdk|web|tests|docs)/[\w./-]+)`", GUIDE))
    assert len(named) > sum(AT_MOST.values()) / 2
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "change", [pytest.param(one, marks=() if one == CHEAPEST else pytest.mark.soak) for one in CHANGES]
)
def test_a_change_takes_the_files_that_the_guide_names_and_its_tests_pass(change: str, tmp_path: Path) -> None:
    copy = Copy(tmp_path / "copy")
    CHANGES[change](copy)
    assert len(copy.edited) <= AT_MOST[change]
    assert sorted(map(kind, copy.edited)) == sorted(map(kind, files_of(change)))
    if change in INTERFACE:
        run(copy, ".venv/bin/carrel openapi > openapi.json")
        run(copy, ".venv/bin/python -m sdk.generate")
    for command in re.findall(r"^(?:\.venv|npm) ?.+$", SECTIONS[change], re.MULTILINE):
        run(copy, command)


def files_of(change: str) -> list[str]:
    """The files in the first table of the section; a new file is named by the one that it is made like."""
    table = SECTIONS[change].partition("| file | why |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = [line.split(" | ")[0] for line in table.splitlines()]
    found = [re.findall(r"`([^`]+)`", cell) for cell in rows]
    assert all(len(paths) == 1 for paths in found), f"each row of {change} names one file"
    return [path for paths in found for path in paths]


def kind(path: str) -> str:
    """The path of a file that is here; of another one, and of one that it is made like, where it stands."""
    is_made_like = f"new, like `{path}`" in GUIDE
    if (ROOT / path).exists() and not is_made_like:
        return path
    folder = Path(path).parent
    return f"new in {folder.parent if folder.parent.name == 'features' else folder}"


def run(copy: Copy, command: str) -> None:
    """The copy's own sources come before the installed ones, which are this project's."""
    sources = os.pathsep.join(str(copy.folder / path) for path in ("src", "sdk/src"))
    words, _, target = command.partition(" > ")
    environment = os.environ | {"PYTHONPATH": sources, "NO_COLOR": "1"}
    done = subprocess.run(
        shlex.split(words), cwd=copy.folder, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    if target:
        (copy.folder / target).write_text(done.stdout, encoding="utf-8")
