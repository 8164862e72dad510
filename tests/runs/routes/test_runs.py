"""Runs over HTTP, with the built-in models: every route, and what bad input gets."""

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from carrel.kit.sqlite.database import Connection
from carrel.runs.model.schemas import Deleted
from carrel.runs.progress import store
from tests.support.clock import FakeClock
from tests.support.host import ADMIN, PLUGIN, Host, code_of
from tests.support.run_setup import text_of

RUNS = "/api/runs"


async def write(ada: httpx.AsyncClient, kind: str, body: str, **fields: Any) -> str:
    answer = await ada.post("/api/contents", json={"name": kind, "type": kind, "body": body} | fields)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


@pytest.fixture
async def preset(ada: httpx.AsyncClient) -> str:
    fields = {
        "name": "Summaries",
        "tags": ["harbour"],
        "inputs": [await write(ada, "input_document", text_of(number)) for number in (1, 2)],
        "instructions": await write(ada, "generation_instructions", "Summarise."),
        "generation": {"candidates": [{"model": "local:lead"}, {"model": "local:random", "label": "Lot"}]},
        "scoring": {
            "judges": [{"model": "local:reader"}],
            "criteria": await write(ada, "criteria", "- name: Coverage\n- name: Clarity"),
        },
        "comparison": {"judges": [{"model": "local:reader"}, {"model": "local:statistician"}]},
    }
    answer = await ada.post("/api/presets", json=fields)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


@pytest.fixture
async def run(ada: httpx.AsyncClient, preset: str) -> str:
    """A run that has ended."""
    answer = await ada.post(f"/api/presets/{preset}/execute", json={})
    assert answer.status_code == 202, answer.text
    return await ended(ada, answer.json()["id"])


async def ended(ada: httpx.AsyncClient, run_id: str) -> str:
    async with asyncio.timeout(60):
        while True:
            shown = (await ada.get(f"{RUNS}/{run_id}")).json()
            if shown["state"] not in ("pending", "running"):
                assert shown["state"] == "completed", shown
                return run_id
            await asyncio.sleep(0.02)


async def test_a_run_lives_from_creation_to_deletion(ada: httpx.AsyncClient, preset: str) -> None:
    created = await ada.post(RUNS, json={"preset_id": preset, "name": "First"})
    assert created.status_code == 201, created.text
    run = created.json()
    path = f"{RUNS}/{run['id']}"
    assert set(run) == {
        "id", "name", "preset_id", "state", "pause_reason", "phase", "round", "progress", "spend", "configuration",
        "hosts", "verdict", "created_at", "started_at", "finished_at", "pinned", "tags", "trial", "quiesced", "version",
    }  # fmt: skip
    assert (run["state"], run["name"], run["tags"], run["progress"]["total"]) == ("pending", "First", ["harbour"], 16)
    started = await ada.post(f"{path}/start")
    assert (started.status_code, started.json()["state"]) == (202, "running")
    await ended(ada, run["id"])
    shown = await ada.get(path)
    run = shown.json()
    assert (run["progress"]["percent"], run["quiesced"]) == (100, True)
    assert run["verdict"].startswith(("local:lead", "Lot"))
    again = await ada.get(path, headers={"If-None-Match": shown.headers["etag"]})
    assert again.status_code == 304
    late = await ada.delete(path, headers={"If-Match": created.headers.get("etag", '"1.json"')})
    assert (late.status_code, code_of(late)) == (412, "version-mismatch")
    assert (await ada.delete(path, headers={"If-Match": shown.headers["etag"]})).status_code == 204
    assert (await ada.get(path)).status_code == 404


async def test_a_run_can_be_made_of_a_configuration_of_its_own(ada: httpx.AsyncClient, preset: str) -> None:
    fields = (await ada.get(f"/api/presets/{preset}")).json()
    bare = {
        name: fields[name]
        for name in fields
        if name not in ("id", "name", "description", "tags", "version", "created_at", "updated_at")
    }
    answer = await ada.post(RUNS, json={"configuration": bare})
    assert (answer.status_code, answer.json()["preset_id"], answer.json()["name"]) == (201, None, "Run")


async def test_the_list_is_newest_first_and_filtered(ada: httpx.AsyncClient, preset: str) -> None:
    ids = [(await ada.post(RUNS, json={"preset_id": preset})).json()["id"] for _ in range(3)]
    await ada.post(f"{RUNS}/{ids[0]}/cancel")
    first = (await ada.get(RUNS, params={"limit": 2})).json()
    second = (await ada.get(RUNS, params={"limit": 2, "cursor": first["next_cursor"]})).json()
    assert [item["id"] for item in first["items"] + second["items"]] == ids[::-1]
    assert second["next_cursor"] is None
    assert "configuration" not in first["items"][0]
    cancelled = (await ada.get(RUNS, params={"state": "cancelled"})).json()["items"]
    assert [item["id"] for item in cancelled] == ids[:1]
    assert len((await ada.get(RUNS, params={"tag": "harbour"})).json()["items"]) == 3
    assert (await ada.get(RUNS, params={"tag": "mountain"})).json()["items"] == []
    count = (await ada.get(f"{RUNS}/count")).json()
    assert (count["total"], count["by_state"]["pending"], count["by_state"]["failed"]) == (3, 2, 0)


async def test_a_dry_run_says_what_it_takes_and_makes_nothing(ada: httpx.AsyncClient, preset: str) -> None:
    answer = await ada.post(f"/api/presets/{preset}/execute", params={"dry_run": "true"}, json={})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["calls"] == {"generate": 4, "score": 4, "compare": 8, "combine": 0, "total": 16}
    assert (found["likely_cost"], found["worst_cost"], found["documents"]) == ("0", "0", 2)
    assert found["power"]["sentence"].startswith("2 documents cannot decide")
    assert (await ada.get(f"{RUNS}/count")).json()["total"] == 0


async def test_a_configuration_that_nobody_saved_is_rehearsed_too(ada: httpx.AsyncClient, preset: str) -> None:
    saved = (await ada.get(f"/api/presets/{preset}")).json()
    own = ("id", "name", "description", "tags", "version", "created_at", "updated_at")
    configuration = {name: value for name, value in saved.items() if name not in own}
    rehearsal: dict[str, Any] = {"params": {"dry_run": "true"}, "headers": {"Idempotency-Key": "rehearsal"}}
    answer = await ada.post(RUNS, json={"configuration": configuration}, **rehearsal)
    assert answer.status_code == 200, answer.text
    asked = await ada.post(f"/api/presets/{preset}/execute", params={"dry_run": "true"}, json={})
    assert answer.json() == asked.json()
    configuration["generation"]["candidates"][0]["model"] = "local:nobody"
    refused = await ada.post(RUNS, json={"configuration": configuration}, **rehearsal)
    assert refused.status_code == 400
    assert [fault["path"] for fault in refused.json()["errors"]] == ["configuration.generation.candidates[0].model"]
    assert (await ada.get(f"{RUNS}/count")).json()["total"] == 0


async def test_execution_under_one_key_makes_one_run(ada: httpx.AsyncClient, preset: str) -> None:
    headers = {"Idempotency-Key": "once"}
    answers = [await ada.post(f"/api/presets/{preset}/execute", json={}, headers=headers) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert (await ada.get(f"{RUNS}/count")).json()["total"] == 1
    await ended(ada, answers[0].json()["id"])
    started = [await ada.post(f"{RUNS}/{answers[0].json()['id']}/start", headers=headers) for _ in range(2)]
    # A refusal is not remembered.
    assert [answer.status_code for answer in started] == [409, 409]


async def test_start_under_one_key_starts_once(ada: httpx.AsyncClient, preset: str) -> None:
    run_id = (await ada.post(RUNS, json={"preset_id": preset})).json()["id"]
    headers = {"Idempotency-Key": "start"}
    answers = [await ada.post(f"{RUNS}/{run_id}/start", headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].json() == answers[1].json()
    assert answers[0].headers["etag"] == answers[1].headers["etag"] == f'"{answers[0].json()["version"]}.json"'
    await ended(ada, run_id)


async def test_a_checkpoint_tells_all_that_is_to_be_begun_also_of_phases_that_are_not_planned(
    ada: httpx.AsyncClient, preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = (await ada.post(RUNS, json={"preset_id": preset})).json()["id"]
    checkpoint = (await ada.get(f"{RUNS}/{run_id}/checkpoint")).json()
    planned, pending = len(checkpoint["remaining"]), checkpoint["counts"]["pending"]
    assert (pending, checkpoint["unlisted"]) == (16, 0)
    assert 0 < planned < pending
    assert checkpoint["unplanned"] == pending - planned
    monkeypatch.setattr(store, "MAX_REMAINING", 3)
    shorter = (await ada.get(f"{RUNS}/{run_id}/checkpoint")).json()
    assert shorter["remaining"] == checkpoint["remaining"][:3]
    assert (shorter["unlisted"], shorter["unplanned"]) == (planned - 3, checkpoint["unplanned"])
    cancelled = await ada.post(f"{RUNS}/{run_id}/cancel")
    assert cancelled.status_code in (200, 202)
    ended_one = (await ada.get(f"{RUNS}/{run_id}/checkpoint")).json()
    assert [ended_one[name] for name in ("remaining", "unlisted", "unplanned")] == [[], 0, 0]


async def test_tasks_checkpoint_logs_and_answers_can_be_read(ada: httpx.AsyncClient, run: str) -> None:
    path = f"{RUNS}/{run}"
    checkpoint = (await ada.get(f"{path}/checkpoint")).json()
    assert set(checkpoint) == {
        "state", "phase", "round", "counts", "remaining", "unlisted", "unplanned", "spend", "quiesced", "committed_at",
    }  # fmt: skip
    assert (checkpoint["remaining"], checkpoint["quiesced"], checkpoint["counts"]["succeeded"]) == ([], True, 16)
    tasks = (await ada.get(f"{path}/tasks", params={"kind": "compare", "document": 1})).json()["items"]
    assert len(tasks) == 4
    assert {task["order"] for task in tasks} == {"ab", "ba"}
    assert {task["judge"] for task in tasks} == {"local:reader", "local:statistician"}
    assert {(task["candidate"], task["opponent"]) for task in tasks} == {("local:lead", "Lot")}
    generate = (await ada.get(f"{path}/tasks", params={"kind": "generate"})).json()["items"]
    answer = (await ada.get(f"{path}/generated/{generate[0]['generated_id']}")).json()
    assert (answer["task_key"], answer["candidate"]) == (generate[0]["key"], "local:lead")
    assert answer["scores"][0]["marks"].keys() == {"Coverage", "Clarity"}
    plain = await ada.get(f"{path}/generated/{generate[0]['generated_id']}", headers={"Accept": "text/markdown"})
    assert plain.headers["content-type"] == "text/markdown; charset=utf-8"
    assert plain.text == answer["body"]
    picture = await ada.get(f"{path}/generated/{generate[0]['generated_id']}", headers={"Accept": "image/png"})
    assert (picture.status_code, code_of(picture)) == (406, "not-acceptable")
    logs = (await ada.get(f"{path}/logs", params={"task_key": generate[0]["key"]})).json()["items"]
    assert [entry["event"] for entry in logs] == ["task-succeeded"]
    count = (await ada.get(f"{path}/logs/count")).json()["count"]
    assert count == 16 + 7
    assert (await ada.get(f"{path}/logs/count", params={"level": "error"})).json() == {"count": 0}


async def test_the_ranking_can_be_asked_anew_without_a_call(ada: httpx.AsyncClient, run: str) -> None:
    path = f"{RUNS}/{run}/ranking"
    plain = (await ada.get(path)).json()
    assert plain["round"] == 1
    assert {row["candidate"] for row in plain["ranking"]["rows"]} == {"local:lead", "Lot"}
    assert not plain["ranking"]["exploratory"]
    without = (await ada.get(path, params={"without_judge": "local:reader"})).json()
    assert without["ranking"]["exploratory"]
    assert without["ranking"]["judges"] == ["local:statistician"]
    moved = (await ada.get(path, params={"weights": '{"local:reader": 3}'})).json()
    assert moved["ranking"]["exploratory"]
    same = (await ada.get(path, params={"weights": "{}"})).json()
    assert same["ranking"]["rows"] == plain["ranking"]["rows"]
    assert (await ada.get(f"{RUNS}/{run}/logs/count")).json()["count"] == 23


async def test_documents_that_are_nearly_the_same_count_together_and_the_verdict_says_so(
    ada: httpx.AsyncClient, preset: str
) -> None:
    texts = [text_of(1), text_of(2), f"{text_of(1)} Another word.", text_of(3)]
    inputs = [await write(ada, "input_document", text) for text in texts]
    made = await ada.post(RUNS, json={"preset_id": preset, "inputs": inputs})
    assert made.status_code == 201, made.text
    await ada.post(f"{RUNS}/{made.json()['id']}/start")
    found = (await ada.get(f"{RUNS}/{await ended(ada, made.json()['id'])}/ranking")).json()
    assert found["ranking"]["documents"] == 4
    assert found["ranking"]["grouping"] == {"independent": 3, "by": None, "near": 1, "suggested": None}
    note = "1 document nearly equals an earlier one: such documents count together as one group."
    assert note in found["verdict"]["notes"]


QUESTIONS: list[dict[str, str]] = [
    {"weights": "no json"},
    {"weights": "[]"},
    {"weights": '{"local:reader": -1}'},
    {"weights": '{"local:reader": 1e999}'},
    {"weights": '{"nobody": 1}'},
    {"weights": '{"local:reader": 0, "local:statistician": 0}'},
    {"without_judge": "nobody"},
    {"round": "0"},
    {"round": "x"},
]


async def test_a_question_about_the_ranking_that_makes_no_sense_is_bad_input(ada: httpx.AsyncClient, run: str) -> None:
    for query in QUESTIONS:
        answer = await ada.get(f"{RUNS}/{run}/ranking", params=query)
        assert (answer.status_code, code_of(answer)) == (400, "invalid-input"), query


async def test_a_new_round_leaves_the_earlier_one_readable(ada: httpx.AsyncClient, run: str) -> None:
    path = f"{RUNS}/{run}"
    before = (await ada.get(f"{path}/ranking")).json()
    answer = await ada.post(f"{path}/reevaluate", json={"judges": [{"model": "local:statistician"}]})
    assert (answer.status_code, answer.json()["round"], answer.json()["state"]) == (202, 2, "running")
    await ended(ada, run)
    now = (await ada.get(f"{path}/ranking")).json()
    assert (now["round"], now["ranking"]["judges"]) == (2, ["local:statistician"])
    assert (await ada.get(f"{path}/ranking", params={"round": 1})).json() == before
    assert (await ada.get(f"{path}/ranking", params={"round": 3})).status_code == 404
    generated = (await ada.get(f"{path}/tasks", params={"kind": "generate"})).json()["items"]
    assert {task["round"] for task in generated} == {1}
    rounds = (await ada.get(f"{path}/tasks", params={"round": 2})).json()["items"]
    assert {task["kind"] for task in rounds} == {"score", "compare"}


BAD_ROUNDS: list[tuple[dict[str, Any], str]] = [
    ({"judges": [{"model": "local:nobody"}]}, "judges[0].model"),
    ({"judges": [{"model": "local:lead"}]}, "judges[0].model"),
    ({"judges": []}, "judges"),
    ({"criteria": "nowhere"}, "criteria"),
    ({"instructions": "nowhere"}, "instructions"),
    ({"nonsense": 1}, "nonsense"),
]


async def test_a_round_that_cannot_be_is_refused(ada: httpx.AsyncClient, run: str) -> None:
    for body, path in BAD_ROUNDS:
        answer = await ada.post(f"{RUNS}/{run}/reevaluate", json=body)
        assert (answer.status_code, answer.json()["errors"][0]["path"]) == (400, path)
    assert (await ada.get(f"{RUNS}/{run}")).json()["state"] == "completed"


async def test_other_criteria_and_instructions_make_a_round(ada: httpx.AsyncClient, run: str) -> None:
    criteria = await write(ada, "criteria", "- name: Economy")
    for body in (
        {"criteria": criteria},
        {"instructions": await write(ada, "scoring_instructions", "Judge.")},
        {"instructions": await write(ada, "comparison_instructions", "Judge.")},
    ):
        answer = await ada.post(f"{RUNS}/{run}/reevaluate", json=body)
        assert answer.status_code == 202, answer.text
        await ended(ada, run)
    unsupported = await write(ada, "criteria", "- name: Truth")
    refused = await ada.post(f"{RUNS}/{run}/reevaluate", json={"criteria": unsupported})
    assert (refused.status_code, code_of(refused)) == (400, "criterion-not-supported")
    assert (await ada.get(f"{RUNS}/{run}")).json()["round"] == 4


async def test_moves_that_the_table_does_not_have_are_refused_with_both_states(
    ada: httpx.AsyncClient, run: str
) -> None:
    for move in ("start", "pause", "resume", "cancel"):
        answer = await ada.post(f"{RUNS}/{run}/{move}")
        assert (answer.status_code, code_of(answer)) == (409, "run-state")
        assert answer.json()["errors"][0] == {"path": "state", "message": "is completed"}
        assert answer.json()["errors"][1]["path"] == "wanted"


async def test_a_task_that_is_done_cannot_be_skipped(ada: httpx.AsyncClient, run: str) -> None:
    answer = await ada.post(f"{RUNS}/{run}/tasks/r1.generate.d1.c1.s1/skip")
    assert (answer.status_code, code_of(answer)) == (409, "task-state")
    assert (await ada.post(f"{RUNS}/{run}/tasks/r1.generate.d9.c1.s1/skip")).status_code == 404


async def test_a_pending_task_can_be_skipped(ada: httpx.AsyncClient, preset: str) -> None:
    run_id = (await ada.post(RUNS, json={"preset_id": preset})).json()["id"]
    answer = await ada.post(f"{RUNS}/{run_id}/tasks/r1.generate.d1.c1.s1/skip")
    assert (answer.status_code, answer.json()["state"]) == (200, "skipped")


async def test_many_runs_are_deleted_in_pieces_and_refusals_are_named(
    ada: httpx.AsyncClient, preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete_some, pieces = store.delete_some, list[int]()

    def counted(conn: Connection, ids: Sequence[str]) -> tuple[Deleted, Sequence[str]]:
        pieces.append(len(ids))
        return delete_some(conn, ids)

    monkeypatch.setattr(store, "TASKS_AT_ONCE", 1)
    monkeypatch.setattr(store, "delete_some", counted)
    ids = [(await ada.post(RUNS, json={"preset_id": preset})).json()["id"] for _ in range(3)]
    answer = await ada.request("DELETE", f"{RUNS}/bulk", json={"ids": [ids[0], "nobody", ids[0]]})
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"deleted": [ids[0]], "refused": [{"id": "nobody", "code": "not-found"}]}
    answer = await ada.request("DELETE", f"{RUNS}/bulk", params={"state": "pending"})
    assert sorted(answer.json()["deleted"]) == sorted(ids[1:])
    assert pieces == [2, 1, 2, 1]
    requests: list[dict[str, Any]] = [
        {"params": {"state": "pending"}, "json": {"ids": ["x"]}},
        {},
        {"json": {"ids": []}},
    ]
    for request in requests:
        answer = await ada.request("DELETE", f"{RUNS}/bulk", **request)
        assert (answer.status_code, code_of(answer)) == (400, "invalid-input")
    answer = await ada.request("DELETE", f"{RUNS}/bulk", json={"ids": ["x"] * 1_001})
    assert answer.status_code == 400


async def test_a_running_run_is_not_deleted(ada: httpx.AsyncClient, preset: str, host: Host) -> None:
    run_id = (await ada.post(f"/api/presets/{preset}/execute", json={})).json()["id"]
    answer = await ada.delete(f"{RUNS}/{run_id}")
    assert (answer.status_code, code_of(answer)) == (409, "run-state")
    bulk = await ada.request("DELETE", f"{RUNS}/bulk", params={"state": "running"})
    assert bulk.json() == {"deleted": [], "refused": [{"id": run_id, "code": "run-state"}]}
    await ended(ada, run_id)


async def test_another_user_s_runs_do_not_exist(ada: httpx.AsyncClient, run: str, host: Host) -> None:
    task = (await ada.get(f"{RUNS}/{run}/tasks", params={"kind": "generate"})).json()["items"][0]
    ada.headers.update(await host.signed_in("eve"))
    for path in (
        "", "/checkpoint", "/tasks", "/ranking", "/logs", "/logs/count", "/events",
        f"/generated/{task['generated_id']}",
    ):  # fmt: skip
        answer = await ada.get(f"{RUNS}/{run}{path}")
        assert (answer.status_code, code_of(answer)) == (404, "not-found"), path
    for path in ("/start", "/pause", "/resume", "/cancel", "/share-logs", f"/tasks/{task['key']}/skip"):
        answer = await ada.post(f"{RUNS}/{run}{path}")
        assert (answer.status_code, code_of(answer)) == (404, "not-found"), path
    assert (await ada.post(f"{RUNS}/{run}/reevaluate", json={})).status_code == 404
    assert (await ada.delete(f"{RUNS}/{run}")).status_code == 404
    assert (await ada.get(RUNS)).json()["items"] == []


async def test_free_members_read_pause_and_delete_but_do_not_execute(
    ada: httpx.AsyncClient, preset: str, run: str, client: httpx.AsyncClient
) -> None:
    pending = (await ada.post(RUNS, json={"preset_id": preset})).json()["id"]
    await client.post("/api/users/ada/deactivate", headers=PLUGIN)
    for path, body in (
        ("/runs", {"preset_id": preset}), (f"/presets/{preset}/execute", {}), (f"/runs/{pending}/start", None),
        (f"/runs/{run}/reevaluate", {}), (f"/runs/{pending}/resume", None),
    ):  # fmt: skip
        answer = await ada.post(f"/api{path}", json=body)
        assert (answer.status_code, code_of(answer)) == (403, "membership-required"), path
    assert (await ada.get(f"{RUNS}/{run}")).status_code == 200
    assert (await ada.post(f"{RUNS}/{pending}/cancel")).status_code == 200
    assert (await ada.delete(f"{RUNS}/{run}")).status_code == 204


async def test_a_shared_log_holds_no_text_and_goes_after_fourteen_days(
    ada: httpx.AsyncClient, run: str, clock: FakeClock
) -> None:
    shared = await ada.post(f"{RUNS}/{run}/share-logs")
    assert shared.status_code == 200, shared.text
    share_id = shared.json()["share_id"]
    listed = (await ada.get("/api/admin/shared-logs", headers=ADMIN)).json()["items"]
    assert [item["share_id"] for item in listed] == [share_id]
    found = await ada.get(f"/api/admin/shared-logs/{share_id}", headers=ADMIN)
    log = found.json()
    assert log["entry_count"] == len(log["entries"]) == 23
    assert set(log["entries"][0]) == set(shared.json()["fields"])
    for text in ("Summarise", "harbour", "Lot", "Coverage", "Summaries", "ada"):
        assert text not in found.text
    clock.advance(14 * 24 * 3600 + 1)
    assert (await ada.get("/api/admin/shared-logs", headers=ADMIN)).json()["items"] == []
    gone = await ada.get(f"/api/admin/shared-logs/{share_id}", headers=ADMIN)
    assert (gone.status_code, code_of(gone)) == (404, "not-found")


async def test_a_shared_log_goes_with_its_user(ada: httpx.AsyncClient, run: str, host: Host) -> None:
    await ada.post(f"{RUNS}/{run}/share-logs")
    await host.delete("ada")
    assert (await ada.get("/api/admin/shared-logs", headers=ADMIN)).json()["items"] == []


async def test_only_the_operator_reads_shared_logs(ada: httpx.AsyncClient) -> None:
    answer = await ada.get("/api/admin/shared-logs")
    assert (answer.status_code, code_of(answer)) == (401, "admin-secret-missing")


async def test_health_counts_the_runs_under_way(ada: httpx.AsyncClient, preset: str) -> None:
    run_id = (await ada.post(f"/api/presets/{preset}/execute", json={})).json()["id"]
    assert (await ada.get("/api/health/safe-to-restart", headers=PLUGIN)).json()["active_runs"] == 1
    await ended(ada, run_id)
    async with asyncio.timeout(60):
        while not (await ada.get("/api/health/safe-to-restart")).json()["safe"]:
            await asyncio.sleep(0.01)


async def test_open_variables_are_named_before_anything_is_spent(ada: httpx.AsyncClient, preset: str) -> None:
    fields = (await ada.get(f"/api/presets/{preset}")).json()
    instructions = await write(ada, "generation_instructions", "For {{reader}}.", variables={"reader": None})
    body = {name: fields[name] for name in ("name", "inputs", "generation", "scoring", "comparison")}
    made = (await ada.post("/api/presets", json=body | {"instructions": instructions})).json()
    answer = await ada.post(f"/api/presets/{made['id']}/execute", json={})
    assert (answer.status_code, code_of(answer)) == (400, "variables-open")
    assert answer.json()["errors"] == [{"path": "variables.reader", "message": "has no value"}]
    answer = await ada.post(f"/api/presets/{made['id']}/execute", json={"variables": {"reader": "children"}})
    assert answer.status_code == 202
    await ended(ada, answer.json()["id"])
