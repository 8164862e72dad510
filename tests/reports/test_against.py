"""One run beside another: what changed, how much each candidate differs, and on which documents."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from carrel.evaluation.ranking.grouping import Groups
from carrel.evaluation.ranking.stopping import looks
from carrel.evaluation.records import Score
from carrel.kit.sqlite.rows import as_json
from carrel.providers.base import Criterion, Parameters
from carrel.reports import findings, paired
from carrel.reports.against_report import Against, OnlyIn
from carrel.reports.report_input import ReportInput
from carrel.runs.verdicts.judgement import conclude, pack
from tests.support.report_inputs import report_input

Marks = Mapping[str, Sequence[int | None]]
"""The mark of each candidate from 1 to 5 on each document; `None` where no judge gave one."""


def beside(here: ReportInput, there: ReportInput) -> Against:
    found = findings.build(here, there).against
    assert found is not None
    return found


def marked(marks: Marks, outcomes: str | None = None, **how: Any) -> ReportInput:
    """A run that scored, and compared only if there are `outcomes`."""
    made = report_input(outcomes or "." * max(map(len, marks.values())), labels=tuple(marks), **how)
    scores = [
        Score(document=f"d{number}", judge="test:judge", candidate=label, values={"clarity": float(mark)})
        if mark is not None
        else Score(document=f"d{number}", judge="test:judge", candidate=label, fate="missing")
        for label, given_marks in marks.items()
        for number, mark in enumerate(given_marks, 1)
    ]
    return replace(made, evidence=replace(made.evidence, scores=scores))


def test_two_runs_stand_beside_each_other_by_label() -> None:
    here = report_input("aaaaa", labels=("x", "y"))
    there = report_input("bbb", labels=("y", "z"), name="Before")
    found = beside(here, there)
    assert [row.candidate for row in found.rows] == ["x", "y", "z"]
    assert found.rows[0].there is None
    assert found.rows[2].here is None
    assert (found.documents, found.shared_documents) == (3, 3)
    assert found.run.name == "Before"
    assert any("candidates differ" in note for note in found.notes)
    assert any("documents differ" in note for note in found.notes)
    assert found.changes.candidates == OnlyIn(("x",), ("z",))
    assert (found.changes.documents_only_here, found.changes.documents_only_there) == (2, 0)


def test_two_equal_runs_have_nothing_that_differs() -> None:
    found = beside(report_input("aab"), report_input("aab"))
    assert found.notes == ()
    assert all(row.here == row.there for row in found.rows)
    facts = msgspec.structs.asdict(found.changes)
    assert not any(facts.pop(name).here for name in ("candidates", "judges", "criteria"))
    assert not any(facts.values())
    assert all(row.score and row.score.difference == 0 and row.score.outcome == "undecided" for row in found.rows)


def test_a_changed_prompt_is_told_with_both_texts_even_if_there_was_room_for_neither() -> None:
    here, there = report_input("aab", instructions="Be brief."), report_input("aab", instructions="Be thorough.")
    built = findings.build(here, there)
    assert built.against is not None
    (change,) = built.against.changes.instructions
    assert (change.candidates, change.here, change.there) == (("alpha", "beta"), 1, 1)
    assert (built.configuration.instructions, built.against.instructions) == (("Be brief.",), ("Be thorough.",))
    assert built.against.notes == ("The instructions to the candidates differ.",)
    without = replace(here, instructions=dict.fromkeys(here.instructions))
    assert beside(without, replace(there, instructions=without.instructions)).changes.instructions == (change,)
    assert beside(without, here).changes.instructions == ()


def test_another_schema_of_the_answers_is_another_parameter() -> None:
    runs = []
    for schema in ({"type": "object"}, {"type": "array"}):
        made = report_input("aab")
        candidates = [{"label": "alpha", "response_schema": schema}, {"label": "beta", "response_schema": None}]
        head = replace(made.head, configuration=as_json({"generation": {"candidates": candidates}}))
        runs.append(replace(made, head=head))
    assert beside(*runs).changes.parameters == ("alpha",)
    assert beside(runs[0], runs[0]).changes.parameters == ()


def test_models_parameters_judges_questions_and_criteria_are_told_one_by_one() -> None:
    here = report_input("aab", judges=("test:old", "test:both"))
    there = report_input(
        "aab", judges=("test:new", "test:both"), criteria=(Criterion("clarity", "Anew."), Criterion("tone", "Kind."))
    )
    one, other = there.setup.candidates
    candidates = replace(one, model="test:9"), replace(other, parameters=Parameters(temperature=1.0))
    judges = [replace(judge, scoring_weight=2.0) for judge in there.setup.round.judges]
    way = replace(there.setup.round, judges=tuple(judges))
    there = replace(
        there,
        setup=replace(there.setup, candidates=candidates, round=way),
        instructions=there.instructions | {8: "Which?"},
        prompt_digests=there.prompt_digests | {8: b"Which?"},
    )
    found = beside(here, there)
    changes = found.changes
    assert [(one.candidate, one.here, one.there) for one in changes.models] == [("alpha", "test:1", "test:9")]
    assert changes.parameters == ("beta",)
    assert (changes.judges, changes.changed_judges) == (OnlyIn(("test:old",), ("test:new",)), ("test:both",))
    assert [(one.kind, one.here, one.there) for one in changes.questions] == [("compare", "Compare.", "Which?")]
    assert (changes.criteria, changes.changed_criteria) == (OnlyIn((), ("tone",)), ("clarity",))
    assert changes.instructions == ()
    assert found.notes == (
        "Candidates with the same label have other models or parameters.",
        "The criteria differ.",
        "The questions to the judges differ.",
        "The judges differ.",
    )


def test_the_same_fall_on_every_document_is_worse_and_one_that_could_be_chance_is_not() -> None:
    base = marked({"x": [4] * 16, "y": [4] * 16})
    worse, undecided = beside(marked({"x": [3] * 16, "y": [3, 5, 3, 5, 4, 4, 3, 4] * 2}), base).rows
    assert worse.score is not None
    assert undecided.score is not None
    assert (worse.score.difference, worse.score.outcome, worse.score.documents) == (-0.25, "worse", 16)
    assert worse.score.high is not None
    assert worse.score.high < 0
    assert (undecided.score.difference, undecided.score.outcome) == (-0.03125, "undecided")
    assert undecided.score.low is not None
    assert undecided.score.high is not None
    assert undecided.score.low < 0 < undecided.score.high


def test_falls_that_nobody_wrote_down_make_nobody_better() -> None:
    base = marked({"x": [3] * 40, "y": [3] * 40})
    found = beside(marked({"x": [4] * 20 + [None] * 20, "y": [4] * 38 + [None] * 2}), base)
    assert found.notes == (
        "On 20 documents, only one of the runs has a figure of a candidate: better or worse is said only if the other"
        " figure could not change that.",
    )
    hidden, told = found.rows
    assert hidden.score is not None
    assert told.score is not None
    assert (hidden.score.difference, hidden.score.outcome, hidden.score.low) == (0.25, "undecided", 0.0)
    assert (told.score.outcome, told.score.documents) == ("better", 38)
    (turned, _) = beside(base, marked({"x": [4] * 20 + [None] * 20, "y": [4] * 40})).rows
    assert turned.score is not None
    assert (turned.score.outcome, turned.score.high) == ("undecided", 0.0)


def test_where_a_run_looks_only_what_it_planned_is_missing() -> None:
    base = marked({"x": [3] * 40, "y": [3] * 40}, "a" * 40)
    here = looked(marked({"x": [4] * 20 + [None] * 20, "y": [4] * 40}, "a" * 40))
    found = beside(here, base)
    assert [row.score and row.score.outcome for row in found.rows] == ["undecided", "better"]
    assert "On 20 documents, only one of the runs has a figure" in found.notes[-1]
    # Whoever is beaten is asked nothing more.
    asked = [one for one in here.evidence.scores if one.fate == "given"]
    found = beside(replace(here, evidence=replace(here.evidence, scores=asked)), base)
    assert [row.score and row.score.outcome for row in found.rows] == ["better", "better"]
    assert found.notes == ()


def looked(run: ReportInput) -> ReportInput:
    evidence = replace(run.evidence, look=looks(len(run.documents))[-1])
    return ranked(replace(run, evidence=evidence))


def ranked(run: ReportInput) -> ReportInput:
    return replace(run, ranking=msgspec.json.encode(conclude(pack(run.evidence)).ranking))


@pytest.mark.parametrize(("lost", "outcome"), [("missing", "undecided"), ("not planned", "better")])
def test_a_win_share_is_missing_where_another_candidate_is(lost: str, outcome: str) -> None:
    won, beaten = (
        report_input(letters, labels=("x", "y", "z"), scored=False) for letters in ("a" * 15 + "b" * 25, "b" * 40)
    )
    without = tuple(
        replace(one, ab="missing", ba="missing") if one.b == "z" and int(one.document[1:]) > 15 else one
        for one in beaten.evidence.verdicts
    )
    told = [one for one in without if lost == "missing" or one.ab != "missing"]
    found = beside(won, ranked(replace(beaten, evidence=replace(beaten.evidence, verdicts=told))))
    share = found.rows[0].win_share
    assert share is not None
    assert (share.difference, share.documents, share.outcome) == (1.0, 15, outcome)
    assert any("On 25 documents, only one" in note for note in found.notes) == (lost == "missing")


@pytest.mark.parametrize(("documents", "grouped"), [(4, False), (12, True)])
def test_four_documents_or_four_groups_of_them_tell_nothing(documents: int, grouped: bool) -> None:
    here, there = (marked({"x": [mark] * documents}) for mark in (1, 5))
    if grouped:
        of = {f"d{number}": f"site {number % 4}" for number in range(1, documents + 1)}
        # The groups of either run count.
        there = replace(there, evidence=replace(there.evidence, groups=Groups(by="tag", of=of)))
    (row,) = beside(here, there).rows
    assert row.score is not None
    assert (row.score.documents, row.score.independent) == (documents, 4)
    assert (row.score.difference, row.score.outcome) == (-1.0, "undecided")


def test_documents_of_one_text_are_one_and_a_single_one_has_no_interval() -> None:
    here, there = marked({"x": [1, 3]}), marked({"x": [5, 5]})
    found = beside(replace(here, digests=(b"same", b"same")), replace(there, digests=(b"other", b"same")))
    (row,) = found.rows
    assert row.score is not None
    assert (row.score.difference, row.score.low, row.score.documents) == (-0.75, None, 1)
    assert [(one.here, one.there) for one in found.by_document] == [("d1", "d2")]


def test_win_shares_are_paired_only_where_the_same_candidates_met() -> None:
    here, there = report_input("aaaaaaa.", scored=False), report_input("bbbbbb==", scored=False)
    found = beside(here, there)
    assert (found.scale, found.no_win_share) == ("win_share", None)
    first = found.rows[0].win_share
    assert first is not None
    assert (first.documents, first.outcome) == (7, "better")
    assert first.difference == pytest.approx(6.5 / 7, abs=1e-6)
    other = report_input("bbbbbb", labels=("alpha", "gamma"), scored=False)
    found = beside(here, other)
    assert (found.scale, found.rows[0].win_share) == (None, None)
    assert {cell.difference for one in found.by_document for cell in one.cells} == {None}, (
        "its answers are shown all the same"
    )
    assert "other candidates took part" in str(found.no_win_share)
    assert "compared nothing" in str(beside(here, report_input("......", scored=False)).no_win_share)
    apart = replace(there, digests=tuple(b"else" + one for one in there.digests))
    assert "on no document of both" in str(beside(here, apart).no_win_share)


def test_a_long_list_of_documents_ends_and_says_how_many_more_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrel.reports.against.MOST_DOCUMENTS", 2)
    found = beside(marked({"x": [5, 1, 3]}), marked({"x": [3, 3, 3]}))
    assert [(one.here, one.cells[0].difference) for one in found.by_document] == [("d2", -0.5), ("d3", 0.0)]
    assert (found.more_documents, paired.MOST_DOCUMENTS) == (1, 1000)


MARK = st.one_of(st.none(), st.integers(1, 5))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.tuples(MARK, MARK, MARK, MARK), st.sampled_from("ab=f?")), min_size=1, max_size=9))
def test_the_worst_come_first_and_swapped_runs_negate_every_difference(
    rows: list[tuple[tuple[int | None, int | None, int | None, int | None], str]],
) -> None:
    x, y, other_x, other_y = ([marks[at] for marks, _ in rows] for at in range(4))
    here = marked({"x": x, "y": y}, "".join(outcome for _, outcome in rows))
    there = marked({"x": other_x, "y": other_y}, "a" * len(rows))
    found, swapped = beside(here, there), beside(there, here)
    worst = [
        min((cell.difference for cell in one.cells if cell.difference is not None), default=2.0)
        for one in found.by_document
    ]
    assert worst == sorted(worst)
    assert _negated(found) == _plain(swapped)
    for row, turned in zip(found.rows, swapped.rows, strict=True):
        for one, back in ((row.score, turned.score), (row.win_share, turned.win_share)):
            assert (one is None) == (back is None)
            if one is not None and back is not None:
                assert one.difference == -back.difference
                assert (one.low, one.high) == (_minus(back.high), _minus(back.low))
                words = {"better": "worse", "worse": "better", "undecided": "undecided"}
                assert one.outcome == words[back.outcome]
                assert one.low is None or one.high is None or one.low <= one.difference <= one.high


def _minus(value: float | None) -> float | None:
    return None if value is None else -value


def _negated(found: Against) -> dict[tuple[str, str, str], float | None]:
    return {
        (document.there, document.here, cell.candidate): _minus(cell.difference)
        for document in found.by_document
        for cell in document.cells
    }


def _plain(found: Against) -> dict[tuple[str, str, str], float | None]:
    return {
        (document.here, document.there, cell.candidate): cell.difference
        for document in found.by_document
        for cell in document.cells
    }
