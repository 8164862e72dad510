"""The operator's side of users, over HTTP: who there are, suspensions, room, and the audit of all that was ordered."""

import json

import httpx

from carrel.accounts import audit
from carrel.config import Settings
from tests.support.clock import FakeClock
from tests.support.credit_runs import until
from tests.support.host import ADMIN, PLUGIN, Host, code_of
from tests.support.web_runs import ended

USERS = "/api/admin/users"


async def test_users_are_listed_with_what_they_take_page_by_page(
    client: httpx.AsyncClient, host: Host, settings: Settings
) -> None:
    for name in ("ada", "bob", "eve"):
        await host.create(name)
    await host.login("ada")
    for file in settings.data_dir.glob("slots/*/*/account.db"):
        # What is gone when it is looked at, as a log is that was just closed.
        file.with_name("gone").symlink_to("nowhere")
    await client.post("/api/credits/add", json={"uuid": "bob", "amount": "5", "reason": "r"}, headers=PLUGIN)
    found: dict[str, dict[str, object]] = {}
    cursor = ""
    while True:
        page = (await client.get(f"{USERS}?limit=2{cursor}", headers=ADMIN)).json()
        found |= {one["uuid"]: one for one in page["items"]}
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert found.keys() == {"ada", "bob", "eve"}
    assert (found["bob"]["credits"], found["bob"]["credits_spent"], found["bob"]["signed_in"]) == ("5", "0", False)
    assert (found["ada"]["signed_in"], int(str(found["ada"]["disk_bytes"])) > 100_000) == (True, True)
    assert (await client.get(USERS, headers=PLUGIN)).status_code == 401
    assert code_of(await client.get(f"{USERS}/nobody", headers=ADMIN)) == "user-not-found"


async def test_whoever_is_suspended_is_out_at_once_and_in_again_afterwards(
    client: httpx.AsyncClient, host: Host
) -> None:
    await host.create("ada")
    session = await host.signed_in("ada")
    suspended = await client.post(f"{USERS}/ada/suspend", headers=ADMIN)
    assert (suspended.status_code, suspended.json()["signed_in"]) == (200, False)
    assert suspended.json()["suspended_at"] is not None
    assert (await client.get("/api/users/me", headers=session)).status_code == 401
    refused = await host.login("ada")
    assert (refused.status_code, code_of(refused)) == (403, "user-suspended")
    assert code_of(await host.refresh("ada")) == "key-not-cached"
    assert (await client.post(f"{USERS}/ada/suspend", headers=ADMIN)).json() == suspended.json(), "once is enough"
    assert (await client.post(f"{USERS}/ada/reinstate", headers=ADMIN)).json()["suspended_at"] is None
    assert (await client.get("/api/users/me", headers=await host.signed_in("ada"))).status_code == 200


async def test_sessions_end_and_the_room_is_limited(client: httpx.AsyncClient, host: Host) -> None:
    await host.create("ada")
    session = await host.signed_in("ada")
    assert (await client.delete(f"{USERS}/ada/sessions", headers=ADMIN)).status_code == 204
    assert (await client.get("/api/users/me", headers=session)).status_code == 401
    quota = {"workspace_megabytes": 4}
    assert (await client.put(f"{USERS}/ada/quota", json=quota, headers=ADMIN)).json()["workspace_megabytes"] == 4
    session = await host.signed_in("ada")
    assert (await client.get("/api/users/me", headers=session)).json()["limits"]["workspace_megabytes"] == 4
    text = {"name": "n", "type": "fragment", "body": "x" * 300_000}
    answers = [await client.post("/api/contents", json=text, headers=session) for _ in range(14)]
    assert (answers[0].status_code, answers[-1].status_code) == (201, 507)
    await client.put(f"{USERS}/ada/quota", json={"workspace_megabytes": None}, headers=ADMIN)
    await client.delete(f"{USERS}/ada/sessions", headers=ADMIN)
    session = await host.signed_in("ada")
    assert (await client.post("/api/contents", json=text, headers=session)).status_code == 201
    unlimited = {"workspace_megabytes": None}
    for wrong in ({}, {"workspace_megabytes": 0}, {"workspace_megabytes": "all"}, unlimited | {"calls_per_day": -1}):
        assert (await client.put(f"{USERS}/ada/quota", json=wrong, headers=ADMIN)).status_code == 400


async def test_the_calls_of_a_day_are_limited_and_a_run_goes_on_the_next_day(
    client: httpx.AsyncClient, host: Host, clock: FakeClock
) -> None:
    session = await host.signed_in("ada")
    quota = {"workspace_megabytes": None, "calls_per_day": 3}
    assert (await client.put(f"{USERS}/ada/quota", json=quota, headers=ADMIN)).json()["calls_per_day"] == 3
    assert (await client.get("/api/users/me", headers=session)).json()["limits"]["calls_per_day"] == 3
    run = await ended(client, session, documents=2, compared=False)
    client.headers.update(session)
    paused = await until(client, run, "paused")
    assert (paused["pause_reason"], len(await calls(client))) == ("quota", 3)
    refused = await client.post("/api/generation", json={"model": "local:lead", "prompt": "A text."})
    assert (refused.status_code, code_of(refused)) == (429, "calls-used-up")
    assert int(refused.headers["retry-after"]) == 86_400 - int(clock.now()) % 86_400
    await client.put(f"{USERS}/ada/quota", json=quota | {"calls_per_day": 7}, headers=ADMIN)
    await client.post(f"/api/runs/{run}/resume")
    assert (await until(client, run, "paused"))["pause_reason"] == "quota"
    assert len(await calls(client)) == 7
    clock.advance(86_400)
    client.headers.update(await host.signed_in("ada"))
    await until(client, run, "completed")
    assert len(await calls(client)) == 4 + 8, "answers and scores, each made once"


async def calls(client: httpx.AsyncClient) -> list[object]:
    found: list[object] = (await client.get("/api/metering/calls")).json()["items"]
    return found


async def test_what_host_and_operator_order_is_written_down_before_it_is_done(
    client: httpx.AsyncClient, host: Host, settings: Settings
) -> None:
    uuid = "0123456789-canary-of-ada"
    await host.create(uuid)
    await host.login(uuid)
    await client.get(USERS, headers=ADMIN)
    await client.post(f"{USERS}/{uuid}/suspend", headers=ADMIN)
    assert (await client.delete("/api/users/nobody", headers=PLUGIN)).status_code == 404
    await client.delete(f"/api/users/{uuid}", headers=ADMIN)
    (file,) = (settings.data_dir / audit.FOLDER).iterdir()
    entries = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(one["seq"], one["by"], one["what"], one["user"]) for one in entries] == [
        (1, "host", "POST /api/users", "y-of-ada"),
        (2, "operator", "POST /api/admin/users/{uuid}/suspend", "y-of-ada"),
        (3, "host", "DELETE /api/users/{uuid}", "ody"),
        (4, "operator", "DELETE /api/users/{uuid}", "y-of-ada"),
    ]
    assert entries[0]["secret"] != entries[1]["secret"]
    told = file.read_text()
    assert not [word for word in ("canary", *PLUGIN.values(), *ADMIN.values()) if word in told]
