"""What the workers that compile may do. Those of the engine mark answers: see `carrel.runs.engine.jobs`."""

import importlib

from carrel.checks import work
from carrel.kit.processes.jobs import MIB, Jobs


def prepare() -> None:
    """Import the libraries that compile."""
    for name in ("json_schema", "marking", "patterns"):
        importlib.import_module(f"carrel.checks.{name}")


JOBS = Jobs("checks", __name__, (work.compiles,), prepare=prepare, memory_bytes=40 * MIB)
"""Thirty patterns as large as a schema may have need 36 MB. A request may take 64 MB of all processes together."""
