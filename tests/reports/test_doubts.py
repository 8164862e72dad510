"""Every remark that the engine can make beside a verdict reaches every reader: the report, the terminal and the app.

The material is in `doubts.py`. The app's test reads the same cases from a file, which a test here keeps current.
"""

from typing import get_args

import msgspec
import pytest
from carrel_sdk.models import Statement as Received
from rich.console import Console

from carrel.cli.interface.ranking_table import verdict_panel
from carrel.evaluation import verdict
from carrel.evaluation.remarks import Kind
from carrel.evaluation.verdict import Statement
from carrel.reports import findings, page
from carrel.runs.verdicts import combining, judgement
from carrel.runs.verdicts.judgement import Evidence
from tests.evaluation.told import verdicts
from tests.reports.doubts import APP, CASES, case, evidence, for_the_app, votes
from tests.support.html import read
from tests.support.report_inputs import report_input


def read_by_all(statement: Statement) -> tuple[str, str]:
    """The text of the report, and that of the terminal."""
    report = msgspec.structs.replace(findings.build(report_input("aab")), verdict=statement)
    console = Console(width=10_000, force_terminal=False)
    with console.capture() as capture:
        console.print(verdict_panel(msgspec.convert(msgspec.to_builtins(statement), Received)))
    return read(page.render(report).decode()).all("body")[0].text, capture.get()


@pytest.mark.parametrize("kind", CASES)
def test_a_remark_stands_in_the_report_and_in_the_terminal(kind: Kind) -> None:
    statement, remark, _ = case(kind)
    for text in read_by_all(statement):
        assert remark.sentence in text


VOTED = evidence(
    [*verdicts("AB", "a" * 12), *verdicts("AC", "a" * 12), *verdicts("BC", "a" * 12)],
    "ABC",
    votes=[*votes("bbbbb"), *votes("a" * 3, "AC"), *votes("a" * 12, "BC")],
)
"""A person likes B best, and is of the judges' mind often enough for them to be no worse than a coin."""


@pytest.mark.parametrize("found", [CASES["flips"][0], CASES["length"][0], VOTED])
def test_a_decided_verdict_with_a_serious_doubt_looks_clear_nowhere(found: Evidence) -> None:
    answered = judgement.answer(judgement.pack(found), None, None)
    statement = verdict.state(answered.ranking, answered.human)
    assert (statement.outcome, statement.doubted) == ("decided", True)
    report, terminal = read_by_all(statement)
    assert "Decided, with doubts" in report
    assert "Verdict, with doubts" in terminal


def test_with_weights_that_were_moved_the_report_calls_nothing_decided() -> None:
    statement = case("exploratory").statement
    report = findings.build(report_input("aab"))
    moved = msgspec.structs.replace(report.ranking, exploratory=True)
    report = msgspec.structs.replace(report, verdict=statement, ranking=moved)
    spans = read(page.render(report).decode()).all("span")
    chips = [one.text for one in spans if "chip" in (one.attributes.get("class") or "").split()]
    assert statement.outcome == "decided"
    assert "Exploratory" in chips
    assert not any(chip.startswith("Decided") for chip in chips)


def test_a_verdict_that_nothing_serious_speaks_against_looks_clear_everywhere() -> None:
    statement = case("nothing_missing").statement
    assert (statement.outcome, statement.doubted) == ("decided", False)
    assert not any("with doubts" in text for text in read_by_all(statement))


def test_at_most_one_doubt_stands_beside_the_sentence_with_what_settles_it() -> None:
    for kind in CASES:
        statement, _, _ = case(kind)
        doubt = statement.doubt
        assert doubt or not statement.doubted, kind
        assert doubt is None or any(doubt.startswith(note) for note in statement.notes), kind
    assert case("flips").statement.doubt == (
        "judge named the other answer in 9 of 30 pairs (30 %) when their places changed. Ten blind votes tell how far"
        " to believe it."
    )
    assert case("documents_needed").statement.doubt == "About 12 to 44 documents would decide."


def test_every_kind_of_remark_has_a_case() -> None:
    assert set(get_args(Kind)) == set(CASES)


def test_the_app_is_tested_with_the_same_cases() -> None:
    assert APP.read_bytes() == for_the_app(), "run python -m tests.reports.doubts"


def test_combined_answers_are_doubted_everywhere_too() -> None:
    answered = judgement.answer(judgement.pack(CASES["nothing_missing"][0]), None, None)
    statement = combining.cautioned(verdict.state(answered.ranking), answered.ranking, ("A",))
    for text in read_by_all(statement):
        assert combining.SELECTION in text
