"""What the long campaigns of `make soak` share: their size, their place among others, the lines with their figures."""

import fcntl
import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import pytest

SHARE = float(os.environ.get("CARREL_SOAK_SHARE", "1"))
"""How much of its full size a campaign does; `make soak SHARE=0.01` tries it out."""
FILE = Path("soak-figures.txt")
"""Where the lines are kept, for the table in docs/security.md."""
PROPERTY = "figure"


class Figure(Protocol):
    """Tells what a campaign did. Of its parts the whole numbers are added up; of fractions the largest stands."""

    def __call__(self, what: str, **counts: float) -> None: ...


def size(full: int) -> int:
    """How many of `full` this run does, at least one."""
    return max(1, round(full * SHARE))


@contextmanager
def taking_turns(*, alone: bool) -> Iterator[None]:
    """Campaigns run side by side, but one that measures runs alone on the machine."""
    folder = Path(tempfile.gettempdir())
    with (folder / f"carrel-soak-{os.getuid()}").open("w") as held:
        # Whoever waits to be alone keeps the gate, so that those who need not be alone do not overtake for ever.
        with (folder / f"carrel-soak-gate-{os.getuid()}").open("w") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            fcntl.flock(held, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield


def lines(reports: Iterable[pytest.TestReport]) -> list[str]:
    """One line for each thing that campaigns told, with the day and the commit."""
    told: dict[tuple[str, str], dict[str, float]] = {}
    for report in reports:
        for name, value in report.user_properties:
            if name == PROPERTY:
                _add(told, value)
    share = "" if SHARE == 1 else f" (only {SHARE:g} of the full size)"
    when = f"{datetime.now(UTC):%Y-%m-%d} {commit()}"
    return [f"{when} {campaign}: {what}: {_text(counts)}{share}" for (campaign, what), counts in sorted(told.items())]


@cache
def commit() -> str:
    """The commit that was here when this was first asked: when the campaigns began."""
    said = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"


def keep(found: list[str]) -> None:
    """Append the lines to the file."""
    with FILE.open("a") as file:
        file.writelines(f"{line}\n" for line in found)


def _add(told: dict[tuple[str, str], dict[str, float]], value: Any) -> None:
    campaign, what, counts = value
    sums = told.setdefault((campaign, what), {})
    for name, count in counts.items():
        before = sums.get(name, 0)
        sums[name] = before + count if isinstance(count, int) else float(max(before, count))


def _text(counts: dict[str, float]) -> str:
    shown = {name.replace("_", " "): f"{n:,}" if isinstance(n, int) else f"{n:,.2f}" for name, n in counts.items()}
    return ", ".join(f"{count} {name}" for name, count in shown.items())
