"""Why people voted so, over HTTP: kept with the vote and gone with it, private, and read for criteria."""

import asyncio
import csv
import shutil
from collections.abc import AsyncIterator
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from msgspec.structs import replace

from carrel.config import Settings
from carrel.contents import criteria
from tests.runs.verdicts.voting import LABELS, bring_in, next_pair, table_of
from tests.support.host import ADMIN
from tests.support.strict_anthropic import Anthropic
from tests.support.strict_servers import KEY, serving
from tests.support.web_runs import add_keys

HEAD = "document,first,second,verdict,voter,reason\n"


@pytest.fixture
async def judge() -> AsyncIterator[Anthropic]:
    async with serving(Anthropic("claude-one")) as server:
        yield server


@pytest.fixture
def settings(settings: Settings, judge: Anthropic, ended_run: tuple[Path, str]) -> Settings:
    shutil.copytree(ended_run[0], settings.data_dir)
    return replace(settings, provider_hosts=(judge.host,))


async def vote(ada: httpx.AsyncClient, run: str, **more: object) -> str:
    """Vote on the next pair; its id."""
    pair: str = (await next_pair(ada, run))["pair"]
    answer = await ada.post(f"{run}/votes", json={"pair": pair, "verdict": "first", **more})
    assert answer.status_code == 201, answer.text
    return pair


async def reasons(ada: httpx.AsyncClient, run: str) -> list[str]:
    return [one["reason"] for one in (await ada.get(f"{run}/votes")).json()["items"]]


async def proposal(ada: httpx.AsyncClient, run: str) -> dict[str, Any]:
    answer = await ada.get(f"{run}/criteria-proposal")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_reason_stays_with_its_vote_and_goes_with_it(ada: httpx.AsyncClient, run: str) -> None:
    first = await vote(ada, run, reason="  Shorter, and \n nothing is missing. ")
    await vote(ada, run)
    assert await reasons(ada, run) == ["", "Shorter, and \n nothing is missing."]
    pair = await vote(ada, run, reason="ü" * 500)
    assert (await ada.post(f"{run}/votes/{pair}/undo")).status_code == 200
    assert (await ada.post(f"{run}/votes", json={"pair": pair, "verdict": "tie"})).status_code == 201
    assert (await reasons(ada, run))[0] == ""
    assert (await ada.delete(f"{run}/votes/{first}")).status_code == 204
    assert (await proposal(ada, run))["votes"] == 0
    other = (await next_pair(ada, run))["pair"]
    refused = await ada.post(f"{run}/votes", json={"pair": other, "verdict": "tie", "reason": "x" * 501})
    assert (refused.status_code, [one["path"] for one in refused.json()["errors"]]) == (400, ["reason"])


async def test_votes_from_elsewhere_bring_their_reasons(ada: httpx.AsyncClient, run: str) -> None:
    a, b, c = LABELS
    table = f'{HEAD}1,{a},{b},first,Ann,"Clear, and ""polite"""\n2,{b},{c},tie,Bob,\n'
    assert (await bring_in(ada, run, table)).json()["imported"] == 2
    assert await reasons(ada, run) == ["", 'Clear, and "polite"']
    # A line that is known changes nothing.
    assert (await bring_in(ada, run, f"{HEAD}1,{a},{b},first,Ann,Other\n")).json()["known"] == 1
    assert await reasons(ada, run) == ["", 'Clear, and "polite"']
    refused = await bring_in(ada, run, f"{HEAD}3,{a},{b},first,Ann,{'x' * 501}\n")
    assert [one["path"] for one in refused.json()["errors"]] == ["line 2, reason"]


async def test_reasons_go_out_with_the_votes_and_come_in_again(ada: httpx.AsyncClient, run: str) -> None:
    await vote(ada, run, reason="It leaves out\nthe date; =1+1")
    rows = await table_of(ada, run, "votes.csv")
    text = StringIO()
    writer = csv.DictWriter(text, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)
    assert (await bring_in(ada, run, text.getvalue(), voter="Ann")).json()["imported"] == 1
    # A spreadsheet must not run it, so that an apostrophe is put in front of what looks like a formula.
    assert await reasons(ada, run) == ["It leaves out\nthe date; '=1+1", "It leaves out\nthe date; =1+1"]


async def test_a_reason_is_in_no_log_receipt_metric_or_report_and_no_judge_reads_it(
    ada: httpx.AsyncClient, run: str, judge: Anthropic, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "Zanzibarian"
    await vote(ada, run, reason=f"{secret}, I say.")
    assert secret in str((await proposal(ada, run))["unrecognised_quotes"])
    share = (await ada.post(f"{run}/share-logs")).json()["share_id"]
    await add_keys(ada, KEY, {"anthropic": judge.base_url})
    again = {"judges": [{"model": "anthropic:claude-one"}]}
    assert (await ada.post(f"{run}/reevaluate", json=again)).is_success
    async with asyncio.timeout(60):
        while (await ada.get(run)).json()["state"] == "running":
            await asyncio.sleep(0.02)
    assert judge.asked
    assert not any(secret in str(asked) for asked in judge.asked)
    for path in (f"{run}/logs", f"/api/admin/shared-logs/{share}", f"{run}/receipt", f"{run}/ranking", run):
        answer = await ada.get(path, headers=ADMIN if "admin" in path else {})
        assert answer.status_code == 200, path
        assert secret not in answer.text, path
    for accept in ("application/json", "text/html"):
        assert secret not in (await ada.get(f"{run}/report", headers={"Accept": accept})).text
    assert secret not in (await ada.get("/api/metrics", headers=ADMIN)).text
    logged = ""
    async with asyncio.timeout(60):
        # Lines are written a moment later, all of them in their order.
        while "/api/metrics" not in logged:
            await asyncio.sleep(0.02)
            logged += "".join(capsys.readouterr())
    assert f"{run.replace(run.rpartition('/')[2], '{run_id}')}/votes" in logged
    assert secret not in logged


async def test_criteria_are_proposed_from_reasons_and_notes(ada: httpx.AsyncClient, run: str) -> None:
    nothing = await proposal(ada, run)
    assert nothing == {
        "proposals": [], "least": 2, "votes": 0, "notes": 0, "rare": [], "unrecognised": 0, "unrecognised_quotes": []
    }  # fmt: skip
    a, b, c = LABELS
    said = ("Too wordy", "Shorter!", "It rambles and is rude", "Invented a date", "Hm", "", "Hm")
    lines = [f"{1 + n % 3},{(a, a, b)[n // 3]},{(b, c, c)[n // 3]},first,Ann,{reason}" for n, reason in enumerate(said)]
    assert (await bring_in(ada, run, HEAD + "\n".join(lines) + "\n")).json()["imported"] == 7
    note = {"document": 2, "candidate": a, "note": "The year is wrong. " + "x" * 1_900}
    assert (await ada.put(f"{run}/notes", json=note)).status_code == 200
    assert (await ada.put(f"{run}/notes", json=note | {"document": 1, "note": "", "starred": True})).status_code == 200
    found = await proposal(ada, run)
    assert (found["votes"], found["notes"], found["unrecognised"], found["rare"]) == (6, 1, 2, ["tone"])
    assert found["unrecognised_quotes"] == [{"kind": "vote", "document": 2, "text": "Hm"}]
    first, second = found["proposals"]
    assert first["criterion"] == {
        "name": "conciseness", "description": "Has no sentence that could be left out.", "weight": "3", "minimum": "1",
        "maximum": "5",
    }  # fmt: skip
    assert (first["votes"], first["notes"]) == (3, 0)
    assert [one["text"] for one in first["quotes"]] == ["Too wordy", "Shorter!", "It rambles and is rude"]
    assert (second["criterion"]["name"], second["criterion"]["weight"]) == ("faithfulness", "2")
    assert (second["votes"], second["notes"]) == (1, 1)
    assert [(one["kind"], one["document"], len(one["text"])) for one in second["quotes"]] == [
        ("vote", 1, len("Invented a date")),
        ("note", 2, 500),
    ]
    # The names are not among them: whoever reads them can still vote blindly.
    assert not any(label in str(found) for label in LABELS)
    assert (await ada.get("/api/runs/none/criteria-proposal")).status_code == 404


async def test_what_is_proposed_are_criteria_by_which_judges_can_judge(ada: httpx.AsyncClient, run: str) -> None:
    for _ in range(2):
        await vote(ada, run, reason="Clearer, and it leaves out nothing")
    rows = [one["criterion"] for one in (await proposal(ada, run))["proposals"]]
    body = yaml.safe_dump([{field: row[field] for field in ("name", "description", "weight")} for row in rows])
    assert [one.name for one in criteria.parse(body, 10_000)] == ["coverage", "clarity"]
    made = await ada.post("/api/contents", json={"name": "From votes", "type": "criteria", "body": body})
    assert made.status_code == 201
    again = await ada.post(f"{run}/reevaluate", json={"criteria": made.json()["id"]})
    assert again.is_success, again.text
