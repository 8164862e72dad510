"""What answered is a model at a host: somebody's own server is not `openai:gpt-5`, whatever its key is for.

A user can write twenty lines that prefer their own answers, and store a key with their address. All that people and
signatures rely on has to say so.
"""

import asyncio
import csv
import io
import json
import zipfile
from collections.abc import AsyncIterator, Collection, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from carrel.cli.main import main
from carrel.config import Settings
from carrel.keys import store as keys
from carrel.keys.store import ProviderKeyIn
from carrel.kit.sqlite.database import Connection
from carrel.runs.costs.quotes import Credits
from carrel.runs.model.setup import Setup
from carrel.runs.tasks import claims
from carrel.runs.tasks.claims import ClaimResult
from tests.support.host import Host, code_of
from tests.support.own_hosts import own_hosts
from tests.support.preferring_server import PICK, Preferring, preferring
from tests.support.web_runs import completed, content

Json = dict[str, Any]
MODEL = "openai:gpt-5"
"""Its list price is known, and it judges."""
KEYS = "/api/provider-keys"


@pytest.fixture
async def forger() -> AsyncIterator[Preferring]:
    async with preferring() as server:
        yield server


@pytest.fixture
async def genuine() -> AsyncIterator[Preferring]:
    """Stands in for the provider's own host."""
    async with preferring() as server:
        with own_hosts({"openai": server.key["base_url"]}):
            yield server


@pytest.fixture
def settings(settings: Settings, forger: Preferring, genuine: Preferring) -> Settings:
    return replace(settings, provider_hosts=(forger.host, genuine.host))


@pytest.fixture
async def ada(host: Host, client: httpx.AsyncClient, genuine: Preferring) -> httpx.AsyncClient:
    client.headers.update(await host.signed_in("ada"))
    await lead_to(client, genuine)
    return client


async def lead_to(ada: httpx.AsyncClient, server: Preferring) -> None:
    assert (await ada.post(KEYS, json=server.key)).status_code == 201


async def inputs(ada: httpx.AsyncClient, number: int = 12) -> list[str]:
    return [await content(ada, {}, "input_document", f"Answer me {n}.") for n in range(number)]


async def forged(ada: httpx.AsyncClient, documents: list[str]) -> Json:
    """Two candidates whose answers are there already, one of which says what the judge prefers."""
    texts = {
        text: {one: await content(ada, {}, "output_document", f"{text} {n}") for n, one in enumerate(documents)}
        for text in (PICK, "Honest")
    }
    labels = {PICK: f"{MODEL} (ours)", "Honest": "theirs"}
    return {
        "inputs": documents,
        "generation": {"candidates": [{"label": labels[text], "existing": found} for text, found in texts.items()]},
        "comparison": {"judges": [{"model": MODEL}]},
    }


async def answering(ada: httpx.AsyncClient, documents: list[str]) -> Json:
    """The model answers and judges; the other candidate has its answers."""
    existing = {one: await content(ada, {}, "output_document", "Honest.") for one in documents}
    return {
        "inputs": documents,
        "instructions": await content(ada, {}, "generation_instructions", "Be short about {{document}}"),
        "generation": {"candidates": [{"label": "ours", "model": MODEL}, {"label": "theirs", "existing": existing}]},
        "comparison": {"judges": [{"model": MODEL}]},
    }


async def shown(ada: httpx.AsyncClient, path: str, **params: str) -> Json:
    answer = await ada.get(f"/api/{path}", params=params)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def verified(folder: Path, receipt: bytes, *words: str) -> str:
    file = folder / "receipt.json"
    file.write_bytes(receipt)
    result = CliRunner().invoke(main, ["verify-receipt", str(file), *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


async def test_everything_that_people_and_signatures_rely_on_tells_the_host_of_a_forged_judge(
    ada: httpx.AsyncClient, forger: Preferring, tmp_path: Path
) -> None:
    await lead_to(ada, forger)
    run = await completed(ada, await forged(ada, await inputs(ada)))
    path, judge = f"runs/{run['id']}", f"{MODEL} at {forger.host}"
    assert f"{MODEL} (ours) is best" in run["verdict"]
    assert run["hosts"] == {MODEL: forger.host}
    assert (run["spend"]["cost"], run["spend"]["unknown_calls"]) == ("0", 24), "no list price for another's server"

    ranking = await shown(ada, f"{path}/ranking")
    assert ranking["ranking"]["judges"] == [judge]
    tasks = await shown(ada, f"{path}/tasks", kind="compare", limit="200")
    assert {task["judge"] for task in tasks["items"]} == {judge}
    report = await shown(ada, f"{path}/report")
    assert [(one["judge"], one["model"], one["host"]) for one in report["judges"]] == [(judge, MODEL, forger.host)]
    assert [(row["model"], row["host"]) for row in report["spend"]["rows"]] == [(MODEL, forger.host)]
    page = (await ada.get(f"/api/{path}/report", params={"format": "html"})).text
    assert page.count(judge) >= 3, "among the judges, their passports and the account"
    receipt = await ada.get(f"/api/{path}/receipt")
    signed = receipt.json()["receipt"]
    assert [(one["name"], one["model"], one["host"]) for one in signed["judges"]] == [(judge, MODEL, forger.host)]
    assert [(one["label"], one["host"]) for one in signed["candidates"]] == [
        (f"{MODEL} (ours)", None),
        ("theirs", None),
    ]
    assert signed["evidence"]["comparison_weights"] == {judge: 1.0}
    text = verified(tmp_path, receipt.content)
    assert f"judge {judge}\n" in text
    assert f"candidate {MODEL} (ours): answers that were there before\n" in text
    board = await shown(ada, "evaluation/leaderboard")
    assert board["judges"] == [judge]
    (passport,) = (await shown(ada, "evaluation/judges"))["items"]
    assert (passport["model"], passport["host"], passport["cost_per_verdict"]) == (MODEL, forger.host, None)
    assert (await shown(ada, f"evaluation/judges/{MODEL}"))["host"] == forger.host
    calls = await shown(ada, "metering/calls")
    assert {(row["host"], row["price_id"], row["cost"]) for row in calls["items"]} == {(forger.host, None, None)}
    (usage,) = (await shown(ada, "metering/usage", group_by="model"))["items"]
    assert (usage["model"], usage["host"]) == (MODEL, forger.host)
    model = await shown(ada, f"models/{MODEL}")
    assert (model["host"], model["prices"], model["context_tokens"]) == (forger.host, None, None)


async def test_a_candidate_that_somebody_s_own_server_answered_for_is_told_with_its_host(
    ada: httpx.AsyncClient, forger: Preferring, tmp_path: Path
) -> None:
    await lead_to(ada, forger)
    configuration = await answering(ada, await inputs(ada, 6))
    estimate = (await ada.post("/api/runs?dry_run=true", json={"configuration": configuration})).json()
    assert (estimate["likely_cost"], estimate["known_part"]["unpriced_models"]) == (None, [MODEL])
    refused = await ada.post("/api/runs", json={"configuration": configuration | {"limits": {"budget": "1"}}})
    assert code_of(refused) == "budget-unpriced"
    run = await completed(ada, configuration)
    path = f"runs/{run['id']}"
    note = f"ours was answered at {forger.host}, not at "
    ranking = await shown(ada, f"{path}/ranking")
    assert ranking["hosts"] == {"ours": forger.host}
    assert [words for words in ranking["verdict"]["notes"] if words.startswith(note)]
    # A worker makes the report, where the provider's own host has its own name.
    report = await shown(ada, f"{path}/report")
    assert [(one["candidate"], one["host"]) for one in report["candidates"]] == [
        ("ours", forger.host),
        ("theirs", None),
    ]
    assert [words for words in report["verdict"]["notes"] if words.startswith(note)]
    page = (await ada.get(f"/api/{path}/report", params={"format": "html"})).text
    assert f"<bdi>{MODEL} at {forger.host}</bdi>" in page
    receipt = await ada.get(f"/api/{path}/receipt")
    text = verified(tmp_path, receipt.content)
    assert f"candidate ours: {MODEL} at {forger.host}\n" in text
    assert f"“{note}" in text
    assert "candidates[0]: label ours" in text.partition(f"“{note}")[2], "the note follows from the candidates"
    tasks = (await shown(ada, f"{path}/tasks", kind="generate"))["items"]
    answers = [await shown(ada, f"{path}/generated/{task['generated_id']}") for task in tasks]
    found = {(one["candidate"], one["model"], one["host"]) for one in answers}
    assert found == {("ours", MODEL, forger.host), ("theirs", None, None)}
    board = await shown(ada, "evaluation/leaderboard")
    assert [(one["candidate"], one["host"]) for one in board["candidates"]] == [("ours", forger.host), ("theirs", None)]
    assert [words for words in board["verdict"]["notes"] if words.startswith(note)]
    await ada.post(f"/api/{path}/export")
    async with asyncio.timeout(60):
        while (archive := await ada.get(f"/api/{path}/export")).status_code == 409:
            await asyncio.sleep(0.02)
    with zipfile.ZipFile(io.BytesIO(archive.content)) as files:
        rows = list(csv.DictReader(io.StringIO(files.read("calls.csv").decode())))
        assert json.loads(files.read("configuration.json"))["hosts"] == {MODEL: forger.host}
    assert {row["host"] for row in rows} == {forger.host}

    # Own prices are the user's word, also about their own server.
    await ada.put(f"/api/model-prices/{MODEL}", json={"input_per_million": "1", "output_per_million": "0"})
    priced = await completed(ada, configuration | {"limits": {"budget": "1"}})
    assert priced["spend"] == {"cost": "0.00018", "unknown_calls": 0, "reused": 0}


async def test_servers_of_one_s_own_have_names_and_every_record_has_name_and_host(
    ada: httpx.AsyncClient, genuine: Preferring, forger: Preferring, tmp_path: Path
) -> None:
    servers = {"together": genuine, "lan-vllm": forger}
    configuration = await answering(ada, await inputs(ada, 3))
    models = [{"label": name, "model": f"{name}:gpt-5"} for name in servers]
    configuration |= {"generation": {"candidates": models}, "comparison": {"judges": [{"model": "together:gpt-5"}]}}
    made = (await ada.post("/api/runs", json={"configuration": configuration})).json()
    assert code_of(await ada.post(f"/api/runs/{made['id']}/start")) == "provider-key-missing"
    for name, server in servers.items():
        assert (await ada.post(KEYS, json=server.key | {"provider": name})).status_code == 201
    await ada.put("/api/model-prices/lan-vllm", json={"input_per_million": "1", "output_per_million": "0"})
    run = await completed(ada, configuration)
    path, judge = f"runs/{run['id']}", f"together:gpt-5 at {genuine.host}"
    assert run["hosts"] == {f"{name}:gpt-5": server.host for name, server in servers.items()}
    calls = (await shown(ada, "metering/calls"))["items"]
    assert {(one["model"], one["host"], one["cost"]) for one in calls} == {
        ("together:gpt-5", genuine.host, None),
        ("lan-vllm:gpt-5", forger.host, "0.00001"),
    }
    ranking = await shown(ada, f"{path}/ranking")
    assert ranking["ranking"]["judges"] == [judge]
    text = verified(tmp_path, (await ada.get(f"/api/{path}/receipt")).content)
    assert f"judge {judge}\n" in text
    assert f"candidate lan-vllm: lan-vllm:gpt-5 at {forger.host}\n" in text
    (passport,) = (await shown(ada, "evaluation/judges"))["items"]
    assert (passport["model"], passport["host"]) == ("together:gpt-5", genuine.host)
    limits = {one["provider"] for one in (await shown(ada, "rate-limits"))["items"]}
    assert {"openai", "together", "lan-vllm"} <= limits
    wanted = {"concurrency": 2}
    changed = [(await ada.put(f"/api/rate-limits/{name}", json=wanted)).status_code for name in ("together", "other")]
    assert changed == [200, 404]

    # A name that is given to another server keeps apart what each of them answered.
    assert (await ada.delete(f"{KEYS}/lan-vllm")).status_code == 204
    assert code_of(await ada.post(f"/api/runs/{made['id']}/start")) == "provider-key-missing"
    assert (await ada.post(KEYS, json=genuine.key | {"provider": "lan-vllm"})).status_code == 201
    again = await completed(ada, configuration, reuse=True)
    assert (again["hosts"]["lan-vllm:gpt-5"], again["spend"]["reused"]) == (genuine.host, 3)
    assert (await shown(ada, path))["hosts"] == run["hosts"]


async def test_the_same_name_at_two_hosts_is_two_models(
    ada: httpx.AsyncClient, genuine: Preferring, forger: Preferring
) -> None:
    configuration = await answering(ada, await inputs(ada, 6))
    first = await completed(ada, configuration)
    assert (first["hosts"], float(first["spend"]["cost"]) > 0) == ({}, True)
    assert (await shown(ada, f"models/{MODEL}"))["prices"]["source"].startswith("genai-prices")
    await lead_to(ada, forger)
    second = await completed(ada, configuration, reuse=True)
    assert (second["spend"]["reused"], len(forger.asked)) == (0, 6 + 12), "an answer of another host is another answer"
    again = await completed(ada, configuration, reuse=True)
    assert (again["spend"]["reused"], again["hosts"], len(forger.asked)) == (18, {MODEL: forger.host}, 18)
    board = await shown(ada, "evaluation/leaderboard")
    assert [one["id"] for one in board["runs"]] == [again["id"], second["id"]]
    assert [[one["id"] for one in other["runs"]] for other in board["others"]] == [[first["id"]]]
    judges = (await shown(ada, "evaluation/judges"))["items"]
    assert [(one["model"], one["host"], one["runs"]) for one in judges] == [(MODEL, None, 1), (MODEL, forger.host, 2)]
    assert [one["in_runs"]["verdicts"] for one in judges] == [6, 12]
    assert [one["cost_per_verdict"] is None for one in judges] == [False, True]
    against = (await shown(ada, f"runs/{second['id']}/report", against=first["id"]))["against"]
    changed = {"candidate": "ours", "here": f"{MODEL} at {forger.host}", "there": MODEL}
    assert against["changes"]["models"] == [changed]
    # The passport is that of the host to which the key leads, or of the one that is asked for.
    await lead_to(ada, genuine)
    assert (await shown(ada, f"evaluation/judges/{MODEL}"))["host"] is None
    assert (await shown(ada, f"evaluation/judges/{MODEL}", host=forger.host))["runs"] == 2
    assert (await ada.get(f"/api/evaluation/judges/{MODEL}", params={"host": "elsewhere.example"})).status_code == 404


async def test_a_key_that_is_changed_in_the_middle_of_a_run_hides_nobody_who_answered(
    ada: httpx.AsyncClient, genuine: Preferring, forger: Preferring
) -> None:
    configuration = await answering(ada, await inputs(ada, 3)) | {"limits": {"concurrency": 1, "max_attempts": 1}}
    made = (await ada.post("/api/runs", json={"configuration": configuration})).json()
    path = f"/api/runs/{made['id']}"
    assert made["hosts"] == {}
    await lead_to(ada, forger)
    forger.go_on.clear()
    started = (await ada.post(f"{path}/start")).json()
    assert started["hosts"] == {MODEL: forger.host}, "it is the key at the start that counts"
    async with asyncio.timeout(60):
        while not forger.asked:
            await asyncio.sleep(0)
    assert (await ada.post(f"{path}/pause")).status_code == 202
    await lead_to(ada, genuine)
    forger.go_on.set()
    await ada.post(f"{path}/resume")
    async with asyncio.timeout(60):
        while (run := (await ada.get(path)).json())["state"] != "completed":
            await asyncio.sleep(0.02)
    assert (len(forger.asked), len(genuine.asked)) == (1, 2 + 6)
    both = ", ".join(sorted([forger.host, genuine.host]))
    assert run["hosts"] == {MODEL: both}
    ranking = (await ada.get(f"{path}/ranking")).json()
    assert (ranking["hosts"], ranking["ranking"]["judges"]) == ({"ours": both}, [MODEL])
    assert f"ours was answered at {both}, not only at {genuine.host}." in ranking["verdict"]["notes"]
    tasks = (await ada.get(f"{path}/tasks", params={"kind": "generate"})).json()["items"]
    ours = [task for task in tasks if task["candidate"] == "ours"]
    answers = [(await ada.get(f"{path}/generated/{task['generated_id']}")).json() for task in ours]
    ports = {str(forger.port): forger.host, str(genuine.port): None}
    assert [ports[one["body"].split()[4].strip(".")] for one in answers] == [one["host"] for one in answers]
    assert sum(one["host"] is not None for one in answers) == 1


async def test_no_call_goes_to_another_host_than_the_one_that_was_recorded_for_it(
    ada: httpx.AsyncClient, genuine: Preferring, forger: Preferring, monkeypatch: pytest.MonkeyPatch
) -> None:
    await lead_to(ada, forger)
    claim, changes = claims.claim, list[ClaimResult]()

    def then_the_key_changes(
        conn: Connection, setup: Setup, permits: Mapping[str, int], paying: Credits, held: Collection[str]
    ) -> ClaimResult:
        made = claim(conn, setup, permits, paying, held)
        if made.attempts and not changes:
            changes.append(made)
            keys.put(conn, ProviderKeyIn(**genuine.key), (genuine.host,))
        return made

    monkeypatch.setattr(claims, "claim", then_the_key_changes)
    run = await completed(ada, await answering(ada, await inputs(ada, 2)) | {"limits": {"max_attempts": 1}})
    assert (run["hosts"], forger.asked, len(genuine.asked)) == ({}, [], 2 + 4)
    calls = (await shown(ada, "metering/calls"))["items"]
    withheld = [call for call in calls if call["host"] == forger.host]
    assert len(withheld) == len(changes[0].attempts) > 0
    assert {(call["code"], call["cost"]) for call in withheld} == {("provider-key-changed", "0")}


async def test_who_only_failed_to_answer_is_not_named(
    ada: httpx.AsyncClient, genuine: Preferring, forger: Preferring
) -> None:
    configuration = await answering(ada, await inputs(ada, 2)) | {"limits": {"max_attempts": 1}}
    await lead_to(ada, forger)
    forger.status = 400
    made = (await ada.post("/api/runs", json={"configuration": configuration})).json()
    path = f"/api/runs/{made['id']}"
    await ada.post(f"{path}/start")
    async with asyncio.timeout(60):
        while (run := (await ada.get(path)).json())["state"] == "running":
            await asyncio.sleep(0.02)
    assert (run["hosts"], len(forger.asked)) == ({MODEL: forger.host}, 2)
    await lead_to(ada, genuine)
    await ada.post(f"{path}/retry")
    async with asyncio.timeout(60):
        while (run := (await ada.get(path)).json())["state"] == "running":
            await asyncio.sleep(0.02)
    assert (run["state"], run["hosts"]) == ("completed", {})


async def test_single_calls_and_checks_of_judges_tell_who_answered(
    ada: httpx.AsyncClient, genuine: Preferring, forger: Preferring
) -> None:
    compare = {"judge": {"model": MODEL}, "document": "d", "a": PICK, "b": "no"}
    checks = []
    for server, host in ((genuine, None), (forger, forger.host)):
        await lead_to(ada, server)
        said = (await ada.post("/api/generation", json={"model": MODEL, "prompt": "Answer me"})).json()
        assert (said["host"], said["cost"] is None) == (host, host is not None)
        assert (await ada.post("/api/evaluation/compare", json=compare)).json()["host"] == host
        checks.append((await ada.post("/api/evaluation/judges/check", json={"judge": {"model": MODEL}})).json())
        assert (checks[-1]["host"], checks[-1]["finished_at"] is None) == (host, False)
    found = (await shown(ada, "evaluation/judges"))["items"]
    assert [(one["host"], one["check"]["id"]) for one in found] == [(one["host"], one["id"]) for one in checks]
