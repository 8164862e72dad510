"""The grid of a run's answers over HTTP: figures of all answers, beginnings of some, and the report without either."""

from typing import Any

import httpx
import pytest

from carrel.config import Settings
from carrel.reports import rendering
from tests.runs.findings.test_split_routes import COMPARED, ROWS, data_set, run_over
from tests.support.busy import busy_service
from tests.support.clock import FakeClock
from tests.support.models import TestModels


async def test_the_grid_has_the_figures_of_every_answer_and_the_beginnings_of_those_asked_for(
    ada: httpx.AsyncClient,
) -> None:
    run = await run_over(ada, await data_set(ada, ROWS), **COMPARED)
    report: dict[str, Any] = (await ada.get(f"{run}/report?format=json")).json()
    packed = await ada.get(f"{run}/answers", headers={"Accept-Encoding": "gzip"})
    plain = await ada.get(f"{run}/answers", headers={"Accept-Encoding": "identity"})
    assert [one.headers.get("content-encoding") for one in (packed, plain)] == ["gzip", None]
    figures = packed.json()
    assert plain.json() == figures
    labels = [one["candidate"] for one in figures["candidates"]]
    assert (figures["documents"], labels) == (len(ROWS), ["new", "today"])
    for place, candidate in enumerate(figures["candidates"]):
        standing = [document["standing"][place] for document in report["documents"]]
        assert candidate["win_share"] == [cell["win_share"] for cell in standing]
        assert candidate["score"] == []
    new, today = figures["candidates"]
    # The last row has no answer from `today`.
    assert (new["failed"], today["failed"]) == ([], [len(ROWS)])
    assert (new["checks"][0], new["checks"][6], today["checks"][0]) == (1.0, 0.0, 0.0)
    assert figures["flips"] == [] or len(figures["flips"]) == len(ROWS)

    page = (await ada.get(f"{run}/answers/beginnings?documents=10,2,2,99&words=DESKS")).json()
    assert [row["document"] for row in page["rows"]] == [2, 10]
    assert page["rows"][0]["answers"] == [ROWS[1][4][:240], "No."]
    assert page["rows"][0]["question"] == report["documents"][1]["text"][:240]
    assert page["rows"][0]["checks"] == [one["checks"] for one in report["documents"][1]["answers"]]
    assert page["found"] == list(range(1, 11))
    assert (await ada.get(f"{run}/answers/beginnings?documents=1")).json()["found"] is None
    for wrong in ("x", "1,", ",".join(["1"] * 101)):
        refused = await ada.get(f"{run}/answers/beginnings?documents={wrong}")
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "documents")


async def test_of_repeats_the_first_counts(
    settings: Settings, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with busy_service(settings, clock, TestModels(), monkeypatch) as busy:
        ada = await busy.reader()
        run = await busy.in_flight(ada, repeats=2)
        figures = await ada.get(f"/runs/{run}/answers")
        assert [one["awaited"] for one in figures["candidates"]] == [[1, 2], [1, 2]]
        busy.models.gate.set()


async def test_one_document_is_what_the_report_has_of_it(ada: httpx.AsyncClient) -> None:
    body = {"name": "c", "type": "criteria", "body": "- name: coverage\n"}
    criteria = (await ada.post("/api/contents", json=body)).json()["id"]
    scored = {"scoring": {"judges": [{"model": "local:reader"}], "criteria": criteria}}
    run = await run_over(ada, await data_set(ada, ROWS), **COMPARED, **scored)
    documents: list[dict[str, Any]] = (await ada.get(f"{run}/report?format=json")).json()["documents"]
    assert [(await ada.get(f"{run}/answers/{number}")).json() for number in range(1, len(ROWS) + 1)] == documents
    first = documents[0]
    assert first["verdicts"]
    assert first["answers"][0]["marks"]
    assert first["text"]
    for absent in (f"answers/{len(ROWS) + 1}", "answers/1?round=2"):
        assert (await ada.get(f"{run}/{absent}")).status_code == 404
    for wrong in (0, 1 << 63):
        assert (await ada.get(f"{run}/answers/{wrong}")).json()["errors"][0]["path"] == "document"

    names = (await ada.get(f"{run}/answers/beginnings?documents=2,3&answers=false")).json()["rows"]
    assert [(row["document"], row["name"], row["question"], row["answers"]) for row in names] == [
        (at, documents[at - 1]["name"], "", []) for at in (2, 3)
    ]


async def test_a_report_without_documents_says_the_same_of_everything_else(
    ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await run_over(ada, await data_set(ada, ROWS), **COMPARED)
    whole = (await ada.get(f"{run}/report?format=json")).json()
    short = (await ada.get(f"{run}/report?format=json&documents=false")).json()
    assert (whole["documents_total"], len(whole["documents"]), short["documents"]) == (len(ROWS), len(ROWS), [])
    assert short["run"] == {**whole["run"], "contents": [], "generated": {}, "outputs": {}}
    assert {**whole, "run": 0, "documents": 0} == {**short, "run": 0, "documents": 0}
    page = (await ada.get(f"{run}/report?format=html&documents=false")).text
    assert f"<dt>documents</dt><dd>{len(ROWS)}</dd>" in page
    assert "This page leaves out the documents and their answers." in page
    assert "Side by side" not in page
    assert "How it was found" in (await ada.get(f"{run}/report?format=memo")).text
    assert "leaves out the documents" not in (await ada.get(f"{run}/report?format=html")).text
    monkeypatch.setattr(rendering, "MOST_ANSWERS", 0)
    assert (await ada.get(f"{run}/report?format=json")).json() == short
