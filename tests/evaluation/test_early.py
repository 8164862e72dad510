"""Seeded tournaments of runs that may stop early: how often does the wrong one win, and what is saved?"""

import os

import numpy as np
import pytest

from carrel.evaluation.ranking.ranking import rank
from carrel.evaluation.ranking.stopping import looks
from tests.evaluation import early, simulated, vectorised
from tests.evaluation.coverage import Rate
from tests.evaluation.early import CELLS, SAVING_CELLS, SURE_CELLS, added, claims, saving, sure
from tests.evaluation.simulated import LEADS, Cell

SOAKED = int(os.environ.get("CARREL_TOURNAMENTS", "2000"))
SEEDED = tuple(Cell(documents, candidates, 1, 0.0) for documents in (20, 30) for candidates in (2, 3))


@pytest.mark.parametrize("cell", [Cell(20, 3, 1, 0.2), Cell(30, 2, 3, 0.0), Cell(60, 5, 1, 0.0)])
def test_the_simulation_s_looks_are_the_service_s(cell: Cell) -> None:
    made = simulated.tournaments(cell, "runaway", 4, np.random.default_rng(5))
    for look in looks(cell.documents)[:2]:
        found = vectorised.find(made.shares()[:, : look.documents], cell.candidates, look.part)
        for tournament in range(4):
            candidates, verdicts = simulated.told(made, tournament)
            seen = {f"d{document}" for document in range(look.documents)}
            ranking = rank(candidates, [one for one in verdicts if one.document in seen], look=look)
            assert ranking.best == (None if found.best[tournament] < 0 else candidates[found.best[tournament]])
            for row in ranking.rows:
                place = tournament, candidates.index(row.candidate)
                ours = [found.shares.low[place], found.shares.high[place]]
                assert ours == pytest.approx([row.low, row.high], abs=2e-6, nan_ok=True)


def test_looking_costs_no_more_false_winners_than_one_look_may_have() -> None:
    found = [claims(cell, 800, seed=7) for cell in SEEDED]
    for one in found:
        for field, rate in one.ours.items():
            # 200 tournaments each: about three points of chance.
            assert rate.share <= 0.08, (one.cell, field, rate)
    two = [one for one in found if one.cell.candidates == 2]
    assert early.worst(two, "peeking").share > 0.10 > 0.06 > early.worst(two, "ours").share
    assert added(one.held for one in found).share >= 0.95


def test_judges_that_are_sure_of_themselves_make_no_false_winners_either() -> None:
    found = sure(Cell(30, 2, 1, 0.0), 1000, seed=7)
    assert found.ours["level"].share <= 0.06
    assert found.peeking["level"].share > 0.08


def test_a_clear_lead_saves_half_of_the_comparisons_and_a_close_one_none() -> None:
    clear = saving(Cell(30, 3, 1, 0.0), "2 logits", 200, seed=7)
    close = saving(Cell(30, 3, 1, 0.0), "0.2 logits", 200, seed=7)
    assert clear.saved > 0.45
    assert clear.found.share > 0.97
    assert close.saved < 0.03


@pytest.mark.soak
def test_the_long_campaign_of_stopping_early_stays_within_its_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    found = [claims(cell, SOAKED, seed=2026) for cell in CELLS]
    certain = [sure(cell, SOAKED, seed=2026) for cell in SURE_CELLS]
    saved = [saving(cell, field, SOAKED // 4, seed=2026) for cell in SAVING_CELLS for field in LEADS]
    with capsys.disabled():
        print(f"\n{early.summary(found)}\n\n{early.of_sure_judges(certain)}\n\n{early.table(saved)}")
    for candidates, most in ((2, 0.05), (3, 0.05), (5, 0.05)):
        for documents in {cell.documents for cell in CELLS}:
            here = [one for one in found if one.cell[:2] == (documents, candidates)]
            worst: Rate = early.worst(here, "ours")
            # A short campaign has more chance in it.
            assert worst.share <= most + 3 * (most * (1 - most) / worst.of) ** 0.5, (documents, candidates, worst)
            assert added(one.held for one in here).share >= 0.95
    assert all(one.ours["level"].share <= 0.05 + 3 * (0.05 * 0.95 / SOAKED) ** 0.5 for one in certain)
