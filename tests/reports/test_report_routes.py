"""`GET /runs/{id}/report` over HTTP."""

import asyncio
from typing import Any

import httpx
import msgspec
import pytest

from carrel.kit.processes.jobs import WorkerDied, WorkerFailed, WorkerLied, WorkerTimedOut
from carrel.kit.processes.worker import Worker
from carrel.reports import rendering
from carrel.reports.report import Report
from tests.support.host import Host, code_of
from tests.support.html import assert_harmless, read
from tests.support.web_runs import ended, planned

HTML = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}
HOSTILE = (
    "Report <script>alert(1)</script> [x](javascript:alert(1)) ![y](https://evil.example/y.png) stands here, friend. "
)


async def test_a_report_says_what_the_run_found(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    run_id = await ended(client, session, documents=3)
    answer = await client.get(f"/api/runs/{run_id}/report", headers=session)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    report = msgspec.json.decode(answer.content, type=Report)
    run = (await client.get(f"/api/runs/{run_id}", headers=session)).json()
    assert report.verdict.text == run["verdict"]
    assert report.run.id == run_id
    assert msgspec.json.decode(bytes(report.run.configuration)) == run["configuration"]
    for document in report.documents:
        for written in document.answers:
            generated = f"/api/runs/{run_id}/generated/{report.run.generated[written.task_key]}"
            assert (await client.get(generated, headers=session)).json()["body"] == written.text


async def test_a_browser_gets_a_page_that_can_do_nothing(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    run_id = await ended(
        client, session, texts=(HOSTILE * 12, HOSTILE * 9), labels=("<script>x</script>", "'\"><img src=x onerror=y>"),
        document_name="<b onclick=x>", name="</title><script>1</script>", instructions="<iframe src=//evil.example>",
    )  # fmt: skip
    answer = await client.get(f"/api/runs/{run_id}/report", headers=session | HTML)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert "script" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    page = read(answer.text)
    assert_harmless(page)
    assert "alert(1)" in page.all("body")[0].text


CHOICES = [
    ("application/json", None, "application/json"),
    ("*/*", None, "application/json"),
    ("text/*", None, "text/html; charset=utf-8"),
    ("application/json;q=0.5, text/html", None, "text/html; charset=utf-8"),
    ("text/html", "json", "application/json"),
    ("image/png", "html", "text/html; charset=utf-8"),
]


async def test_the_client_chooses_the_form(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    run_id = await planned(client, session)
    for accept, form, kind in CHOICES:
        query = {} if form is None else {"format": form}
        answer = await client.get(f"/api/runs/{run_id}/report", headers=session | {"Accept": accept}, params=query)
        assert answer.headers["content-type"] == kind, (accept, form)


async def test_a_form_that_there_is_not_is_406_and_one_that_never_is_400(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    path = f"/api/runs/{await planned(client, session)}/report"
    refused = await client.get(path, headers=session | {"Accept": "application/pdf"})
    assert (refused.status_code, code_of(refused)) == (406, "not-acceptable")
    assert (await client.get(path, headers=session, params={"format": "pdf"})).status_code == 400
    assert (await client.get(path, headers=session, params={"round": 0})).status_code == 400
    assert code_of(await client.get(path, headers=session, params={"form": "html"})) == "unknown-parameter"


async def test_a_run_that_was_not_begun_has_a_report_that_says_so(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    run_id = await planned(client, session)
    report = (await client.get(f"/api/runs/{run_id}/report", headers=session)).json()
    assert (report["state"], report["finished"], report["verdict"]["outcome"]) == ("pending", False, "nothing")
    page = await client.get(f"/api/runs/{run_id}/report?format=html", headers=session)
    assert "This run is not finished." in page.text


async def test_a_run_stands_beside_another(
    client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await host.signed_in("reader-0001")
    here = await ended(client, session, name="Here", documents=3, labels=("one", "two"))
    there = await ended(
        client, session, name="There", models=("local:lead", "local:mmr"), labels=("one", "two"), instructions="Anew."
    )
    report = (await client.get(f"/api/runs/{here}/report", headers=session, params={"against": there})).json()
    against, changes = report["against"], report["against"]["changes"]
    assert (against["run"], against["finished"]) == ({"id": there, "name": "There"}, True)
    assert (report["configuration"]["instructions"], against["instructions"]) == (["Summarise."], ["Anew."])
    assert changes["instructions"] == [{"candidates": ["one", "two"], "here": 1, "there": 1}]
    assert changes["models"] == [{"candidate": "two", "here": "local:lexrank", "there": "local:mmr"}]
    assert (changes["judges"], changes["questions"]) == ({"here": [], "there": []}, [])
    assert (changes["documents_only_here"], changes["documents_only_there"]) == (1, 0)
    cells = {one["here"]: {cell["candidate"]: cell for cell in one["cells"]} for one in against["by_document"]}
    assert cells.keys() == {"d1", "d2"}
    for row in against["rows"]:
        found = [one[row["candidate"]] for one in cells.values()]
        assert row["score"]["difference"] == pytest.approx(sum(one["difference"] for one in found) / 2, abs=1e-6)
        # Each figure is that of the run's own report.
        for one in report["documents"][:2]:
            own = next(cell for cell in one["standing"] if cell["candidate"] == row["candidate"])
            assert cells[one["document"]][row["candidate"]]["here"] == own["score"]
    # The same candidate answered the same, whatever else took part; its win share did not stay.
    assert against["rows"][0]["score"]["difference"] == 0
    page = await client.get(f"/api/runs/{here}/report", headers=session | HTML, params={"against": there})
    assert "Beside another run" in page.text
    # Both runs are ranked for it, in the time of one request.
    monkeypatch.setattr(rendering, "MOST_TOGETHER", 1)
    refused = await client.get(f"/api/runs/{here}/report", headers=session, params={"against": there})
    assert (refused.status_code, [fault["path"] for fault in refused.json()["errors"]]) == (400, ["against"])


@pytest.mark.parametrize("query", [{"round": "2"}, {"against": "nothing"}])
async def test_what_is_not_there_is_404(client: httpx.AsyncClient, host: Host, query: dict[str, str]) -> None:
    session = await host.signed_in("reader-0001")
    run_id = await planned(client, session)
    answer = await client.get(f"/api/runs/{run_id}/report", headers=session, params=query)
    assert (answer.status_code, code_of(answer)) == (404, "not-found")


async def test_nobody_elses_run_has_a_report(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    run_id = await planned(client, session)
    other = await host.signed_in("reader-0002")
    own = await planned(client, other)
    for path in (f"/api/runs/{run_id}/report", "/api/runs/nothing/report", f"/api/runs/{own}/report?against={run_id}"):
        answer = await client.get(path, headers=other)
        assert (answer.status_code, code_of(answer)) == (404, "not-found")
    assert (await client.get(f"/api/runs/{run_id}/report")).status_code == 401


async def test_a_free_member_reads_reports(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    run_id = await planned(client, session)
    await client.post(
        "/api/users/reader-0001/deactivate", headers={"X-SVC-Plugin-Secret": "plugin-secret-for-tests-0123456789abcdef"}
    )
    answer = await client.get(f"/api/runs/{run_id}/report", headers=session)
    assert answer.status_code == 200


async def test_a_run_that_only_scores_is_ranked_by_scores(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    run_id = await ended(client, session, documents=6, compared=False)
    run = (await client.get(f"/api/runs/{run_id}", headers=session)).json()
    assert run["state"] == "completed"
    assert run["verdict"].startswith("Nothing was compared; by scores alone: ")
    answer = (await client.get(f"/api/runs/{run_id}/ranking", headers=session)).json()
    assert (answer["ranking"]["basis"], answer["ranking"]["documents"]) == ("scores", 6)
    assert [row["place"] for row in answer["ranking"]["rows"]] == [1, 2]
    alone = {"without_judge": "local:reader"}
    moved = (await client.get(f"/api/runs/{run_id}/ranking", params=alone, headers=session)).json()["ranking"]
    assert (moved["judges"], moved["exploratory"]) == (["local:statistician"], True)
    page = await client.get(f"/api/runs/{run_id}/report", headers=session | HTML)
    assert "this goes by scores" in page.text


async def test_a_report_that_takes_long_holds_up_nobody_s_models(
    client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, run = asyncio.Event(), asyncio.Event(), Worker.run

    async def slowly(self: Worker, fn: Any, *args: object, timeout_seconds: float | None = None) -> Any:
        if fn is not rendering.as_page:
            return await run(self, fn, *args, timeout_seconds=timeout_seconds)
        async with self._turn:
            begun.set()
            await go_on.wait()
        return b""

    monkeypatch.setattr(Worker, "run", slowly)
    ada, bob = await host.signed_in("ada"), await host.signed_in("bob")
    run_id = await planned(client, ada)
    reading = asyncio.create_task(client.get(f"/api/runs/{run_id}/report", headers=ada | HTML))
    await asyncio.wait_for(begun.wait(), 60)
    # From the first call of a model to a run's ranking.
    await asyncio.wait_for(ended(client, bob, documents=1), 60)
    assert not reading.done()
    go_on.set()
    assert (await reading).status_code == 200


@pytest.mark.parametrize("trouble", [WorkerDied, WorkerFailed, WorkerLied, WorkerTimedOut])
async def test_a_report_that_is_too_much_for_its_process_is_not_made_in_the_one_that_serves_everybody(
    client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch, trouble: type[Exception]
) -> None:
    async def killed(self: Worker, *_: Any, **__: Any) -> Any:
        raise trouble

    session = await host.signed_in("ada")
    run_id = await planned(client, session)
    monkeypatch.setattr(Worker, "run", killed)
    answer = await client.get(f"/api/runs/{run_id}/report", headers=session | HTML)
    assert (answer.status_code, code_of(answer)) == (503, "unavailable")
