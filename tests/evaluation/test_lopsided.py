"""Seeded tournaments of level candidates of whom one fails rarely: how often is one of them called best?"""

import pytest

from tests.evaluation import lopsided
from tests.support import soak


@pytest.mark.parametrize("world", ["3 of 5 judges, rarely none", "first of 10 on 90 %, else last"])
def test_a_steady_lead_with_a_rare_rout_is_seldom_called_best(world: str) -> None:
    found = [lopsided.run(world, documents, 300, seed=7) for documents in (6, 12, 20)]
    assert max(one.without.share for one in found) > 0.2
    # 300 tournaments: less than three deviations of chance.
    assert max(one.ours.share for one in found) <= 0.085


@pytest.mark.soak(campaign="verdicts")
def test_the_long_campaign_of_lopsided_worlds_stays_within_its_bounds() -> None:
    for name in lopsided.WORLDS:
        for documents in lopsided.DOCUMENTS:
            one = lopsided.run(name, documents, soak.size(2000), 2026).ours
            assert one.share <= lopsided.MOST + 3 * (lopsided.MOST / one.of) ** 0.5, (name, documents, one)
