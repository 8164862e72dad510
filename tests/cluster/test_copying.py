"""A slot's files on their way to another disk: the copy is what the source has, and only changed blocks are sent."""

import asyncio
import random
from pathlib import Path

import pytest

from carrel.cluster import copying
from carrel.cluster.copying import CopyBroken, CopyResult, SentBlocks, Stamp

BLOCK = 64 * 1024
USER = "0" * 32
FILES = [f"{USER}/workspace.db", f"{USER}/account.db", f"{'1' * 32}/workspace.db", f"{'1' * 32}/workspace.db-wal"]


async def copied(source: Path, target: Path, have: dict[str, Stamp], blocks: SentBlocks) -> CopyResult:
    reader = asyncio.StreamReader()
    async for piece in copying.sent(source, have, blocks):
        reader.feed_data(piece)
    reader.feed_data(copying.ending(source))
    reader.feed_eof()
    return await copying.received(reader, target, have)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_a_copy_is_what_the_source_has_and_brings_only_the_blocks_that_changed(tmp_path: Path) -> None:
    rng, source, target = random.Random(7), tmp_path / "source", tmp_path / "target"
    target.mkdir()
    for name in FILES:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(rng.randbytes(rng.choice([0, 1, BLOCK, BLOCK + 1, 40 * BLOCK - 3])))
    have: dict[str, Stamp] = {}
    blocks: SentBlocks = {}
    for _ in range(60):
        have, _ = await copied(source, target, have, blocks)
        assert contents(target) == contents(source)
        before = contents(source)
        file = source / rng.choice(FILES)
        match rng.randrange(5):
            case 0:
                file.unlink(missing_ok=True)
            case 1:
                file.write_bytes(rng.randbytes(rng.choice([0, 5, 3 * BLOCK, 35 * BLOCK + 9])))
            case 2 if file.exists():
                with file.open("ab") as end:
                    end.write(rng.randbytes(2 * BLOCK))
            case _ if file.exists() and file.stat().st_size:
                with file.open("r+b") as inside:
                    inside.seek(rng.randrange(file.stat().st_size))
                    inside.write(b"!")
        after = contents(source)
        changed = sum(
            before.get(name, b"")[at : at + BLOCK] != text[at : at + BLOCK] or name not in before
            for name, text in after.items()
            for at in range(0, len(text), BLOCK)
        )
        have, count = await copied(source, target, have, blocks)
        assert contents(target) == after
        assert count <= changed * BLOCK


async def test_a_target_that_begins_anew_gets_everything(tmp_path: Path) -> None:
    source, blocks = tmp_path / "source", dict[str, bytes]()
    (source / USER).mkdir(parents=True)
    (source / FILES[0]).write_bytes(b"x" * 3 * BLOCK)
    for name in ("first", "second"):
        target = tmp_path / name
        target.mkdir()
        assert (await copied(source, target, {}, blocks)).bytes == 3 * BLOCK
        assert contents(target) == contents(source)


@pytest.mark.parametrize(
    "line",
    [b"no json", b'{"path":"../x"}', b'{"path":"rows.db","length":-1}', b'{"path":"rows.db","at":-1}'],
)
async def test_what_is_no_copy_is_refused(tmp_path: Path, line: bytes) -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(line + b"\n")
    reader.feed_eof()
    with pytest.raises(CopyBroken):
        await copying.received(reader, tmp_path, {})
