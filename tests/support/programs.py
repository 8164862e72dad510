"""Tests that need programs of the system, such as a proxy or a database, are left out where one is not there."""

import os
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

EVERY = "CARREL_EVERY_TEST"
"""In the environment of the gate and of the forge's workflow: a test that would be left out is an error."""
SAID: set[str] = set()
"""What was left out and why, of this process and its workers."""
AS_ROOT: Final = () if os.geteuid() == 0 else ("sudo", "-n")
"""Before a command that only root may give, such as `mount`."""
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin"
"""Servers are where the search path of an ordinary account does not lead."""


def leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take the tests out whose programs are missing, and say so."""
    missing = {item: names for item in items if (names := [name for name in needed(item) if not is_here(name)])}
    if missing:
        folders = sorted({item.path.parent.relative_to(config.rootpath).as_posix() for item in missing})
        programs = sorted({name for names in missing.values() for name in names})
        where, lack = ", ".join(folders), " and no ".join(programs)
        say(config, f"NOT RUN: {len(missing)} tests of {where}, for there is no {lack}")
        config.hook.pytest_deselected(items=list(missing))
        items[:] = [item for item in items if item not in missing]


def say(config: pytest.Config, text: str) -> None:
    """Have it stand at the end of the output; what a worker process prints is not seen.

    Raises:
        UsageError: all tests shall run here.
    """
    strict = bool(os.environ.get(EVERY))
    text = f"{EVERY} is set, and yet: {text}" if strict else text
    output: dict[str, Any] | None = getattr(config, "workeroutput", None)
    if output is not None:
        output.setdefault("not_run", []).append(text)
    elif not strict:
        SAID.add(text)
    if strict:
        raise pytest.UsageError(text)


def refuse_skip(item: pytest.Item, report: pytest.TestReport) -> None:
    """Say that the test skipped itself, or fail it. A `skipif` may: it says that the system can never run the test."""
    if report.skipped and not item.get_closest_marker("skipif") and not hasattr(report, "wasxfail"):
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        try:
            say(item.config, f"NOT RUN: {item.nodeid}. {reason}")
        except pytest.UsageError as error:
            report.outcome, report.longrepr = "failed", str(error)


def needed(item: pytest.Item) -> list[str]:
    """What the test needs: names of programs, and whole paths of files, which may hold `*`."""
    return [name for marker in item.iter_markers("program") for name in marker.args]


def is_here(name: str) -> bool:
    """Whether the system has it."""
    if name.startswith("/"):
        return any(Path("/").glob(name[1:]))
    return shutil.which(name, path=_PATH) is not None
