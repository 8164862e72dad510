"""A disk that is full, or failing, at any change of accounts and keys: the right status, and nothing half done."""

from collections.abc import Awaitable, Callable
from itertools import count

import httpx

from carrel.config import Settings
from tests.support.clock import FakeClock
from tests.support.disk import Disk, failing
from tests.support.host import PLUGIN, Host, code_of, token, workspace_file

ME = "/api/users/me"
CODES = {"full": {(507, "storage-full")}, "broken": {(503, "unavailable"), (503, "database-damaged")}}


async def every_answer(
    prepare: Callable[[str], Awaitable[None]],
    act: Callable[[str], Awaitable[httpx.Response]],
    check: Callable[[str, httpx.Response], Awaitable[None]],
    *,
    each: int = 1,
) -> None:
    """`act` on a new user for every change of the disk that it makes (or every `each`-th), which fails."""
    numbers = count(1)
    for trouble in ("full", "broken"):
        uuid = f"user-{next(numbers)}"
        await prepare(uuid)
        with failing(Disk(trouble)) as undisturbed:
            answer = await act(uuid)
        assert answer.is_success, answer.text
        await check(uuid, answer)
        assert undisturbed.changes > 0
        for fail_at in range(1, undisturbed.changes + 1, each):
            uuid = f"user-{next(numbers)}"
            await prepare(uuid)
            with failing(Disk(trouble, fail_at)):
                answer = await act(uuid)
            if not answer.is_success:
                assert (answer.status_code, code_of(answer)) in CODES[trouble], fail_at
            await check(uuid, answer)


async def test_a_creation_on_a_failing_disk_can_be_repeated(
    settings: Settings, client: httpx.AsyncClient, host: Host
) -> None:
    async def nothing(uuid: str) -> None:
        pass

    async def check(uuid: str, answer: httpx.Response) -> None:
        again = await host.create(uuid)
        assert again.status_code == (409 if answer.is_success else 201)
        names = {file.name for file in workspace_file(settings, uuid).parent.iterdir()}
        assert names == {"account.db"}

    await every_answer(nothing, host.create, check)


async def test_a_first_login_on_a_failing_disk_signs_nobody_in_and_can_be_repeated(
    settings: Settings, client: httpx.AsyncClient, host: Host
) -> None:
    async def prepare(uuid: str) -> None:
        assert (await host.create(uuid)).status_code == 201

    async def check(uuid: str, answer: httpx.Response) -> None:
        if not answer.is_success:
            assert code_of(await host.refresh(uuid)) == "key-not-cached"
        again = await host.login(uuid)
        assert again.status_code == 200, again.text
        me = await client.get(ME, headers=token(again.json()["session_token"]))
        assert me.json()["counts"] == {"contents": 0, "presets": 0, "runs": 0}
        assert list(workspace_file(settings, uuid).parent.glob("*.new*")) == []
        assert code_of(await host.login(uuid, "wrong")) == "key-rejected"

    await every_answer(prepare, host.login, check, each=11)


async def test_credits_on_a_failing_disk_are_added_or_not(client: httpx.AsyncClient, host: Host) -> None:
    async def prepare(uuid: str) -> None:
        assert (await host.create(uuid)).status_code == 201

    async def add(uuid: str) -> httpx.Response:
        body, key = {"uuid": uuid, "amount": "5"}, {"Idempotency-Key": "invoice"}
        return await client.post("/api/credits/add", json=body, headers=PLUGIN | key)

    async def check(uuid: str, answer: httpx.Response) -> None:
        again = await add(uuid)
        assert (again.status_code, again.json()["balance"]) == (200, "5"), "once, whatever the first answer was"

    await every_answer(prepare, add, check)


async def test_a_rekey_on_a_failing_disk_leaves_one_key_that_opens_everything(
    settings: Settings, client: httpx.AsyncClient, host: Host
) -> None:
    body = {"name": "A note", "type": "fragment", "body": "kept"}

    async def prepare(uuid: str) -> None:
        session = await host.signed_in(uuid)
        assert (await client.post("/api/contents", json=body, headers=session)).status_code == 201

    async def act(uuid: str) -> httpx.Response:
        return await host.rekey(uuid, "second")

    async def check(uuid: str, answer: httpx.Response) -> None:
        answers = {password: await host.login(uuid, password) for password in ("first", "second")}
        opened = [password for password, login in answers.items() if login.is_success]
        assert len(opened) == 1
        assert not answer.is_success or opened == ["second"]
        session = token((await host.login(uuid, opened[0])).json()["session_token"])
        assert (await client.get(ME, headers=session)).json()["counts"]["contents"] == 1
        assert list(workspace_file(settings, uuid).parent.glob("*.new*")) == []

    await every_answer(prepare, act, check, each=9)


async def test_a_deletion_on_a_failing_disk_leaves_the_user_whole_or_gone(
    settings: Settings, clock: FakeClock, client: httpx.AsyncClient, host: Host
) -> None:
    async def prepare(uuid: str) -> None:
        await host.signed_in(uuid)

    async def check(uuid: str, answer: httpx.Response) -> None:
        login = await host.login(uuid)
        if answer.is_success:
            assert code_of(login) == "user-not-provisioned"
        else:
            assert login.is_success or code_of(login) == "user-not-provisioned"
            assert (await host.delete(uuid)).status_code == 204
        folder = workspace_file(settings, uuid).parent
        assert list(folder.parent.glob(f"{folder.name}*")) == []

    await every_answer(prepare, host.delete, check)


async def test_everything_that_only_reads_goes_on_when_the_disk_is_full(client: httpx.AsyncClient, host: Host) -> None:
    with failing(Disk()) as disk:
        session = await host.signed_in("ada")
        disk.fail_at, disk.for_good = disk.changes + 1, True
        assert (await client.get(ME, headers=session)).status_code == 200
        assert (await client.get("/api/credits", headers=session)).status_code == 200
        assert (await host.refresh("ada")).status_code == 200
        full = await client.post("/api/credits/add", json={"uuid": "ada", "amount": "5"}, headers=PLUGIN)
        assert (full.status_code, code_of(full)) == (507, "storage-full")
        disk.fail_at = None
        assert (await client.get("/api/credits", headers=session)).json()["balance"] == "0"
