"""A run over many rows with checks alone: what a check takes, how much memory, and what five kills change."""

import os
import select
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.crash.rows_operations import CANDIDATES, CHECKS
from tests.support import soak

MOST_MEGABYTES = 200


class Ended(NamedTuple):
    """How a process ended: what it printed, its processor time, the most memory that it had."""

    printed: str
    seconds: float
    megabytes: float


def _process(*arguments: object) -> Ended:
    """A process of its own, to its end.

    Only the system knows how much processor time a killed one took. What it tells of memory begins with the memory of
    the process that started it, so the most is asked for twenty times a second.
    """
    command = [sys.executable, "-m", "tests.crash.rows_operations", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        ended = os.pidfd_open(running.pid)
        kilobytes = 0
        while not select.select([ended], [], [], 0.05)[0]:
            kilobytes = max(kilobytes, _most_kilobytes(running.pid))
        os.close(ended)
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        printed = running.stdout.read().strip()
    return Ended(printed, used.ru_utime + used.ru_stime, kilobytes / 1024)


def _most_kilobytes(pid: int) -> int:
    """The most memory that the process has had since its program began; 0 when it has ended."""
    told = Path(f"/proc/{pid}/status").read_text()
    return next((int(line.split()[1]) for line in told.splitlines() if line.startswith("VmHWM")), 0)


def _campaign(folder: Path, rows: int) -> tuple[Ended, Ended, list[Ended]]:
    """The run's making, the run undisturbed, and the run with five kills; all ends are held against each other."""
    made = _process("prepare", folder / "ready", rows)
    whole = _process("work", shutil.copytree(folder / "ready", folder / "whole"), 0)
    killed = shutil.copytree(folder / "ready", folder / "killed")
    # A claim decides up to two hundred answers, a batch of checks holds five hundred.
    commits = rows * len(CANDIDATES) // 200 + rows * len(CANDIDATES) // 500
    parts = [_process("work", killed, max(2, commits // 6)) for _ in range(5)]
    assert [part.printed for part in parts] == [""] * 5, "each was killed"
    last = _process("work", killed, 0)
    assert last.printed == whole.printed != ""
    return made, whole, [*parts, last]


def test_a_run_with_checks_alone_survives_five_kills_to_the_byte(tmp_path: Path) -> None:
    _campaign(tmp_path, 900)


@pytest.mark.soak(campaign="rows", alone=True)
def test_as_many_rows_as_a_run_may_have_are_checked_in_little_memory(tmp_path: Path, figure: soak.Figure) -> None:
    rows = soak.size(15_000)
    made, whole, parts = _campaign(tmp_path, rows)
    answers = rows * len(CANDIDATES)
    figure(
        "rows with checks alone",
        rows=rows,
        kills=5,
        making_seconds=made.seconds,
        milliseconds_an_answer=whole.seconds * 1000 / answers,
        milliseconds_a_check=whole.seconds * 1000 / answers / len(CHECKS),
        megabytes=max(one.megabytes for one in (whole, *parts)),
    )
    assert max(one.megabytes for one in (whole, *parts)) < MOST_MEGABYTES
