"""A judge's passport: leans, flips, agreement with people and with known answers."""

import csv
from pathlib import Path

import pytest

from carrel.evaluation.judges import human, passport
from carrel.evaluation.judges.passport import Rate
from carrel.evaluation.records import Verdict, Word
from tests.evaluation.told import CRITERIA, score, verdict, verdicts

LLMBAR = Path(__file__).with_name("llmbar.csv")
"""GPT-4 with the plain prompt on two sets of LLMBar, each pair in both orders: from princeton-nlp/LLMBar (MIT), by Zeng
and others 2024, "Evaluating large language models at evaluating instruction following", arXiv 2310.07641."""
_WORDS: dict[str, tuple[Word, Word]] = {"1": ("first", "second"), "2": ("second", "first")}


@pytest.mark.parametrize(("name", "right", "consistent"), [("Natural", 95.5, 95.0), ("Neighbor", 78.7, 93.3)])
def test_the_published_figures_of_two_orders_come_out_of_verdicts(name: str, right: float, consistent: float) -> None:
    told, gold = [], []
    with LLMBAR.open() as file:
        for number, row in enumerate(csv.DictReader(file)):
            if row["set"] == name:
                ab, ba = _WORDS[row["as_given"]][0], _WORDS[row["swapped"]][1]
                told.append(Verdict(document=f"{number}", judge="GPT-4", a="1", b="2", ab=ab, ba=ba))
                better = _WORDS[row["gold"]]
                gold.append(Verdict(document=f"{number}", judge="gold", a="1", b="2", ab=better[0], ba=better[1]))
    found = passport.agreement_with(told, gold)
    own = passport.passports(told, (), (), ())["GPT-4"]
    assert (per_cent(found), per_cent(own.consistent)) == (right, consistent)
    assert found.low is not None
    assert found.high is not None
    assert found.low < right / 100 < found.high


def per_cent(rate: Rate) -> float:
    assert rate.share is not None
    return round(100 * rate.share, 1)


def test_a_judge_that_always_takes_the_first_flips_leans_to_the_first_and_is_right_by_half() -> None:
    told = [verdict(f"d{n}", "AB", "flip") for n in range(8)]
    found = passport.passports(told, (), (), ())["judge"]
    assert (found.flips.share, found.first.share, found.consistent.share) == (1.0, 1.0, 0.0)
    assert (found.verdicts, found.flips.of, found.first.of) == (8, 8, 16)
    truth = [verdict(f"d{n}", "AB", "a", "gold") for n in range(8)]
    assert passport.agreement_with(told, truth).share == 0.5


def test_a_consistent_judge_leans_nowhere_and_its_interval_still_has_a_width() -> None:
    found = passport.passports(verdicts("AB", "aabab"), (), (), ())["judge"]
    assert (found.consistent.share, found.flips.share, found.first.share) == (1.0, 0.0, 0.5)
    assert found.consistent.low is not None
    assert found.consistent.low < 1.0
    assert found.first.low is not None
    assert found.first.low < 0.5


def test_each_document_has_one_voice_in_a_rate() -> None:
    told = [verdict("d1", pair, "flip") for pair in ("AB", "AC", "BC")] + [verdict("d2", "AB", "a")]
    found = passport.passports(told, (), (), ())["judge"].flips
    assert (found.share, found.of, found.documents) == (0.5, 4, 2)


def test_malformed_verdicts_are_counted_and_in_no_rate_and_rules_are_nobodys() -> None:
    by_rule = Verdict(document="d9", judge="judge", a="A", b="B", by_rule="a")
    told = [*verdicts("AB", "a!?"), by_rule]
    found = passport.passports(told, (), (), ())["judge"]
    assert (found.verdicts, found.invalid, found.consistent.of) == (2, 1, 1)
    assert found.consistent.low is None, "one document gives no interval"


def test_votes_are_met_on_the_same_pair_whatever_its_order_and_a_tie_counts_half() -> None:
    votes = [
        human.vote("d1", "B", "A", 1, "b"),
        human.vote("d2", "A", "B", 1, "b"),
        human.vote("d3", "A", "B", 1, "tie"),
    ]
    found = passport.passports(verdicts("AB", "aaa"), (), votes, ())["judge"].with_people
    assert (found.share, found.of, found.documents) == (0.5, 3, 3)
    assert passport.passports(verdicts("AB", "aaa"), (), (), ())["judge"].with_people.share is None


def test_leniency_is_the_mean_difference_to_the_other_judges_of_the_same_answer() -> None:
    told = [score(f"d{n}", "A", 5.0, "kind") for n in range(4)] + [score(f"d{n}", "A", 3.0, "strict") for n in range(4)]
    told += [score("d9", "A", 1.0, "kind")]
    found = passport.passports((), told, (), CRITERIA)
    kind, strict = found["kind"].leniency, found["strict"].leniency
    assert (kind.difference, strict.difference, kind.documents) == (0.5, -0.5, 4)
    assert passport.passports((), told[-1:], (), CRITERIA)["kind"].leniency.difference is None
