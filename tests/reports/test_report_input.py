"""What is gathered of a run that the engine made, and how much of it a report takes in."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from carrel.errors import NotFound
from carrel.kit.sqlite.database import Connection
from carrel.providers.base import Answer, CompareMatter, GenerateMatter, ModelRequest
from carrel.reports import findings, report_input
from carrel.reports.report import Report
from carrel.reports.report_input import ReportInput
from carrel.runs.engine import commands, reevaluate
from carrel.runs.model.schemas import ReevaluateIn
from carrel.runs.model.setup import RunId
from carrel.runs.verdicts import evidence
from tests.support.engine import EngineHarness, engine_harness
from tests.support.models import TestModels, fails, honest, said, said_json
from tests.support.workspace import SETTINGS


def gathered(conn: Connection, run_id: RunId, number: int | None = None, room: int = 1_000_000) -> ReportInput:
    chosen = report_input.find(conn, run_id, number)
    assert chosen is not None
    found = report_input.gather(conn, chosen.seq, chosen.setup, room)
    return replace(found, evidence=evidence.collect(conn, chosen.setup))


async def report_of(harness: EngineHarness, run_id: RunId, *how: Any) -> Report:
    return findings.build(await harness.read(gathered, run_id, *how))


def shared(report: Report) -> bytes:
    """Everything but what is a run's own."""
    raw: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(report))
    return msgspec.json.encode({**raw, "run": None})


def first_always(request: ModelRequest) -> Answer:
    if isinstance(request.matter, CompareMatter):
        return said_json({"reason": "It stands in front.", "winner": "first"})
    return honest(request)


def two_refuses(request: ModelRequest) -> Answer:
    if isinstance(request.matter, GenerateMatter) and request.model == "two":
        return said("", "refused")
    return honest(request)


def two_fails(request: ModelRequest) -> Answer:
    if isinstance(request.matter, GenerateMatter) and request.model == "two":
        fails("provider-refused", retryable=False)
    return honest(request)


async def test_a_whole_run_is_in_its_report(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run = await harness.finished(documents=3)
        report = await report_of(harness, run.id)
        assert report.run.id == run.id
        assert run.verdict == report.verdict.text
        assert [document.name for document in report.documents] == ["Document 1", "Document 2", "Document 3"]
        answer = report.documents[2].answers[1]
        assert (answer.candidate, answer.delivered, answer.finish_reason) == ("test:two", True, "stop")
        assert (answer.text or "").startswith("What two makes of")
        assert answer.marks[0].said == "So it is."
        verdicts = report.documents[0].verdicts
        assert verdicts is not None
        assert [(one.fate, one.said_ab, one.said_ba) for one in verdicts] == [("agreed", "So it is.", "So it is.")]
        assert set(report.run.generated) == {f"r1.generate.d{d}.c{c}.s1" for d in (1, 2, 3) for c in (1, 2)}
        assert report.configuration.instructions == ("Summarise this.\n\n{{document}}",)
        assert report.spend.calls == run.progress.total
        assert {row.kind: row.calls for row in report.spend.rows} == {"generate": 3, "score": 6, "compare": 6}
        assert report.left_out == 0


async def test_a_judge_that_looks_at_places_is_shown_to_flip(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels(first_always)) as harness:
        report = await report_of(harness, (await harness.finished()).id)
        assert [document.flips for document in report.documents] == [1, 1]
        health = report.judges[0].health
        assert health is not None
        assert (health.flips, health.flips_to_first) == (2, 2)


async def test_a_refused_answer_loses_by_rule_and_is_shown(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels(two_refuses)) as harness:
        report = await report_of(harness, (await harness.finished()).id)
        answer = report.documents[0].answers[1]
        assert (answer.finish_reason, answer.delivered, answer.text) == ("refused", False, "")
        assert answer.marks[0].fate == "by_rule"
        verdicts = report.documents[0].verdicts
        assert verdicts is not None
        assert (verdicts[0].by_rule, verdicts[0].fate) == ("a", "by_rule")
        assert report.candidates[1].delivered == 0


async def test_what_failed_and_what_was_left_out_for_it_is_listed(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels(two_fails)) as harness:
        run_id = await harness.start()
        await harness.ended(run_id)
        report = await report_of(harness, run_id)
        states = {(trouble.kind, trouble.state, trouble.error) for trouble in report.troubles}
        assert ("generate", "failed", "provider-refused") in states
        assert ("score", "skipped", "answer-missing") in states
        assert report.documents[0].answers[1].error == "provider-refused"


async def test_a_run_that_was_killed_reports_the_same_as_one_that_was_not(tmp_path: Path) -> None:
    async with engine_harness(tmp_path / "undisturbed", TestModels()) as harness:
        undisturbed = await report_of(harness, (await harness.finished(documents=4)).id)
    models = TestModels()
    async with engine_harness(tmp_path / "killed", models) as harness:
        models.gate.clear()
        run_id = await harness.start(documents=4)
        await models.until(4)
        await harness.die()
        models.gate.set()
        await harness.restart()
        if (await harness.run(run_id)).state == "paused":
            await harness.write(commands.resume, run_id)
        await harness.ended(run_id)
        killed = await report_of(harness, run_id)
    assert killed.run.lost_calls > 0
    assert undisturbed.run.lost_calls == 0
    assert shared(killed) == shared(undisturbed)


async def test_a_paused_run_is_reported_as_far_as_it_came(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        models.gate.clear()
        run_id = await harness.start(documents=6)
        await models.until(4)
        await harness.write(commands.pause, run_id)
        models.gate.set()
        await harness.until(run_id, "paused")
        report = await report_of(harness, run_id)
        assert not report.finished
        assert report.verdict.outcome == "nothing"
        assert report.progress.pending > 0
        assert any(answer.text is None for document in report.documents for answer in document.answers)


async def test_a_run_that_was_only_planned_has_a_report(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        report = await report_of(harness, await harness.make())
        assert (report.state, report.finished) == ("pending", False)


async def test_an_earlier_round_stays_readable(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = (await harness.finished()).id
        before = await report_of(harness, run_id)
        models.script = first_always
        await harness.write(reevaluate.reevaluate, run_id, ReevaluateIn(), harness.registry, SETTINGS)
        await harness.ended(run_id)
        first, second = await report_of(harness, run_id, 1), await report_of(harness, run_id)
        assert (first.round, second.round, second.rounds) == (1, 2, 2)
        assert first.ranking == before.ranking
        assert sum(document.flips for document in first.documents) == 0
        assert sum(document.flips for document in second.documents) == 2
        assert [answer.text for answer in second.documents[0].answers] == [
            answer.text for answer in first.documents[0].answers
        ]
        assert await harness.read(report_input.find, run_id, 3) is None


async def test_texts_beyond_the_room_are_left_out_and_counted(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run_id = (await harness.finished(documents=2)).id
        whole = await report_of(harness, run_id)
        none = await report_of(harness, run_id, None, 0)
        assert none.left_out > 0
        assert none.configuration.instructions == (None,)
        assert {answer.text for document in none.documents for answer in document.answers} == {None}
        assert {document.text for document in none.documents} == {None}
        assert none.ranking == whole.ranking
        longest = await report_of(harness, run_id, None, len("Summarise this.\n\n{{document}}") + 5)
        assert longest.configuration.instructions == whole.configuration.instructions


async def test_a_round_with_very_many_judgements_lists_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_input, "MAX_JUDGEMENTS", 1)
    monkeypatch.setattr("carrel.reports.by_document.MAX_JUDGEMENTS", 1)
    async with engine_harness(tmp_path, TestModels()) as harness:
        report = await report_of(harness, (await harness.finished()).id)
        assert report.documents[0].verdicts is None
        assert report.documents[0].answers[0].marks == ()
        assert report.ranking.documents == 2


async def test_there_is_no_report_of_what_is_not_there(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        with pytest.raises(NotFound):
            await harness.read(report_input.find, RunId("nothing"), None)
