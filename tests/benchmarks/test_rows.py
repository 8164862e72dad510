"""Every row of `make bench`, tiny: its servers start and answer, and it says what came out. What that is counts not."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest

from benchmarks import fairness, job, kills, lists, load, many, nodes, size, writes
from benchmarks.__main__ import ROWS
from benchmarks.fairness import Plan
from benchmarks.load import Measured, Request
from tests.support.campaign import Work

pytestmark = pytest.mark.slow

TINY: dict[str, dict[str, int]] = {
    "1": {"rounds": 1},
    "4": {"users": 25, "rounds": 1},
    "5": {"rounds": 1},
    "7": {"rounds": 1},
    "8": {"rounds": 1},
    "9": {"rounds": 1},
    "12": {"rounds": 1},
    "13": {"reads": 16, "writes": 16, "kills": 1},
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few requests of each kind, a few documents and users."""
    usual = load.run

    def run(port: int, pid: int, request: Callable[[int], Request], *, requests: int, connections: int) -> Measured:
        return usual(port, pid, request, requests=2 * connections, connections=connections)

    monkeypatch.setattr(load, "run", run)
    monkeypatch.setattr(lists, "SIZES", (10, 20, 30))
    monkeypatch.setattr(lists, "USUAL", 20)
    monkeypatch.setattr(writes, "WRITES", 20)
    for name, value in (("REGISTERED", 20), ("OPEN", 12), ("FEW", 3), ("ACTIVE", (6,)), ("PACE_SECONDS", 0)):
        monkeypatch.setattr(many, name, value)
    monkeypatch.setattr(job, "DOCUMENTS", 2)
    for name, plan in (("SHORT", Plan(20, 2)), ("LONG", Plan(30, 2)), ("WARM_UP", Plan(1, 1))):
        monkeypatch.setattr(size, name, plan)
    # The two runs have to last longer than it is watched.
    for name, number in (("DOCUMENTS", 60), ("MODELS", 5), ("WARM_UP_SECONDS", 0), ("SECONDS", 0.1), ("LONE_TASKS", 1)):
        monkeypatch.setattr(fairness, name, number)
    monkeypatch.setattr(kills, "JOB", Work(40, ("alpha",), ("judge-one",), compared=False, concurrency=2))
    monkeypatch.setattr(kills, "KILLED_AT", (0.1,))
    # To limit a process takes root.
    monkeypatch.setattr(nodes, "limited", lambda *_: nullcontext())


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, marks=pytest.mark.program("etcd", "haproxy")) if row == "13" else row for row in ROWS],
)
def test_a_row_of_the_benchmarks_can_be_measured(row: str, tmp_path: Path) -> None:
    measure = partial(ROWS[row], tmp_path, **TINY.get(row, {}))
    figures = measure()
    assert {figure.row for figure in figures} == {row}
    assert all(figure.what and figure.value for figure in figures)
