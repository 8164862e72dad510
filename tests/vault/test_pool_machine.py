"""Several users' sign-ins, work, evictions, rekeys and deletions, interleaved at random, against a model of each.

Whatever the order: no key is accepted that was never the database's, nobody reads another's rows, nothing that was
acknowledged is lost, exactly one key opens each file, and nothing waits for ever.
"""

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from carrel.errors import CarrelError
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection, KeyRejected, Missing
from carrel.vault import files
from carrel.vault.files import Format
from carrel.vault.keyring import Keyring, UserUuid
from carrel.vault.pool import KeyNotCached, WorkspaceBusy, WorkspacePool
from carrel.vault.workspace import WorkspaceClosed
from tests.support import soak
from tests.support.disk import Disk, failing
from tests.support.soak import Figure
from tests.support.vault import key_of

USERS = tuple(UserUuid(name) for name in ("ada", "bea", "cleo"))
MAX_OPEN = 2
TIMEOUT_SECONDS = 60.0

Verb = Literal["admit", "admit wrong", "read", "scan", "write", "evict", "rekey", "rekey wrong", "destroy"]
REFUSALS = (KeyRejected, KeyNotCached, WorkspaceBusy, WorkspaceClosed, Missing)


@dataclass(frozen=True)
class Op:
    """One thing that somebody does; the caller goes away after so many turns of the loop, if at all."""

    verb: Verb
    uuid: UserUuid
    gone_after: int | None


@dataclass
class ModelUser:
    """What is known of a user between two batches."""

    key: str | None = None
    rows: set[int] = field(default_factory=set)
    possible: set[int] = field(default_factory=set)
    epoch: int = 0


@dataclass
class Batch:
    """What happened to one user in a batch."""

    keys: set[str] = field(default_factory=set)
    """Keys that the database may have had."""
    accepted: set[str] = field(default_factory=set)
    acknowledged: set[int] = field(default_factory=set)
    seen: list[list[tuple[int, str]]] = field(default_factory=list)
    rekeyed: int = 0
    destroyed: bool = False
    epoch_raisers: int = 0


class World:
    def __init__(self, folder: Path, form: Format) -> None:
        self._folder = folder
        self._form = form
        self.pool = WorkspacePool(Keyring(), self._path_of, form=self._form, max_open=MAX_OPEN)
        self.users = {uuid: ModelUser() for uuid in USERS}
        self.done: Counter[str] = Counter()
        self._number = 0
        for uuid in USERS:
            self._path_of(uuid).parent.mkdir()

    def _path_of(self, uuid: UserUuid) -> Path:
        return self._folder / uuid / "workspace.db"

    async def together(self, ops: list[Op]) -> None:
        """Everything in `ops` at once; then the model is held against the disk."""
        batches = {uuid: Batch() for uuid in USERS}
        for uuid, user in self.users.items():
            batches[uuid].keys |= {user.key} if user.key else set()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await asyncio.gather(*(self._do(op, batches[op.uuid]) for op in ops))
        for uuid, batch in batches.items():
            self._compare(uuid, self.users[uuid], batch)

    async def _do(self, op: Op, batch: Batch) -> None:
        self._number += 1
        task = asyncio.ensure_future(self._act(op, self.users[op.uuid], batch, self._number))
        if op.gone_after is not None:
            for _ in range(op.gone_after):
                await asyncio.sleep(0)
            task.cancel()
        with suppress(asyncio.CancelledError):
            outcome = "done"
            try:
                await task
            except REFUSALS as error:
                outcome = error.code
            self.done[f"{op.verb}: {outcome}"] += 1

    def _act(self, op: Op, user: ModelUser, batch: Batch, number: int) -> Awaitable[None]:
        match op.verb:
            case "admit":
                return self._admit(op.uuid, user.key or f"first {number}", user, batch)
            case "admit wrong":
                return self._admit(op.uuid, f"wrong {number}", user, batch)
            case "read" | "scan" | "write":
                return self._work(op.verb, op.uuid, user, batch, number)
            case "evict":
                return self._evict(op.uuid, batch)
            case "rekey":
                return self._rekey(op.uuid, user.key or "none", f"new {number}", batch)
            case "rekey wrong":
                return self._rekey(op.uuid, f"wrong {number}", f"never {number}", batch)
            case "destroy":
                return self._destroy(op.uuid, batch)

    async def _admit(self, uuid: UserUuid, key: str, user: ModelUser, batch: Batch) -> None:
        create = user.key is None
        if create:
            batch.keys.add(key)
        await self.pool.admit(uuid, key_of(key), create=create)
        batch.accepted.add(key)

    async def _work(self, verb: Verb, uuid: UserUuid, user: ModelUser, batch: Batch, number: int) -> None:
        async with self.pool.leased(uuid) as workspace:
            assert workspace.uuid == uuid
            if verb == "read":
                batch.seen.append(workspace.read(rows))
            elif verb == "scan":
                batch.seen.append(await workspace.scan(rows))
            else:
                user.possible.add(number)
                await workspace.write(insert, number, uuid)
                batch.acknowledged.add(number)

    async def _evict(self, uuid: UserUuid, batch: Batch) -> None:
        batch.epoch_raisers += 1
        await self.pool.evict(uuid)

    async def _rekey(self, uuid: UserUuid, old: str, new: str, batch: Batch) -> None:
        batch.keys.add(new)
        batch.rekeyed += 1
        await self.pool.rekey(uuid, key_of(old), key_of(new), lambda: None)
        assert not new.startswith("never"), "a wrong old key was accepted"

    async def _destroy(self, uuid: UserUuid, batch: Batch) -> None:
        def remove() -> None:
            for file in self._path_of(uuid).parent.iterdir():
                file.unlink()

        batch.destroyed = True
        batch.epoch_raisers += 1
        await self.pool.destroy(uuid, remove)

    def _compare(self, uuid: UserUuid, user: ModelUser, batch: Batch) -> None:
        epoch = self.pool.keyring.epoch(uuid)
        assert epoch >= user.epoch + batch.epoch_raisers
        user.epoch = epoch
        opening = {key: found for key in batch.keys if (found := self._look_inside(uuid, key)) is not None}
        assert len(opening) == (1 if self._path_of(uuid).exists() else 0)
        key = next(iter(opening), None)
        present = {number for number, _ in opening.get(key or "", [])}
        assert batch.accepted <= batch.keys, "a key was accepted that was never the database's"
        if not batch.rekeyed and not batch.destroyed:
            assert batch.accepted <= {key}
        for seen in [*batch.seen, *opening.values()]:
            assert {text for _, text in seen} <= {str(uuid)}, "rows of somebody else"
            assert {number for number, _ in seen} <= user.possible
        if not batch.destroyed:
            assert user.rows | batch.acknowledged <= present, "acknowledged rows are lost"
            assert all(user.rows <= {number for number, _ in seen} for seen in batch.seen)
        user.key, user.rows = key, present
        assert not self.pool.is_leased(uuid)
        assert (uuid in self.pool.keyring) or self.pool.try_lease(uuid) is None
        assert len(self.pool) <= MAX_OPEN
        assert uuid not in self.pool.keyring or self.pool.keyring.matches(uuid, key_of(key or "none"))

    def _look_inside(self, uuid: UserUuid, key: str) -> list[tuple[int, str]] | None:
        try:
            conn = files.open_workspace(self._path_of(uuid), key_of(key), uuid, self._form, readonly=True)
        except (KeyRejected, Missing):
            return None
        try:
            return rows(conn)
        finally:
            database.discard(conn)


def insert(conn: Connection, number: int, text: str) -> None:
    conn.run("CREATE TABLE IF NOT EXISTS rows_of_a_test (number INTEGER PRIMARY KEY, text TEXT) STRICT")
    conn.run("INSERT INTO rows_of_a_test VALUES (?, ?)", number, text)


def rows(conn: Connection) -> list[tuple[int, str]]:
    if conn.one("SELECT 1 FROM sqlite_schema WHERE name = 'rows_of_a_test'") is None:
        return []
    return [(number, text) for number, text in conn.all("SELECT number, text FROM rows_of_a_test")]


OPS = st.builds(
    Op,
    st.sampled_from(3 * ["admit", "write"] + 2 * ["read"] + [*get_args(Verb)]),
    st.sampled_from(USERS),
    st.none() | st.integers(0, 30),
)
SCRIPTS = st.lists(st.lists(OPS, min_size=1, max_size=8), min_size=6, max_size=16)

done: Counter[str] = Counter()


def play(script: list[list[Op]], form: Format) -> None:
    async def main(folder: Path) -> None:
        world = World(folder, form)
        try:
            for ops in script:
                await world.together(ops)
        finally:
            await world.pool.close()
        assert world.pool.keyring.is_wiped()
        done.update(world.done)

    folder = Path(tempfile.mkdtemp())
    try:
        with failing(Disk()):
            asyncio.run(main(folder))
    finally:
        shutil.rmtree(folder)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(script=SCRIPTS)
def test_nothing_goes_wrong_whatever_happens_at_the_same_time(script: list[list[Op]], small: Format) -> None:
    play(script, small)


@pytest.mark.soak(campaign="races")
@pytest.mark.parametrize("part", range(4))
def test_nothing_goes_wrong_in_a_long_time(small: Format, part: int, figure: Figure) -> None:
    @seed(part)
    @settings(max_examples=soak.size(1_000), deadline=None, suppress_health_check=list(HealthCheck))
    @given(script=SCRIPTS)
    def play_many(script: list[list[Op]]) -> None:
        play(script, small)

    done.clear()
    play_many()
    figure("the same in the pool alone, against a model", operations=done.total(), faults=0)


def test_every_refusal_is_an_error_of_ours() -> None:
    assert all(issubclass(refusal, CarrelError) for refusal in REFUSALS)
