"""Judges that nobody should trust: the short form of the campaign behind `docs/coverage`."""

import pytest

from tests.evaluation import kept
from tests.evaluation.judged import SIZES, WORLDS, run, table
from tests.support import soak

SOAKED = soak.size(2000)
SOUND = tuple(name for name, world in WORLDS.items() if max(world.strengths) > 0)


@pytest.mark.parametrize(
    "name", ["nine of ten verdicts flip", "all judges of A's family", "a judge of length alone, A longer"]
)
def test_nobody_is_best_by_judges_that_cannot_be_trusted(name: str) -> None:
    found = run(WORLDS[name], 20, 12, seed=7)
    assert found.before.share > 0.05
    assert (found.after.hits, found.doubted.share) == (0, 1.0)


def test_sound_judges_are_not_doubted() -> None:
    found = run(WORLDS["three sound judges, A better"], 12, 12, seed=7)
    assert found.after == found.before
    assert found.doubted.hits == 0


@pytest.mark.soak(campaign="verdicts")
def test_no_world_of_judges_names_a_wrong_one_more_often_than_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {(name, documents): run(WORLDS[name], documents, SOAKED, 2026) for name in WORLDS for documents in SIZES}
    with capsys.disabled():
        kept.table("judges", f"{SOAKED:,} tournaments a row\n\n{table(rows)}")
    for (name, documents), row in rows.items():
        if name in SOUND:
            # An answer that is better is told from one that is longer only where it is shorter.
            most = 0.05 if WORLDS[name].longer else 0.01
            assert row.before.share - row.after.share <= most, (name, documents, row)
        else:
            assert row.after.share <= 0.05 + 2 * (0.05 * 0.95 / row.after.of) ** 0.5, (name, documents, row)
