"""What a run could have found, by judges that agree as its own did."""

import msgspec
import pytest

from carrel.evaluation.ranking import cells, own_power
from carrel.evaluation.ranking.power import chance_to_decide
from carrel.evaluation.ranking.ranking import rank
from carrel.evaluation.ranking.stopping import looks
from carrel.evaluation.verdict import state
from tests.evaluation.promises import JUDGES, kept
from tests.evaluation.told import verdicts

SURE = verdicts("AB", "ab" * 10)
TORN = verdicts("AB", "a=b=" * 5)


def test_documents_that_are_one_toss_of_a_coin_each_have_a_spread_of_one() -> None:
    y = cells.averaged(cells.gathered("AB", SURE, {}))
    # 20 values of ±1: the variance is 20/19; one toss has 4 · ½ · ½.
    assert own_power.spread(y) == pytest.approx(20 / 19)
    assert own_power.spread(y[:1]) is None


def test_a_run_says_less_by_judges_that_are_sure_than_by_such_as_are_torn() -> None:
    sure, torn = rank("AB", SURE).found_chance, rank("AB", TORN).found_chance
    assert sure is not None
    assert torn is not None
    assert sure == pytest.approx(chance_to_decide(20, 2, sure=True), abs=0.05)
    assert torn == pytest.approx(chance_to_decide(20, 2), abs=0.08)
    told = [*verdicts("AB", "ab" * 9), *verdicts("AB", "." * 18 + "aa")]
    said = state(rank("AB", told)).notes[-1]
    assert said.startswith("If judges like these truly preferred one candidate in 69 %")
    assert said.endswith("of 100 runs over 20 documents would find it.")
    on_its_way = msgspec.structs.replace(looks(60)[0], documents=20)
    assert any("over 60 documents" in note for note in state(rank("AB", told, look=on_its_way)).notes)


def test_too_few_documents_say_nothing() -> None:
    assert rank("AB", verdicts("AB", "abab")).found_chance is None
    assert rank("AB", verdicts("AB", "a" * 9)).found_chance is None


@pytest.mark.parametrize("judges", ["decides anew", "always says the same", "three that decide anew"])
def test_it_is_about_what_fresh_runs_by_the_same_judges_find(judges: str) -> None:
    found = kept(JUDGES[judges], 3, 20, 200)
    # 200 runs have 3.5 points of chance, and the table is about 5 points off.
    assert found.told == pytest.approx(found.found, abs=0.1)
    assert found.told_level == pytest.approx(found.found, abs=0.11)
    assert found.held >= 0.7
