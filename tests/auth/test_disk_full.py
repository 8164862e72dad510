"""A disk that is full, or failing, at any change of accounts and keys: the right status, and nothing half done."""

from collections.abc import Awaitable, Callable
from io import BytesIO
from itertools import count
from typing import NamedTuple, get_args
from zipfile import ZipFile

import httpx
import pytest

from carrel.config import Settings
from tests.support import soak
from tests.support.disk import Disk, Trouble, failing
from tests.support.host import PLUGIN, Host, code_of, token, workspace_file
from tests.support.program_keys import KEYS, exchanged, made
from tests.support.soak import Figure

# A read that fails while a connection closes has nobody to whom the layer could say so.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

ME = "/api/users/me"
NOTE = {"name": "A note", "type": "fragment", "body": "kept"}
CODES: dict[Trouble, set[tuple[int, str]]] = {
    "full": {(507, "storage-full")},
    "broken": {(503, "unavailable"), (503, "database-damaged")},
    "unreadable": {(503, "unavailable"), (503, "database-damaged")},
}


Prepare = Callable[[str], Awaitable[object]]
Act = Callable[[str], Awaitable[httpx.Response]]
Check = Callable[[str, httpx.Response], Awaitable[None]]


class Thoroughly(NamedTuple):
    """Which failures are tried: every one that there is, or a part of them."""

    troubles: tuple[Trouble, ...]
    for_good: tuple[bool, ...]
    every: bool


SHORT = Thoroughly(("full", "broken"), (False,), every=False)
SOAK = pytest.mark.soak(campaign="disk")
FULL = [
    pytest.param(Thoroughly((trouble,), (for_good,), every=True), marks=SOAK, id=f"{trouble}-{for_good}")
    for trouble in get_args(Trouble)
    for for_good in (False, True)
]


class Failures:
    """Does something to a new user for every access to the disk that it makes, which fails; the service stays up."""

    def __init__(self, client: httpx.AsyncClient, thoroughly: Thoroughly, figure: Figure) -> None:
        self.client = client
        self.thoroughly = thoroughly
        self.figure = figure
        self._numbers = count(1)

    async def every_answer(self, name: str, prepare: Prepare, act: Act, check: Check, *, each: int = 1) -> None:
        """`each` is how many failures the short form goes on by."""
        each = round(1 / soak.SHARE) if self.thoroughly.every else each
        for trouble in self.thoroughly.troubles:
            undisturbed, answer = await self.once(prepare, act, check, Disk(trouble), None)
            assert answer.is_success, answer.text
            assert undisturbed > 0
            tried = 0
            for for_good in self.thoroughly.for_good:
                for number in range(1, undisturbed + 1, each):
                    tried += 1
                    _, answer = await self.once(prepare, act, check, Disk(trouble, for_good=for_good), number)
                    if not answer.is_success:
                        assert (answer.status_code, code_of(answer)) in CODES[trouble], (trouble, number)
            self.figure(f"{name}, {trouble} at every index", failures=tried, losses=0, wrong_statuses=0)

    async def once(
        self, prepare: Prepare, act: Act, check: Check, disk: Disk, number: int | None
    ) -> tuple[int, httpx.Response]:
        """How often the disk was asked, and the answer. `number` is the access that fails."""
        uuid = f"user-{next(self._numbers)}"
        with failing(disk):
            await prepare(uuid)
            before = disk.changes
            disk.fail_at = None if number is None else before + number
            answer = await act(uuid)
            asked = disk.changes - before
            disk.heal()
            assert (await self.client.get("/api/health")).status_code == 200
            await check(uuid, answer)
        return asked, answer


@pytest.fixture(params=[pytest.param(SHORT, id="short"), *FULL])
def failures(request: pytest.FixtureRequest, client: httpx.AsyncClient, figure: Figure) -> Failures:
    return Failures(client, request.param, figure)


async def test_a_creation_on_a_failing_disk_can_be_repeated(
    settings: Settings, client: httpx.AsyncClient, host: Host, failures: Failures
) -> None:
    async def nothing(uuid: str) -> None:
        pass

    async def check(uuid: str, answer: httpx.Response) -> None:
        again = await host.create(uuid)
        assert again.status_code == (409 if answer.is_success else 201)
        names = {file.name for file in workspace_file(settings, uuid).parent.iterdir()}
        assert names == {"account.db"}

    await failures.every_answer("creation of a user", nothing, host.create, check)


async def test_a_first_login_on_a_failing_disk_signs_nobody_in_and_can_be_repeated(
    settings: Settings, client: httpx.AsyncClient, host: Host, failures: Failures
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

    await failures.every_answer("first login", prepare, host.login, check, each=11)


async def test_program_keys_on_a_failing_disk_are_made_or_not_and_revoked_or_not(
    client: httpx.AsyncClient, host: Host, failures: Failures
) -> None:
    users: dict[str, tuple[dict[str, str], dict[str, str]]] = {}

    async def prepare(uuid: str) -> None:
        ada = await host.signed_in(uuid)
        users[uuid] = ada, await made(client, ada)

    async def create(uuid: str) -> httpx.Response:
        return await client.post(KEYS, json={"name": "n", "scopes": ["read"]}, headers=users[uuid][0])

    async def revoke(uuid: str) -> httpx.Response:
        return await client.delete(f"{KEYS}/{users[uuid][1]['id']}", headers=users[uuid][0])

    async def is_made(uuid: str, answer: httpx.Response) -> None:
        listed = (await client.get(KEYS, headers=users[uuid][0])).json()["items"]
        if answer.is_success:
            assert len(listed) == 2
            assert (await exchanged(client, answer.json()["program_key"])).is_success
        elif code_of(answer) == "storage-full":
            assert len(listed) == 1
        else:
            # Of a disk that fails at the last sync, nobody knows what it has. Of what may be there, no part is missing.
            assert len(listed) in {1, 2}
            gone = [await client.delete(f"{KEYS}/{key['id']}", headers=users[uuid][0]) for key in listed]
            assert all(answer.is_success for answer in gone)
            assert (await exchanged(client, users[uuid][1]["program_key"])).status_code == 401

    async def is_revoked(uuid: str, answer: httpx.Response) -> None:
        again = await exchanged(client, users[uuid][1]["program_key"])
        if answer.is_success:
            assert again.status_code == 401
        elif code_of(answer) == "storage-full":
            assert again.status_code == 200
        else:
            assert again.status_code in {200, 401}
            assert (await revoke(uuid)).status_code == (204 if again.is_success else 404)
            assert (await exchanged(client, users[uuid][1]["program_key"])).status_code == 401

    await failures.every_answer("making of a program key", prepare, create, is_made, each=5)
    await failures.every_answer("revocation of a program key", prepare, revoke, is_revoked, each=5)


async def test_credits_on_a_failing_disk_are_added_or_not(
    client: httpx.AsyncClient, host: Host, failures: Failures
) -> None:
    async def prepare(uuid: str) -> None:
        assert (await host.create(uuid)).status_code == 201

    async def add(uuid: str) -> httpx.Response:
        body, key = {"uuid": uuid, "amount": "5"}, {"Idempotency-Key": "invoice"}
        return await client.post("/api/credits/add", json=body, headers=PLUGIN | key)

    async def check(uuid: str, answer: httpx.Response) -> None:
        again = await add(uuid)
        assert (again.status_code, again.json()["balance"]) == (200, "5"), "once, whatever the first answer was"

    await failures.every_answer("credits added", prepare, add, check)


async def test_a_rekey_on_a_failing_disk_leaves_one_key_that_opens_everything(
    settings: Settings, client: httpx.AsyncClient, host: Host, failures: Failures
) -> None:
    async def prepare(uuid: str) -> None:
        session = await host.signed_in(uuid)
        assert (await client.post("/api/contents", json=NOTE, headers=session)).status_code == 201

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

    await failures.every_answer("rekey", prepare, act, check, each=9)


async def test_what_is_written_on_a_failing_disk_is_there_or_refused(
    client: httpx.AsyncClient, host: Host, failures: Failures
) -> None:
    async def act(uuid: str) -> httpx.Response:
        session = token((await host.refresh(uuid)).json()["session_token"])
        return await client.post("/api/contents", json=NOTE, headers=session)

    async def check(uuid: str, answer: httpx.Response) -> None:
        acknowledged = answer.is_success
        # Closed and opened again: what counts is what is on the disk.
        assert code_of(await host.login(uuid, "wrong")) == "key-rejected"
        session = await host.signed_in(uuid)
        found = (await client.get(ME, headers=session)).json()["counts"]["contents"]
        assert found >= acknowledged, "an acknowledged write is lost"
        again = await client.post("/api/contents", json=NOTE, headers=session)
        assert again.status_code == 201, again.text
        assert (await client.get(ME, headers=session)).json()["counts"]["contents"] == found + 1

    await failures.every_answer("content written", host.signed_in, act, check)


# It writes nothing.
@pytest.mark.parametrize(
    "failures", [pytest.param(SHORT._replace(troubles=("unreadable",)), id="short"), *FULL[-2:]], indirect=True
)
async def test_an_export_on_a_failing_disk_is_whole_or_refused(
    client: httpx.AsyncClient, host: Host, failures: Failures
) -> None:
    async def prepare(uuid: str) -> None:
        session = await host.signed_in(uuid)
        assert (await client.post("/api/contents", json=NOTE, headers=session)).status_code == 201
        # Nothing is in the memory of open connections: every page that the export needs is read.
        assert code_of(await host.login(uuid, "wrong")) == "key-rejected"
        assert (await host.login(uuid)).is_success

    async def act(uuid: str) -> httpx.Response:
        refreshed = await host.refresh(uuid)
        if not refreshed.is_success:
            return refreshed
        return await client.get(f"{ME}/export", headers=token(refreshed.json()["session_token"]))

    async def check(uuid: str, answer: httpx.Response) -> None:
        if answer.is_success:
            assert ZipFile(BytesIO(answer.content)).testzip() is None
        session = await host.signed_in(uuid)
        again = await client.get(f"{ME}/export", headers=session)
        assert again.status_code == 200
        assert len(ZipFile(BytesIO(again.content)).namelist()) > 1

    await failures.every_answer("export", prepare, act, check, each=7)


async def test_a_deletion_on_a_failing_disk_leaves_the_user_whole_or_gone(
    settings: Settings, host: Host, failures: Failures
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

    await failures.every_answer("deletion", prepare, host.delete, check)


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
