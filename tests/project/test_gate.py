"""The gate: what `.ci/run` runs, and that each kind of fault makes the step fail that looks for it.

Every fault is put into a copy of the project, which borrows the installed tools of this one. That takes a minute or
two, so `make soak` does it; what the gate runs is read with every push.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support import programs

ROOT = Path(__file__).parents[2]
INSTALLED = (".venv/.runtime", ".venv/.demo", ".venv/.dev", "web/node_modules/.installed", "web/dist/carrel.js")
KEEP = [word for path in INSTALLED for word in ("-o", path)]
"""Make takes these for up to date, and installs and builds nothing."""


class Fault(NamedTuple):
    """What is written where, and the step that must notice it."""

    path: str
    text: str
    step: list[str]
    said: str
    """What the step prints about it."""


FAULTS = {
    "a lint error": Fault("src/carrel/broken.py", '"""Unused."""\n\nimport os\n', ["make", "style"], "F401"),
    "an unformatted file": Fault(
        "src/carrel/broken.py", '"""Spaces."""\n\nX = [ 1 ]\n', ["make", "style"], "--> src/carrel/broken.py:3:6"
    ),
    "a type error in a test": Fault(
        "tests/kit/test_broken.py",
        '"""Wrong."""\n\n\ndef test_a_number() -> None:\n    number: int = "one"\n    assert number\n',
        ["make", "types"],
        'tests/kit/test_broken.py:5: error: Incompatible types in assignment (expression has type "str"',
    ),
    "a wrong import": Fault(
        "src/carrel/vault/broken.py",
        '"""Upward."""\n\nfrom carrel.runs.model import states\n\n__all__ = ["states"]\n',
        ["make", "imports"],
        "carrel.vault.broken -> carrel.runs",
    ),
    "a TypeScript error": Fault(
        "web/src/lib/broken.ts",
        'export const broken: number = "one";\n',
        ["npm", "--prefix", "web", "run", "-s", "typecheck"],
        "src/lib/broken.ts(1,14): error TS2322",
    ),
    "an unformatted file of the app": Fault(
        "web/src/lib/broken.ts",
        "export const broken = [ 1 ]\n",
        ["npm", "--prefix", "web", "run", "-s", "format:check"],
        "src/lib/broken.ts",
    ),
    "a Vitest failure": Fault(
        "web/src/lib/broken.test.ts",
        'import { expect, it } from "vitest";\n\nit("fails", () => expect(1).toBe(2));\n',
        ["npm", "--prefix", "web", "run", "-s", "test", "--", "src/lib/broken.test.ts"],
        "expected 1 to be 2",
    ),
    "a failing test": Fault(
        "tests/kit/test_broken.py",
        "def test_a_number() -> None:\n    assert 1 == 2\n",
        [".venv/bin/python", "-m", "pytest", "-n", "0", "tests/kit/test_broken.py"],
        "assert 1 == 2",
    ),
}


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """The copy's own sources come before the installed ones, which are this project's."""
    sources = os.pathsep.join(str(folder / path) for path in ("src", "sdk/src"))
    words = [*command, *KEEP] if command[0] == "make" else command
    environment = os.environ | {"PYTHONPATH": sources, "NO_COLOR": "1", "COLUMNS": "200"}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=900)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What git knows of the project, with the tools of this one."""
    folder = tmp_path_factory.mktemp("copy")
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for tools in (".venv", "web/node_modules"):
        (folder / tools).symlink_to(ROOT / tools)
    if (ROOT / ".mypy_cache").is_dir():
        # Types are checked again only where something changed.
        shutil.copytree(ROOT / ".mypy_cache", folder / ".mypy_cache")
    made = run(["npm", "--prefix", "web", "run", "-s", "api"], folder)
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture
def broken(copy: Path, request: pytest.FixtureRequest) -> Iterator[Fault]:
    fault: Fault = FAULTS[request.param]
    path = copy / fault.path
    assert not path.exists()
    path.write_text(fault.text)
    yield fault
    path.unlink()


@pytest.mark.soak
@pytest.mark.parametrize("broken", FAULTS, indirect=True)
def test_a_fault_makes_its_step_fail(broken: Fault, copy: Path) -> None:
    done = run(broken.step, copy)
    said = done.stdout + done.stderr
    print(f"{' '.join(broken.step)}: exit {done.returncode}")
    assert done.returncode != 0
    assert broken.said in said, said


def test_a_test_whose_program_is_missing_or_that_skips_itself_is_an_error_in_the_gate(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    request.node.add_marker(pytest.mark.program("no-such-program"))
    monkeypatch.setenv(programs.EVERY, "1")
    monkeypatch.setattr(request.config, "workeroutput", {}, raising=False)
    with pytest.raises(pytest.UsageError, match=r"1 tests of tests/project, for there is no no-such-program"):
        programs.leave_out(request.config, [request.node])
    report = pytest.TestReport(request.node.nodeid, ("", None, ""), {}, "skipped", ("", 1, "Skipped: no disk"), "setup")
    programs.refuse_skip(request.node, report)
    assert report.failed
    assert report.longreprtext.endswith("Skipped: no disk")


def test_a_campaign_that_is_not_chosen_needs_no_program(tmp_path: Path) -> None:
    (tmp_path / "git").symlink_to(shutil.which("git") or "")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-n", "0", "tests/deploy/test_systemd.py"]
    environment = os.environ | {programs.EVERY: "1", "PATH": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout + done.stderr


@pytest.mark.soak
def test_without_a_fault_the_quick_steps_pass(copy: Path) -> None:
    for target in ("style", "imports"):
        done = run(["make", target], copy)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_gate_runs_make_check_and_that_runs_every_step() -> None:
    gate = (ROOT / ".ci/run").read_text().splitlines()
    install = gate.index("if .ci/install; then")
    assert gate[install + 1] == f'  export {programs.EVERY}="${{{programs.EVERY}-1}}"'
    assert gate[-1] == "exec make check"
    said = run(["make", "-n", "check"], ROOT).stdout
    steps = [
        r"ruff check \.",
        r"ruff format --check \.",
        r"bin/mypy$",
        "lint-imports",
        "npm run -s check",
        "-m pytest$",
    ]
    places = [re.search(step, said, re.MULTILINE) for step in steps]
    assert all(places), said
    assert sorted(places, key=lambda found: found.start() if found else 0) == places


def test_the_check_of_the_app_runs_every_step_of_it() -> None:
    scripts = json.loads((ROOT / "web/package.json").read_text())["scripts"]
    steps = re.findall(r"npm run -s ([a-z:]+)", scripts["check"])
    assert {"api", "format:check", "typecheck", "lint", "test"} <= set(steps)
    assert scripts["check"].count("&&") == len(steps) - 1
    assert set(steps) <= scripts.keys()
