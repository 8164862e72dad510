"""Users as the host makes, changes and removes them, over HTTP."""

import asyncio

import httpx
from msgspec.structs import replace

from carrel.config import Settings
from tests.support.clock import FakeClock
from tests.support.host import ADMIN, PLUGIN, Host, code_of, key_of, service, token, workspace_file

ME = "/api/users/me"


async def test_a_user_is_made_once(client: httpx.AsyncClient, host: Host) -> None:
    made = await host.create("ada", "free")
    assert made.status_code == 201
    assert made.json() == {"uuid": "ada", "membership": "free", "created_at": "2027-01-15T08:00:00.000Z"}
    again = await host.create("ada", "paid")
    assert (again.status_code, code_of(again)) == (409, "user-exists")
    session = await host.signed_in("ada")
    assert (await client.get(ME, headers=session)).json()["membership"] == "free"


async def test_membership_is_free_unless_said_otherwise_and_one_of_two(client: httpx.AsyncClient) -> None:
    made = await client.post("/api/users", json={"uuid": "ada"}, headers=PLUGIN)
    assert made.json()["membership"] == "free"
    for body, path in (
        ({"uuid": "bob", "membership": "gold"}, "membership"),
        ({"uuid": "bob", "membership": None}, "membership"),
        ({"uuid": "bob", "db_key_hex": "0" * 64}, "db_key_hex"),
        ({"membership": "free"}, "uuid"),
    ):
        answer = await client.post("/api/users", json=body, headers=PLUGIN)
        assert (answer.status_code, answer.json()["errors"][0]["path"]) == (400, path)


async def test_a_repeated_creation_gets_the_first_answer(
    client: httpx.AsyncClient, host: Host, clock: FakeClock
) -> None:
    first = await host.create("ada", **{"Idempotency-Key": "sign-up"})
    await host.login("ada")
    await client.post("/api/users/ada/deactivate", headers=PLUGIN)
    clock.advance(3600)
    again = await host.create("ada", **{"Idempotency-Key": "sign-up"})
    assert (again.status_code, again.content) == (201, first.content)
    other = await host.create("ada", "free", **{"Idempotency-Key": "sign-up"})
    assert (other.status_code, code_of(other)) == (409, "idempotency-mismatch")
    fresh = await host.create("ada", **{"Idempotency-Key": "another"})
    assert code_of(fresh) == "user-exists"
    clock.advance(23 * 3600 + 1)
    assert code_of(await host.create("ada", **{"Idempotency-Key": "sign-up"})) == "user-exists", "kept for a day"
    assert (await host.create("bob", **{"Idempotency-Key": "sign-up"})).status_code == 201, "a key is one user's"


async def test_creations_at_the_same_time_make_one_user(host: Host) -> None:
    for key in ({}, {"Idempotency-Key": "sign-up"}):
        answers = await asyncio.gather(*(host.create(f"ada-{len(key)}", **key) for _ in range(20)))
        made = [answer for answer in answers if answer.status_code == 201]
        codes = {code_of(answer) for answer in answers if answer.status_code != 201}
        assert len({answer.content for answer in made}) == 1
        if key:
            assert codes <= {"idempotency-in-progress"}
        else:
            assert (len(made), codes) == (1, {"user-exists"})


async def test_membership_follows_the_host_at_once(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("ada")
    body = {"name": "A note", "type": "fragment", "body": ""}
    for verb, membership, status in (("deactivate", "free", 403), ("activate", "paid", 201), ("activate", "paid", 201)):
        changed = await client.post(f"/api/users/ada/{verb}", headers=PLUGIN)
        assert (changed.status_code, changed.json()["membership"]) == (200, membership)
        answer = await client.post("/api/contents", json=body, headers=session)
        assert answer.status_code == status
    for verb in ("activate", "deactivate"):
        unknown = await client.post(f"/api/users/nobody/{verb}", headers=PLUGIN)
        assert (unknown.status_code, code_of(unknown)) == (404, "user-not-found")


async def test_a_uuid_in_a_path_is_held_to_the_same_rule_as_one_in_a_body(client: httpx.AsyncClient) -> None:
    for uuid in ("*", "a.b", "-a", "a" * 65, "a%20b", "ada%0A", "%C3%A4", "a%00", "%2e%2e"):
        for method, path in (("POST", f"/api/users/{uuid}/activate"), ("DELETE", f"/api/users/{uuid}")):
            answer = await client.request(method, path, headers=PLUGIN)
            assert (answer.status_code, code_of(answer)) == (400, "invalid-input"), path
            assert [fault["path"] for fault in answer.json()["errors"]] == ["uuid"]


async def test_a_deletion_leaves_nothing(settings: Settings, client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("ada")
    folder = workspace_file(settings, "ada").parent
    assert folder.exists()
    gone = await host.delete("ada")
    assert (gone.status_code, gone.content) == (204, b"")
    assert not folder.exists()
    assert list(folder.parent.iterdir()) == []
    assert code_of(await client.get(ME, headers=session)) == "key-not-cached"
    assert code_of(await host.refresh("ada")) == "key-not-cached"
    assert code_of(await host.login("ada")) == "user-not-provisioned"
    again = await host.delete("ada")
    assert (again.status_code, code_of(again)) == (404, "user-not-found")


async def test_the_operator_may_delete_and_a_user_may_not(
    settings: Settings, clock: FakeClock, client: httpx.AsyncClient, host: Host
) -> None:
    session = await host.signed_in("ada")
    assert code_of(await client.delete("/api/users/ada", headers=session)) == "plugin-secret-missing"
    wrong = PLUGIN | {"X-SVC-Admin-Secret": "wrong"}
    assert code_of(await client.delete("/api/users/ada", headers=wrong)) == "admin-secret-invalid"
    assert (await client.get(ME, headers=session)).status_code == 200
    assert (await client.delete("/api/users/ada", headers=ADMIN)).status_code == 204


async def test_without_an_admin_secret_only_the_host_deletes(settings: Settings, clock: FakeClock) -> None:
    async with service(replace(settings, admin_secret=None), clock) as client:
        await Host(client).create("ada")
        refused = await client.delete("/api/users/ada", headers=ADMIN)
        assert (refused.status_code, code_of(refused)) == (403, "admin-disabled")
        assert (await Host(client).delete("ada")).status_code == 204


async def test_a_user_made_again_begins_with_nothing(client: httpx.AsyncClient, host: Host, clock: FakeClock) -> None:
    old = await host.signed_in("ada")
    await client.post("/api/credits/add", json={"uuid": "ada", "amount": "7"}, headers=PLUGIN)
    body = {"name": "A note", "type": "fragment", "body": "secret"}
    assert (await client.post("/api/contents", json=body, headers=old)).status_code == 201
    clock.advance(30)
    older = token((await host.refresh("ada")).json()["session_token"])
    clock.set_back(600)
    await host.delete("ada")
    new = await host.signed_in("ada", password="another")
    me = (await client.get(ME, headers=new)).json()
    assert (me["credits"], me["counts"]) == ("0", {"contents": 0, "presets": 0, "runs": 0})
    for session in (old, older):
        assert code_of(await client.get(ME, headers=session)) == "session-token-revoked"
    assert code_of(await host.login("ada", "first")) == "key-rejected"


async def test_bodies_that_hold_keys_never_show_them(client: httpx.AsyncClient, host: Host) -> None:
    await host.create("ada")
    for body in (
        {"uuid": "ada", "db_key_hex": key_of("ada"), "x": 1},
        {"uuid": "ada/", "db_key_hex": key_of("ada")},
        {"uuid": "ada", "db_key_hex": key_of("ada") + "0"},
        {"db_key_hex": key_of("ada")},
        [key_of("ada")],
    ):
        answer = await client.post("/api/auth/login", json=body, headers=PLUGIN)
        assert answer.status_code == 400
        assert key_of("ada") not in answer.text
