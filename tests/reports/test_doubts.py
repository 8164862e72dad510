"""Every doubt that the engine can have reaches every reader: it stands in the report and in the terminal.

The app shows both lists of the same statement; its own test is `Overturning.test.tsx`.
"""

from collections.abc import Callable
from typing import Any, Final, get_args, get_type_hints

import msgspec
import pytest
from carrel_sdk.ranking import Statement as Received
from rich.console import Console

from carrel.cli.interface.ranking_table import verdict_panel
from carrel.evaluation import verdict
from carrel.evaluation.judges import human
from carrel.evaluation.ranking.doubts import Distrust
from carrel.evaluation.ranking.stopping import Beaten, looks
from carrel.evaluation.records import HumanVote, Verdict
from carrel.evaluation.verdict import Statement
from carrel.reports import findings, page
from carrel.runs.judging import combining, judgement
from carrel.runs.judging.judgement import Evidence
from tests.evaluation.told import CRITERIA, score, verdicts
from tests.evaluation.told import verdict as told
from tests.support.html import read
from tests.support.report_inputs import report_input

LOOK: Final = msgspec.structs.replace(looks(30)[-1], beaten=(Beaten("C", "A", 10),))


def evidence(records: list[Verdict], candidates: str = "AB", **changes: Any) -> Evidence:
    judges = sorted({one.judge for one in records})
    weights = dict.fromkeys(judges, 1.0)
    found = Evidence(tuple(candidates), records, [], CRITERIA, weights, weights)
    return msgspec.structs.replace(found, **changes)


def long(outcomes: str, lengths: Callable[[int], tuple[int, int]]) -> list[Verdict]:
    return [
        msgspec.structs.replace(one, a_length=lengths(place)[0], b_length=lengths(place)[1])
        for place, one in enumerate(verdicts("AB", outcomes))
    ]


def votes(outcomes: str) -> list[HumanVote]:
    sides: dict[str, Any] = {"a": "a", "b": "b"}
    return [HumanVote(verdict=human.vote(f"d{i}", "A", "B", 1, sides[one])) for i, one in enumerate(outcomes, 1)]


TWO = [*verdicts("AB", "a" * 12, "x"), *verdicts("AB", "b" * 12, "y")]
APART = [*verdicts("AB", "ab" * 6, "x"), *verdicts("AB", "ba" * 6, "y")]
MISSING = [*verdicts("AB", "a" * 7 + "?" * 9), *verdicts("AC", "a" * 16), *verdicts("BC", "a" * 16)]
BEATEN = [*verdicts("AB", "a" * 30), *verdicts("AC", "a" * 10), *verdicts("BC", "a" * 10)]
HEAD = [
    *verdicts("AC", "a" * 12),
    *verdicts("AB", "b" * 12),
    *verdicts("BC", "aaaabbbbbbbb"),
    *verdicts("CD", "=" * 12),
]
HEAD += [*verdicts("AD", "a" * 12), *verdicts("BD", "b" * 12)]

DOUBTS: Final[dict[str, tuple[Evidence, str]]] = {
    "chance": (evidence([told(f"d{i}", "AB", "flip") for i in range(12)]), "judge is no better than a coin"),
    "opposed": (evidence(APART), "contradict each other"),
    "family": (
        evidence(verdicts("AB", "a" * 12), families={"A": "f", "B": "g"}, judge_families={"judge": "f"}),
        "The only judge is of A's own family (f)",
    ),
    "length": (evidence(long("a" * 12, lambda _: (90, 10))), "The longer text won 12 of 12 comparisons"),
    "missing": (evidence(MISSING, "ABC"), "Too many verdicts about A are missing"),
    "malformed": (evidence(verdicts("AB", "aaaaaaaa!!!!")), "judge stayed malformed in 33 % of what it judged."),
    "exploratory": (evidence(verdicts("AB", "a" * 12), exploratory=True), "Exploratory: the judges' weights"),
    "overturned": (evidence(verdicts("AB", "aab??")), "2 missing verdicts could overturn this."),
    "documents needed": (evidence(verdicts("AB", "aaaaaaaaabb")), "About 12 to 44 documents would decide."),
    "documents unknown": (evidence(verdicts("AB", "aabab==")), "documents would decide cannot be told yet."),
    "by scores": (
        evidence(verdicts("AB", "a" * 12), scores=[score("d1", "A", 1), score("d1", "B", 5)]),
        "By scores, B leads.",
    ),
    "head to head": (evidence(HEAD, "ABCD"), "Head to head, B won 100 % against A on 12 documents"),
    "without a judge": (evidence(TWO[:-1]), "Without x, B leads."),
    "by votes": (evidence(verdicts("AB", "a" * 12), votes=votes("b" * 12)), "By the person's 12 blind votes, B leads"),
    "looks": (evidence(BEATEN, "ABC", look=LOOK), "C was beaten by A after 10 documents"),
    "no second judge": (evidence(verdicts("AB", "a" * 6)), "There is no second judge"),
    "longer text": (evidence(long("aabb" * 5, lambda i: (9 + i % 2, 10))), "The longer text won"),
    "equal lengths": (evidence(long("aab" * 8, lambda i: (10 + i % 5, 12))), "With all answers equally long"),
    "lengths tied up": (evidence(long("aab" * 8, lambda _: (9, 12))), "length and candidate cannot be told apart."),
    "bounds": (evidence(verdicts("AB", "aab??")), "With all of them against it, the leader's win share is"),
    "nothing missing": (evidence(verdicts("AB", "a" * 6)), "No verdict is missing."),
}


def stated(found: Evidence) -> Statement:
    answered = judgement.answer(judgement.pack(found), None, None)
    return verdict.state(answered.ranking, answered.human)


def read_by_all(statement: Statement) -> tuple[str, str]:
    """The text of the report, and that of the terminal."""
    report = msgspec.structs.replace(findings.build(report_input("aab")), verdict=statement)
    console = Console(width=10_000, force_terminal=False)
    with console.capture() as capture:
        console.print(verdict_panel(msgspec.convert(msgspec.to_builtins(statement), Received)))
    return read(page.render(report).decode()).all("body")[0].text, capture.get()


@pytest.mark.parametrize("doubt", DOUBTS)
def test_a_doubt_stands_in_the_report_and_in_the_terminal(doubt: str) -> None:
    found, words = DOUBTS[doubt]
    statement = stated(found)
    (sentence,) = [one for one in (*statement.notes, *statement.checks) if words in one]
    for text in read_by_all(statement):
        assert sentence in text


def test_combined_answers_are_doubted_everywhere_too() -> None:
    answered = judgement.answer(judgement.pack(DOUBTS["nothing missing"][0]), None, None)
    statement = combining.cautioned(verdict.state(answered.ranking), answered.ranking, ("A",))
    for text in read_by_all(statement):
        assert combining.SELECTION in text


def test_every_reason_for_distrust_is_in_the_table() -> None:
    assert set(get_args(get_type_hints(Distrust)["kind"])) <= DOUBTS.keys()
