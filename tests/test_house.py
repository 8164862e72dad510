"""The rules of the house that a machine can hold: import order, file length, what locks may say."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LARGE = 20
"""From so many files on, a list of their names no longer tells a newcomer where to begin."""
SOURCES = [path for folder in ("src", "sdk/src", "benchmarks") for path in (ROOT / folder).rglob("*.py")]


def test_imports_go_downward_only() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_no_file_is_over_400_lines() -> None:
    long = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in SOURCES}
    assert {name: lines for name, lines in long.items() if lines > 400} == {}


def test_every_module_opens_with_a_sentence() -> None:
    assert [str(path) for path in SOURCES if not path.read_text().startswith('"""')] == []


def test_a_package_of_many_files_opens_with_a_map_that_names_each_once() -> None:
    for folder in sorted({path.parent for path in SOURCES}):
        files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
        if len(files) >= LARGE:
            lines = re.findall(r"^ {4}\S.*?  +(.*)$", (folder / "__init__.py").read_text(), re.MULTILINE)
            named = sorted(name for line in lines for name in line.split(" · "))
            assert named == sorted(files), folder


def test_nothing_is_left_for_later() -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX)\b|NotImplementedError|pragma: no cover")
    assert [str(path) for path in SOURCES if marks.search(path.read_text())] == []


def test_locks_hold_versions_and_hashes_and_no_address() -> None:
    for name in (
        "requirements.lock",
        "requirements-dev.lock",
        "requirements-demo.lock",
        "tests/proxy/requirements.lock",
    ):
        lines = (ROOT / name).read_text().splitlines()
        assert not [line for line in lines if "://" in line or "--index" in line or "--find-links" in line]
        pinned = [line for line in lines if "==" in line]
        assert pinned
        assert all(line.endswith("\\") for line in pinned), "each has its hashes on the following lines"
