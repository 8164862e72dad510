"""Seeded tournaments: do the intervals hold what they promise, and is "best" said no more often wrongly than it may be?

The truth is the estimator's own target, its value over very many simulated documents; the strengths that went into the
simulation are something else, because documents and judges move them.
"""

from itertools import product

import numpy as np
import pytest

from carrel.evaluation.ranking.ranking import rank
from tests.evaluation import kept, picked, simulated, vectorised
from tests.evaluation.coverage import CELLS, FEW, MANY, MISSING, Result, drawn, pooled, run, summary, table, worst_field
from tests.evaluation.simulated import FIELDS, Cell
from tests.support import soak

SEEDED = 50
SOAKED = soak.size(2000)
CHECKED = (
    *((Cell(documents, 3, 1, 0.2), "led") for documents in (2, 3, 5, 12)),
    (Cell(4, 3, 3, 0.0), "runaway"),
    (Cell(12, 2, 1, 0.2), "runaway"),
    (Cell(12, 2, 3, 0.4), "runaway"),
    (Cell(5, 5, 1, 0.2), "twins"),
    (Cell(8, 5, 3, 0.2), "runaway"),
    (Cell(20, 3, 1, 0.0), "led"),
    (Cell(20, 5, 1, 0.2), "level"),
)


@pytest.fixture(scope="module")
def seeded() -> list[Result]:
    """Every cell once; the bootstraps are for the table of the long campaign."""
    return [run(cell, SEEDED, seed=7, bootstrapped=0.0) for cell in CELLS]


def of(results: list[Result], documents: tuple[int, ...]) -> list[Result]:
    return [result for result in results if result.cell.documents in documents]


@pytest.mark.parametrize(("cell", "field"), CHECKED)
def test_the_simulation_s_ranking_is_the_service_s(cell: Cell, field: str) -> None:
    made = simulated.tournaments(cell, field, 12, np.random.default_rng(5))
    found = vectorised.find(made.shares(), cell.candidates, said=made.said())
    for tournament in range(12):
        candidates, verdicts = simulated.told(made, tournament)
        ranking = rank(candidates, verdicts)
        assert ranking.best == (None if found.best[tournament] < 0 else candidates[found.best[tournament]])
        for row in ranking.rows:
            place = tournament, candidates.index(row.candidate)
            ours = [found.shares.low[place], found.shares.high[place]]
            ours += [found.ratings.low[place], found.ratings.high[place]]
            theirs = [row.low, row.high, row.rating_low, row.rating_high]
            wanted = [np.nan if number is None else number for number in theirs]
            assert ours == pytest.approx(wanted, abs=2e-6, nan_ok=True)


@pytest.mark.parametrize("which", ["shares", "ratings"])
def test_from_five_documents_on_intervals_hold_as_often_as_they_say(seeded: list[Result], which: str) -> None:
    for documents in MANY:
        # 1,600 intervals that depend on each other: about one point of chance on either side. A win share on few
        # documents also covers failures that so few may have missed.
        most = 1.0 if which == "shares" and documents < 12 else 0.99
        assert 0.92 <= pooled(of(seeded, (documents,)), which).share <= most
    assert 0.935 <= pooled(of(seeded, MANY), which).share <= 0.99


@pytest.mark.parametrize("which", ["shares", "ratings"])
def test_with_three_or_four_documents_they_hold_at_least_as_often(seeded: list[Result], which: str) -> None:
    assert pooled(of(seeded, FEW), which).share >= 0.92


def test_hardly_anything_is_called_best_that_is_not(seeded: list[Result]) -> None:
    for field in FIELDS:
        claims = [result.claims[field] for result in seeded if result.cell.documents in MANY]
        assert sum(rate.hits for rate in claims) <= 0.05 * sum(rate.of for rate in claims)
    assert all(rate.hits == 0 for result in of(seeded, FEW) for rate in result.claims.values())


def test_the_customary_bootstraps_do_not_hold_with_few_documents() -> None:
    result = run(Cell(3, 3, 1, 0.0), 100, seed=7, bootstrapped=1.0)
    assert result.ratings_by_document.share < 0.85
    assert result.ratings_by_comparison.share < 0.92
    assert result.ratings.share >= 0.95


@pytest.mark.soak(campaign="verdicts")
def test_the_long_campaign_stays_within_its_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    results = drawn(SOAKED)
    with capsys.disabled():
        kept.table("coverage", f"{SOAKED:,} tournaments a cell\n\n{summary(results)}\n\n{table(results)}")
    # Intervals of one tournament depend on each other; a short campaign has more chance in it.
    chance = 3 * (0.05 * 0.95 / SOAKED) ** 0.5
    for result in results:
        for which in ("shares", "ratings"):
            share = pooled([result], which).share
            assert share >= 0.935 - chance, (result.cell, which, share)
            # A win share on few documents also covers failures that so few may have missed.
            allowed = result.cell.documents < (12 if which == "shares" else 5) or result.cell.missing
            assert allowed or share <= 0.97 + chance, (result.cell, which, share)
    for missing, documents in product(MISSING, MANY):
        worst = worst_field([one for one in of(results, (documents,)) if one.cell.missing == missing])
        assert worst.share <= 0.05 + 2.5 * (0.05 * 0.95 / worst.of) ** 0.5, (missing, documents, worst)


def test_nobody_as_good_as_the_leader_is_ruled_out_because_it_was_picked() -> None:
    found = picked.run("level", 10, 12, 40, seed=7)
    assert found.ruled_out.hits <= 4
    assert found.all_held.hits >= 36


@pytest.mark.soak(campaign="verdicts")
def test_of_any_number_of_candidates_nobody_as_good_is_ruled_out_too_often(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(field, k, d, picked.run(field, k, d, SOAKED, 2026)) for field in picked.FIELDS for k, d in picked.SIZES]
    with capsys.disabled():
        kept.table("after-the-leader", f"{SOAKED:,} tournaments a row\n\n{picked.table(rows)}")
    slack = 2 * (0.05 * 0.95 / SOAKED) ** 0.5
    for field, k, d, row in rows:
        assert row.ruled_out.share <= 0.05 + slack, (field, k, d, row)
        assert row.all_held.share >= 0.95 - slack, (field, k, d, row)
