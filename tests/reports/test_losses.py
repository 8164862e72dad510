"""The documents on which the other candidate is worse: which they are, and which come first."""

import pytest

from carrel.reports import findings
from carrel.reports.by_document import Voices
from carrel.reports.losses import LossCounter
from carrel.reports.report import Cell
from tests.support.report_inputs import report_input

Figures = list[tuple[float | None, float | None]]
"""Of the first and of the other one, by document."""


@pytest.mark.parametrize(
    ("shares", "scores", "checks", "worst"),
    [
        pytest.param([(0.6, 0.4), (1, 0), (None, 0), (0.2, 0.8)], [], {}, (2, 1), id="shares of pairs"),
        pytest.param([(None, None), (1, 0)], [(0.9, 0.8), (0.1, 0.9)], {}, (2, 1), id="scores where nobody compared"),
        pytest.param([], [], {"a": {1: 1, 2: 1, 4: 1}, "b": {1: 0.5, 2: 1, 3: 1, 4: 0}}, (4, 1), id="checks alone"),
    ],
)
def test_the_documents_on_which_the_other_one_is_worse_come_worst_first(
    shares: Figures, scores: Figures, checks: dict[str, dict[int, float]], worst: tuple[int, ...]
) -> None:
    counter = LossCounter("a", "b", checks)
    none = (None, None)
    heard = [
        Voices([], tuple(Cell(candidate=name, win_share=share, score=score) for name, share, score in cells), {})
        for at in range(4)
        for cells in [zip("ab", (*shares, *[none] * 4)[at], (*scores, *[none] * 4)[at], strict=True)]
    ]
    assert list(counter.watch(heard)) == heard
    assert counter.losses() == (len(worst), worst)


def test_a_decision_names_the_worst_five_and_counts_all() -> None:
    decision = findings.build(report_input("=" + "a" * 12)).decision
    assert (decision.first, decision.beside) == ("alpha", "beta")
    assert (decision.worse_on, decision.worse_total) == ((2, 3, 4, 5, 6), 12)
