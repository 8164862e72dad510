"""What a report says of combined answers, references and existing texts."""

import csv
import io
import zipfile
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from carrel.providers.base import CombineMatter, CompareMatter, ScoreMatter
from carrel.reports import export_parts, findings, page, report_input
from carrel.reports.archive import Archive
from carrel.reports.report import AnswerReport, Report
from carrel.runs.model.setup import RunId
from carrel.runs.verdicts import combining, evidence, whatif
from tests.support.engine import EngineHarness, engine_harness
from tests.support.models import TestModels
from tests.support.workspace import write

COMBINATION = {"candidates": [{"model": "test:four", "label": "merged"}]}


async def reported(harness: EngineHarness, run_id: RunId) -> Report:
    def gather(conn: Any) -> Report:
        chosen = report_input.find(conn, run_id, None)
        assert chosen is not None
        found = report_input.gather(conn, chosen.seq, chosen.setup)
        return findings.build(replace(found, evidence=evidence.collect(conn, chosen.setup)))

    return await harness.read(gather)


def answers(report: Report, candidate: str) -> list[AnswerReport]:
    return [answer for document in report.documents for answer in document.answers if answer.candidate == candidate]


async def test_a_report_says_from_whose_answers_a_combined_one_was_made_and_what_that_means(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run = await harness.finished(models=("test:one", "test:two", "test:three"), combination=COMBINATION)
        report = await reported(harness, run.id)
        made = report.combination
        assert made is not None
        assert (made.candidates, made.sources, made.without) == (("merged",), 2, 0)
        assert sorted(made.order) == ["test:one", "test:three", "test:two"]
        assert made.notes[1] == combining.SELECTION
        assert all(set(answer.sources) == set(made.order[:2]) for answer in answers(report, "merged"))
        assert all(answer.sources == () for answer in answers(report, "test:one"))
        html = page.render(report).decode()
        assert "Combined answers" in html
        assert "combines with" in html
        assert "made from the answers of" in html
        if "merged" in report.ranking.leaders:
            assert combining.SELECTION in report.verdict.notes
        assert {row.kind for row in report.spend.rows} == {"generate", "score", "compare", "combine"}


async def test_having_a_combined_answer_costs_its_sources_too(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run = await harness.finished(documents=1, combination=COMBINATION)
        prices = "UPDATE generated SET cost_micros = 10 * candidate"
        await harness.write(lambda conn: conn.run(prices))
        await harness.write(lambda conn: conn.run("UPDATE tasks SET cost_micros = 10 * candidate WHERE judge IS NULL"))
        costs = {one.candidate: (one.cost, one.cost_per_answer) for one in (await reported(harness, run.id)).candidates}
        assert costs["test:two"] == ("0.00002", "0.00002")
        assert costs["merged"] == ("0.00003", "0.00006")
        await harness.write(lambda conn: conn.run("UPDATE tasks SET cost_micros = NULL WHERE candidate = 1"))
        costs = {one.candidate: (one.cost, one.cost_per_answer) for one in (await reported(harness, run.id)).candidates}
        assert costs["merged"] == ("0.00003", None)


async def test_wherever_a_verdict_speaks_for_a_combined_answer_it_says_what_the_choice_does_to_it(
    tmp_path: Path,
) -> None:
    """All answers of these models are alike, so all candidates lead."""
    async with engine_harness(tmp_path, TestModels()) as harness:
        run = await harness.finished(documents=1, combination=COMBINATION)
        assert "merged" in (await reported(harness, run.id)).ranking.leaders
        plain = await harness.finished(documents=1)
        async with harness.workspace() as workspace:
            for question in (whatif.WhatIfQuestion(), whatif.WhatIfQuestion(weights='{"test:judge": 2}')):
                found = await whatif.ranking(workspace, harness.workers, run.id, question)
                assert combining.SELECTION in found.verdict.notes
                found = await whatif.ranking(workspace, harness.workers, plain.id, question)
                assert combining.SELECTION not in found.verdict.notes


async def test_a_run_that_combines_nothing_says_nothing_of_it(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run = await harness.finished(documents=1)
        report = await reported(harness, run.id)
        assert report.combination is None
        assert "Combined answers" not in page.render(report).decode()


async def test_references_are_shown_counted_and_missed(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        inputs = [await harness.write(write, f"Document {n}.", kind="input_document") for n in (1, 2)]
        gold = await harness.write(write, "What a good answer says.", kind="reference_document")
        ids = [one.id for one in inputs]
        run = await harness.finished(inputs=ids, references={ids[1]: gold.id})
        report = await reported(harness, run.id)
        assert report.configuration.references == 1
        assert [document.has_reference for document in report.documents] == [False, True]
        assert report.documents[1].reference == "What a good answer says."
        html = page.render(report).decode()
        assert "1 of 2 documents has a reference" in html
        assert "On the others they had none" in html
        assert html.count("The reference that judges held answers to") == 1


async def test_existing_texts_are_told_from_answers_that_took_a_call(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        source = await harness.write(write, "A document.", kind="input_document")
        today = await harness.write(write, "What is used today.", kind="output_document")
        candidates = [{"label": "today", "existing": {source.id: today.id}}, {"model": "test:one"}]
        run = await harness.finished(inputs=[source.id], generation={"candidates": candidates})
        report = await reported(harness, run.id)
        existing, written = report.candidates
        assert (existing.existing, existing.cost, existing.model) == (1, "0", None)
        assert written.existing == 0
        assert answers(report, "today")[0].existing
        assert "existed already" in page.render(report).decode()


async def test_an_export_holds_references_and_what_was_made_from_what(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        source = await harness.write(write, "A document.", kind="input_document", name="Guide")
        gold = await harness.write(write, "A good answer.", kind="reference_document")
        run = await harness.finished(inputs=[source.id], references={source.id: gold.id}, combination=COMBINATION)

        def packed(conn: Any) -> bytes:
            archive = Archive()
            for step in export_parts.STEPS:
                place: Any = export_parts.START
                while place is not None:
                    place = step(conn, export_parts.ExportedRun(1, run.id), archive, place)
            archive.close()
            return b"".join(archive.pieces())

        found = zipfile.ZipFile(io.BytesIO(await harness.read(packed)))
        assert found.read("references/d1-Guide.md") == b"A good answer."
        assert "generated/d1-Guide/c3-merged.md" in found.namelist()
        rows = list(csv.DictReader(io.StringIO(found.read("answers.csv").decode())))
        assert set(rows[2]["made_from"].split()) == {"r1.generate.d1.c1.s1", "r1.generate.d1.c2.s1"}
        assert rows[0]["made_from"] == ""


async def test_references_reach_every_judge_and_no_candidate_that_does_not_ask_for_them(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        inputs = [await harness.write(write, f"Document {n}.", kind="input_document") for n in (1, 2)]
        gold = await harness.write(write, "The gold of number one.", kind="reference_document")
        ids = [one.id for one in inputs]
        how = await harness.write(write, "As in {{reference}}, judge {{document}}.", kind="scoring_instructions")
        combining = await harness.write(write, "Merge like {{reference}}.", kind="combination_instructions")
        scoring = {"instructions": how.id}
        merged = COMBINATION | {"instructions": combining.id}
        await harness.finished(inputs=ids, references={ids[0]: gold.id}, scoring=scoring, combination=merged)
        for asked in models.asked:
            matter = asked.matter
            judged = isinstance(matter, ScoreMatter | CompareMatter)
            if "Document 1." in matter.document:
                assert ("The gold of number one." in asked.prompt) == (judged or isinstance(matter, CombineMatter))
            else:
                assert "gold" not in asked.prompt
            if isinstance(matter, ScoreMatter) and "Document 2." in matter.document:
                assert "As in (no reference), judge" in asked.prompt
            if isinstance(matter, ScoreMatter | CompareMatter):
                assert (matter.reference is not None) == ("Document 1." in matter.document)
