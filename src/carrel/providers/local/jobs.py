"""What the workers of built-in models may do."""

import importlib

from carrel.kit.processes.jobs import Jobs
from carrel.providers.local.judges import UnsupportedCriterion
from carrel.providers.local.work import answer

ERRORS = (UnsupportedCriterion,)


def prepare() -> None:
    """Import what only the generators need."""
    for name in ("combining", "generators"):
        importlib.import_module(f"carrel.providers.local.{name}")


JOBS = Jobs("models", __name__, (answer,), errors=ERRORS, prepare=prepare)
