"""Tests of `deploy/` that need a program of the system are left out where it is not there, and say so."""

import shutil

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    missing = {item: program_of(item) for item in items if program_of(item) and shutil.which(program_of(item)) is None}
    if missing:
        config.hook.pytest_deselected(items=list(missing))
        items[:] = [item for item in items if item not in missing]
        print(f"\nNOT RUN: {len(missing)} tests of deploy/, for there is no {' and no '.join(set(missing.values()))}")


def program_of(item: pytest.Item) -> str:
    """What the test needs; empty if it needs nothing."""
    marker = item.get_closest_marker("program")
    return str(marker.args[0]) if marker else ""
