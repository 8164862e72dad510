"""Runs: made, steered, watched, and what comes out of them."""

from carrel_sdk.calls import Calls
from carrel_sdk.run_models import Run
from carrel_sdk.transport import segment


class Runs:
    """The routes under `/runs`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def get(self, run_id: str) -> Run:
        """One run."""
        return self._calls.get(_path(run_id), Run)


def _path(run_id: str) -> str:
    return f"/runs/{segment(run_id)}"
