"""What a report says, from report_inputs made by hand."""

import msgspec
import pytest

from carrel.reports import findings
from carrel.reports.report import Report
from tests.support.report_inputs import failed, report_input


def test_the_verdict_of_one_document_is_an_anecdote() -> None:
    report = findings.build(report_input("a"))
    assert report.verdict.outcome == "anecdote"
    assert report.verdict.grey
    assert report.ranking.rows[0].low is None


def test_three_documents_cannot_decide() -> None:
    report = findings.build(report_input("aaa"))
    assert report.verdict.outcome == "too_few"
    assert "3 documents cannot decide" in report.verdict.sentence


def test_twelve_documents_that_agree_decide() -> None:
    report = findings.build(report_input("a" * 12))
    assert report.verdict.outcome == "decided"
    assert report.ranking.best == "alpha"
    assert report.finished


def test_the_ranking_that_was_kept_is_the_one_that_is_shown() -> None:
    made = report_input("a" * 12)
    kept = msgspec.structs.replace(made, ranking=report_input("b" * 12).ranking)
    assert findings.build(made).ranking.leaders == ("alpha",)
    assert findings.build(kept).ranking.leaders == ("beta",)


def test_a_run_under_way_is_ranked_by_what_is_there_and_says_so() -> None:
    report = findings.build(report_input("aaa???", state="running", finished=False))
    assert not report.finished
    assert report.ranking.documents == 3
    assert report.progress.total == 26
    assert report.progress.pending == 6


def test_a_paused_run_says_why() -> None:
    report = findings.build(report_input("aa?", state="paused", finished=False))
    assert (report.state, report.pause_reason, report.finished) == ("paused", "user", False)


def test_an_earlier_round_is_finished_while_a_later_one_is_under_way() -> None:
    made = report_input("aaaaa", state="running")
    head = msgspec.structs.replace(made.head, rounds=2)
    assert findings.build(msgspec.structs.replace(made, head=head)).finished


def test_documents_come_in_the_order_of_the_inputs_with_their_own_figures() -> None:
    report = findings.build(report_input("abf", labels=("x", "y")))
    assert [document.document for document in report.documents] == ["d1", "d2", "d3"]
    assert [document.standing[0].win_share for document in report.documents] == [1.0, 0.0, 0.5]
    assert [document.flips for document in report.documents] == [0, 0, 1]
    assert report.documents[0].standing[0].score == 0.5


def test_a_flip_is_listed_with_both_words_and_both_reasons() -> None:
    document = findings.build(report_input("f", said="Because.")).documents[0]
    assert document.verdicts is not None
    verdict = document.verdicts[0]
    assert (verdict.fate, verdict.ab, verdict.ba) == ("flip", "first", "first")
    assert (verdict.said_ab, verdict.said_ba) == ("Because.", "Because.")


def test_pairs_average_over_documents() -> None:
    report = findings.build(report_input("aab=", labels=("x", "y", "z")))
    assert [(pair.a, pair.b, pair.share, pair.documents) for pair in report.pairs] == [
        ("x", "y", 0.625, 4), ("x", "z", 0.625, 4), ("y", "z", 0.625, 4),
    ]  # fmt: skip


def test_costs_are_decimal_strings_and_unknown_when_one_is() -> None:
    report = findings.build(report_input("aaa", costs=(1_000_001, None)))
    assert (report.candidates[0].cost, report.candidates[0].cost_per_answer) == ("3.000003", "1.000001")
    assert (report.candidates[1].cost, report.candidates[1].cost_per_answer) == (None, None)
    assert report.configuration.budget == "2.5"
    assert report.spend.cost == "0.00004"


def test_a_cost_per_answer_is_rounded_without_floats() -> None:
    made = report_input("aaa", costs=(1, 0))
    answers = (msgspec.structs.replace(made.answers[0], cost_micros=3), *made.answers[1:])
    assert findings.build(msgspec.structs.replace(made, answers=answers)).candidates[0].cost_per_answer == "0.000002"


def test_an_answer_that_failed_is_there_with_its_code() -> None:
    report = findings.build(failed(report_input("aa"), 2, 1, "provider-timeout"))
    answer = report.documents[1].answers[0]
    assert (answer.state, answer.error, answer.text) == ("failed", "provider-timeout", None)
    assert report.troubles[0].task_key == "r1.generate.d2.c1.s1"
    assert report.candidates[0].answers == 1


def test_only_the_part_named_run_tells_two_runs_of_the_same_apart() -> None:
    made = report_input("aab=f", labels=("x", "y", "z"))
    again = msgspec.structs.replace(
        made,
        head=msgspec.structs.replace(
            made.head,
            id="run-2",
            created_at="2027-01-01T00:00:00.000Z",
            started_at="2027-01-01T00:00:00.000Z",
            finished_at="2027-01-02T00:00:00.000Z",
        ),
        lost_calls=4,
        answers=tuple(msgspec.structs.replace(answer, id=f"other-{answer.key}") for answer in made.answers),
    )
    first, second = (msgspec.json.decode(msgspec.json.encode(findings.build(one))) for one in (made, again))
    assert first.pop("run") != second.pop("run")
    assert msgspec.json.encode(first) == msgspec.json.encode(second)


def test_the_order_in_which_evidence_came_does_not_show() -> None:
    made = report_input("aab=f", labels=("x", "y", "z"), finished=False)
    evidence = msgspec.structs.replace(made.evidence, scores=made.evidence.scores[::-1])
    assert findings.build(msgspec.structs.replace(made, evidence=evidence)).ranking == findings.build(made).ranking


def test_a_report_survives_json() -> None:
    report = findings.build(report_input("aab"))
    assert msgspec.json.decode(msgspec.json.encode(report), type=Report) == report


@pytest.mark.parametrize("outcomes", ["", "?", "!!"])
def test_nothing_to_compare_is_said_as_such(outcomes: str) -> None:
    report = findings.build(report_input(outcomes, scored=False, finished=False, state="running"))
    assert report.verdict.outcome == "nothing"
    assert report.pairs == ()
