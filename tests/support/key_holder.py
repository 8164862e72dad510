"""A process that signs users in and out as it is told, so that a test can look for their keys in its memory.

Keys arrive as 32 raw bytes on standard input, read straight into a bytearray: what a web server's buffers keep is
another matter. Before each step it writes the step's name and waits for a byte.
"""

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path

from carrel.kit.clock import SystemClock
from carrel.kit.ids import uuid7_factory
from carrel.kit.sqlite.database import Connection, KeyRejected
from carrel.vault import process
from carrel.vault.files import Format
from carrel.vault.keyring import Keyring, UserUuid, zero
from carrel.vault.pool import WorkspacePool

ALICE = UserUuid("alice")


def step(name: str) -> None:
    os.write(1, f"{name}\n".encode())
    os.read(0, 1)


def receive_key() -> bytearray:
    key = bytearray(32)
    assert os.readv(0, [key]) == 32
    return key


async def sign_in(pool: WorkspacePool) -> None:
    key = receive_key()
    try:
        await pool.admit(ALICE, key, create=True)
    finally:
        zero(key)


async def work(pool: WorkspacePool) -> None:
    def insert(conn: Connection) -> None:
        conn.run("CREATE TABLE IF NOT EXISTS t (a)")
        conn.run("INSERT INTO t VALUES (1)")

    def count(conn: Connection) -> object:
        return conn.one("SELECT count(*) FROM t")

    async with pool.leased(ALICE) as workspace:
        await asyncio.gather(*(workspace.write(insert) for _ in range(20)))
        await asyncio.gather(*(workspace.scan(count) for _ in range(8)))
        workspace.read(count)


async def main(folder: Path) -> None:
    clock = SystemClock()
    pool = WorkspacePool(Keyring(), lambda _: folder / "workspace.db", form=Format(clock, uuid7_factory(clock)))
    await sign_in(pool)
    await work(pool)
    step("working")
    await pool.evict(ALICE)
    step("evicted")
    await sign_in(pool)
    await work(pool)
    step("back")
    with suppress(KeyRejected):
        await sign_in(pool)
    step("rejected")
    await sign_in(pool)
    await work(pool)
    step("about to rekey")
    old_key, new_key = receive_key(), receive_key()
    await pool.rekey(ALICE, old_key, new_key, lambda: None)
    zero(old_key)
    zero(new_key)
    await work(pool)
    step("rekeyed")
    await pool.destroy(ALICE, (folder / "workspace.db").unlink)
    step("destroyed")
    await sign_in(pool)
    await work(pool)
    step("about to end")
    await pool.close()
    step("closed")


if __name__ == "__main__":
    process.overwrite_freed_memory()
    asyncio.run(main(Path(sys.argv[1])))
