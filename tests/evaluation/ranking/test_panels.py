"""Intervals that also cover the choice of judges: by simulation, and where there is none."""

import numpy as np
import pytest

from carrel.evaluation.ranking import panels
from carrel.evaluation.ranking.cells import VerdictColumns
from carrel.evaluation.ranking.ranking import rank
from carrel.evaluation.statistics import intervals
from tests.evaluation.told import verdicts


def heard(y: "np.typing.NDArray[np.float64]") -> VerdictColumns:
    """Judges in rows, documents in columns, two candidates."""
    judges, documents = y.shape
    size = judges * documents
    return VerdictColumns(
        candidates=("A", "B"),
        documents=tuple(f"d{i}" for i in range(documents)),
        judges=tuple(f"j{i}" for i in range(judges)),
        weights=np.ones(judges),
        document=np.tile(np.arange(documents), judges),
        a=np.zeros(size, dtype=np.int64),
        b=np.ones(size, dtype=np.int64),
        judge=np.repeat(np.arange(judges), documents),
        y=y.ravel(),
        by_rule=np.zeros(size, dtype=bool),
        longer=np.full(size, np.nan),
        absent=np.full(size, -1),
    )


@pytest.mark.parametrize("documents", [12, 50])
@pytest.mark.parametrize("taste", [0.0, 0.8])
def test_another_panel_of_this_kind_lies_within_it_as_often_as_it_says(documents: int, taste: float) -> None:
    draw = np.random.default_rng([documents, round(10 * taste)])

    def chance(ahead: "np.typing.NDArray[np.float64]") -> "np.typing.NDArray[np.float64]":
        return np.asarray(1.0 / (1.0 + np.exp(-ahead)))

    everyone = 0.5 + draw.normal(0.0, (0.7**2 + taste**2) ** 0.5, 100_000)
    truth, ours, usual = float(chance(everyone).mean()), 0, 0
    for _ in range(120):
        ahead = 0.5 + draw.normal(0.0, 0.7, documents) + draw.normal(0.0, taste, (3, 1))
        y = (draw.random((2, 3, documents)) < chance(ahead)).mean(axis=0)
        share = intervals.share(y.mean(axis=0).tolist())
        for number, (low, high) in enumerate(
            [panels.bounds(panels.by_judge(heard(y)), 0, share, 0.975), share.bounds(0.975, 0.0, 1.0)]
        ):
            assert low is not None
            assert high is not None
            inside = low <= truth <= high
            ours, usual = ours + (inside and number == 0), usual + (inside and number == 1)
    assert ours / 120 >= 0.91
    assert taste == 0.0 or usual / 120 < 0.85


def test_two_judges_or_judges_of_different_weights_have_none() -> None:
    three = [vote for judge in "xyz" for vote in verdicts("AB", "aabab", judge)]
    assert rank("AB", three).rows[0].panel_low is not None
    assert rank("AB", three[:10]).rows[0].panel_low is None
    assert rank("AB", three, weights={"x": 2.0}).rows[0].panel_low is None
    assert rank("AB", three[:11]).rows[0].panel_low is None


def test_it_is_never_narrower_than_the_usual_one() -> None:
    for other in ("aabab", "bbbbb", "abbba"):
        told = [*verdicts("AB", "aabab", "x"), *verdicts("AB", other, "y"), *verdicts("AB", "aaaab", "z")]
        for row in rank("AB", told).rows:
            assert row.low is not None
            assert row.high is not None
            assert row.panel_low is not None
            assert row.panel_high is not None
            assert row.panel_low <= row.low <= row.high <= row.panel_high
