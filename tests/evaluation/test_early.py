"""Seeded tournaments of runs that may stop early: how often does the wrong one win, and what is saved?"""

import numpy as np
import pytest
from msgspec.structs import replace

from carrel.evaluation.ranking.ranking import decide, rank
from carrel.evaluation.ranking.stopping import Beaten, looks
from tests.evaluation import early, kept, simulated
from tests.evaluation.coverage import Rate
from tests.evaluation.early import added, claims, grouped, saving, sure
from tests.evaluation.simulated import Cell
from tests.support import soak

SOAKED = soak.size(2000)
MOST = 0.05
SEEDED = tuple(Cell(documents, candidates, 1, 0.0) for documents in (20, 30) for candidates in (2, 3))


@pytest.mark.parametrize("cell", [Cell(20, 3, 1, 0.2), Cell(30, 2, 3, 0.0), Cell(60, 5, 1, 0.0)])
def test_the_simulation_s_looks_are_the_service_s(cell: Cell) -> None:
    """Look by look, whoever is beaten leaves, in the simulation and by the rule of the service."""
    made = simulated.tournaments(cell, "led", 3, np.random.default_rng(5))
    y = made.shares()
    ends = early.played(y, cell, looks(cell.documents), made.said(), intervals=True)
    for tournament in range(3):
        candidates, verdicts = simulated.told(made, tournament)
        beaten: tuple[Beaten, ...] = ()
        for planned in looks(cell.documents):
            look = replace(planned, beaten=beaten)
            gone = {one.candidate: one.documents for one in beaten}
            seen = [
                one
                for one in verdicts
                if int(one.document[1:]) < min(look.documents, gone.get(one.a, 999), gone.get(one.b, 999))
            ]
            decision = decide(candidates, seen, {}, look)
            ranking = rank(candidates, seen, look=look)
            if decision.decides:
                break
            leader = decision.leader or ""
            beaten += tuple(Beaten(one, leader, look.documents) for one in decision.beaten)
        best = int(ends.best[tournament])
        assert ranking.best == (None if best < 0 else candidates[best])
        assert look.documents == ends.documents[tournament]
        for row in ranking.rows:
            place = tournament, candidates.index(row.candidate)
            if row.candidate not in gone:
                ours = [ends.shares.low[place], ends.shares.high[place]]
                assert ours == pytest.approx([row.low, row.high], abs=2e-6, nan_ok=True)


def test_looking_costs_no_more_false_winners_than_one_look_may_have() -> None:
    found = [claims(cell, 600, seed=7) for cell in SEEDED]
    for one in found:
        for field, rate in one.ours.items():
            # 150 tournaments each: more than three points of chance.
            assert rate.share <= 0.1, (one.cell, field, rate)
    two = [one for one in found if one.cell.candidates == 2]
    assert early.worst(two, "peeking").share > 0.085 > 0.07 > early.worst(two, "ours").share
    assert added(one.held for one in found).share >= 0.95


def test_judges_that_are_sure_of_themselves_make_no_false_winners_either() -> None:
    found = sure(Cell(30, 2, 1, 0.0), 500, seed=7)
    assert found.ours["level"].share <= 0.07 < found.peeking["level"].share


def test_a_clear_lead_saves_nearly_half_of_the_calls_and_a_close_one_almost_none() -> None:
    clear = saving(Cell(30, 3, 1, 0.0), "2 logits", 100, seed=7)
    close = saving(Cell(30, 3, 1, 0.0), "0.2 logits", 100, seed=7)
    assert clear.saved > 0.43
    assert clear.found.share > 0.97
    assert close.saved < 0.12


def test_of_five_candidates_the_best_is_found_with_half_of_the_calls() -> None:
    found = saving(Cell(60, 5, 1, 0.0), "led", 120, seed=7)
    assert found.saved > 0.48
    assert found.found.share > 0.86
    assert found.wrong.share == 0.0


def test_looks_at_documents_that_belong_together_make_no_false_winners() -> None:
    found = grouped(Cell(60, 3, 1, 0.0), "topics", 120, seed=7)
    # 120 tournaments: two deviations of chance above 5 %.
    assert found.ours.share <= 0.09
    assert found.found.share > 0.2


@pytest.mark.soak(campaign="verdicts")
def test_the_long_campaign_of_stopping_early_stays_within_its_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    every = early.drawn(SOAKED)
    found, certain, saved = every.found, every.certain, every.saved
    with capsys.disabled():
        kept.table("early", early.tables(every))
    for kind, here in early.alike(found).items():
        worst: Rate = early.worst(here, "ours")
        # A short campaign has more chance in it.
        assert worst.share <= MOST + 3 * (MOST * (1 - MOST) / worst.of) ** 0.5, (kind, worst)
        assert added(one.held for one in here).share >= 0.95
    for one in certain:
        rate = early.worst([one], "ours")
        assert rate.share <= MOST + 3 * (MOST * (1 - MOST) / rate.of) ** 0.5, (one.cell, rate)
    reached = {(one.cell.documents, one.cell.candidates, one.field): one for one in saved}
    for key, least, calls in (
        ((60, 5, "led"), 0.90, 0.52),
        ((60, 10, "led"), 0.92, 0.52),
        ((30, 3, "1 logit"), 0.70, 0.85),
    ):
        share = reached[key].found.share
        assert share >= least - 2 * (least * (1 - least) / reached[key].found.of) ** 0.5, (key, share)
        assert 1.0 - reached[key].saved <= calls, key
