"""The decision in everyday words: what it says of money and of documents, and never more than the verdict."""

from typing import Any

import pytest

from carrel.checks.definition import Check
from carrel.evaluation import passing, verdict
from carrel.evaluation.passing import AnswerMarks
from carrel.providers.base import Parameters
from carrel.reports.by_document import heard, pairs
from carrel.reports.decision import DecisionFacts, decide
from carrel.reports.report import CandidateReport, Recommendation
from carrel.runs.verdicts import judgement
from tests.evaluation.told import verdicts
from tests.reports.doubts import evidence, marks, votes

DEAR, CHEAP = "0.00085", "0.00012"


def _candidate(label: str, cost: str | None) -> CandidateReport:
    return CandidateReport(
        candidate=label, model=None, host=None, family=None, parameters=Parameters(), instructions=None, repeats=1,
        compared=True, answers=25, delivered=25, mean_words=9.0, input_tokens=0, output_tokens=0, cost=None,
        cost_per_answer=cost,
    )  # fmt: skip


def _decided(
    outcomes: str, costs: tuple[str | None, str | None] = (DEAR, CHEAP), voted: str = "", **given: Any
) -> Recommendation:
    found = evidence(verdicts("AB", outcomes), votes=votes(voted), **given)
    ranking = judgement.rank(found)
    checked = judgement.check(found) if voted else None
    documents = [f"d{number}" for number in range(1, len(outcomes) + 1)]
    return decide(
        DecisionFacts(
            ranking=ranking,
            verdict=verdict.state(ranking, checked),
            candidates=[_candidate(label, cost) for label, cost in zip("AB", costs, strict=True)],
            pairs=pairs("AB", heard(found, documents)),
            checks=None,
            human=checked,
            finished=True,
        )
    )


SAVES = "B saves 86 % ($0.12 instead of $0.85 per 1,000 answers)"
TOLD: list[tuple[str, str, dict[str, Any], str, str, int]] = [
    ("decided", "a" * 22 + "===", {}, "Take A.", f"{SAVES}, but is worse on 22 and level on 3 of 25 documents.", 3),
    ("people agree", "a" * 22 + "===", {"voted": "a" * 12}, "Take A.", f"{SAVES}, but is worse on 22", 4),
    (
        "six of ten people agree",
        "a" * 22 + "===",
        {"voted": "aaaaaabbbb"},
        "Take A.",
        f"{SAVES}, but is worse on 22",
        3,
    ),
    ("the cheap one is better", "b" * 25, {}, "Take B.", "B is better and costs 86 % less ($0.12 instead of $0.85)", 3),
    ("free", "a" * 25, {"costs": (DEAR, "0")}, "Take A.", "B is free (in place of $0.85 per 1,000 answers), but", 3),
    ("a third less", "a" * 25, {"costs": ("0.0009", "0.0006")}, "Take A.", "B saves 33 % ($0.60 instead of $0.90", 3),
    ("no price", "a" * 25, {"costs": (None, None)}, "Take A.", "B is worse on 25 of 25 documents.", 3),
    ("level", "ab" * 12, {}, "No clear difference between A and B yet.", f"{SAVES}, and is worse on 12", 0),
    ("too few", "aaa", {}, "3 documents cannot decide: A leads so far.", f"{SAVES}, and is worse on 3", 0),
]


@pytest.mark.parametrize(("outcomes", "given", "headline", "reason", "marks"), [one[1:] for one in TOLD],
                         ids=[one[0] for one in TOLD])  # fmt: skip
def test_a_decision_says_what_is_saved_and_what_is_lost(
    outcomes: str, given: dict[str, Any], headline: str, reason: str, marks: int
) -> None:
    found = _decided(outcomes, **given)
    assert (found.headline, found.marks) == (headline, marks)
    assert reason in found.reason
    assert found.sure


def test_the_one_doubt_names_what_settles_it() -> None:
    unchecked, checked = _decided("a" * 25), _decided("a" * 22 + "===", voted="a" * 12)
    assert (unchecked.doubt, unchecked.settled_by) == ("No person has checked these judges.", "votes")
    assert checked.doubt is None
    open_one = _decided("a" * 9 + "bb")
    assert (open_one.settled_by, open_one.marks) == ("documents", 1)


def test_what_a_doubt_takes_away_is_not_called_chance() -> None:
    found = _decided("a" * 12, families={"A": "x", "B": "y"}, judge_families={"judge": "x"})
    assert (found.marks, found.sure) == (1, "Not sure: a doubt stands against the lead.")
    assert _decided("a" * 9 + "bb").sure == "Not sure: chance could explain the lead."


def _checked(a: str, b: str) -> Recommendation:
    passed = {"A": a, "B": b}
    checks = (Check(name="is JSON", kind="json", required=True),)
    given = [
        AnswerMarks(place, number, one == "+", [float(one == "+")])
        for number, marked in enumerate(passed.values())
        for place, one in enumerate(marked)
    ]
    results = passing.results(checks, "AB", [f"d{number}" for number in range(30)], given, {})
    found = evidence([], measure="required", marks=[*marks("A", passed["A"]), *marks("B", passed["B"])], checked=True)
    ranking = judgement.rank(found)
    candidates = [_candidate("A", DEAR), _candidate("B", CHEAP)]
    return decide(DecisionFacts(ranking, verdict.state(ranking), candidates, (), results, None, finished=True))


def test_checks_alone_decide_like_judges() -> None:
    told = _checked("+" * 30, "-" * 9 + "+" * 21)
    assert (told.headline, told.beside, told.marks) == ("Take A.", "B", 3)
    assert told.reason.endswith("but passes 21 of 30 documents, A 30 of 30 documents.")
    assert told.sure == "More than chance explains."
    assert _checked("-" * 9 + "+" * 21, "+" * 21 + "-" * 9).reason.endswith("and passes 21 of 30 documents, as A does.")
