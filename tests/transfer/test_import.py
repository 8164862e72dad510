"""`POST /users/me/import`: what an export holds of contents, presets and settings comes back, all of it or nothing."""

import asyncio
import gc
import json
import struct
import threading
import zipfile
from collections.abc import AsyncIterator
from types import FrameType
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from carrel.contents import store as contents
from carrel.contents.schemas import Content
from carrel.errors import Malformed
from carrel.http.client_connection import ClientConnection
from carrel.kit.sqlite.database import Connection
from carrel.transfer import incoming, package, pieces, upload
from carrel.transfer.entries import Imported
from tests.support.clock import FakeClock
from tests.support.host import PLUGIN, Host, code_of, service
from tests.support.transfers import ZIP, everything, exported, furnished, imported, packed
from tests.support.web_runs import ended
from tests.support.zips import entries

MANIFEST = b'{"format": "carrel-workspace", "version": 1}'
EMPTY = {"carrel.json": MANIFEST, "contents.jsonl": b"", "presets.jsonl": b"", "settings.json": b"{}"}


def line(**parts: object) -> bytes:
    """A line of `contents.jsonl`."""
    whole = {
        "id": "c1", "file": "contents/1.md", "name": "One", "type": "fragment", "variables": {}, "description": "",
        "tags": [], "version": 1, "created_at": "", "updated_at": "", **parts,
    }  # fmt: skip
    return json.dumps(whole).encode() + b"\n"


async def test_a_round_trip_keeps_texts_references_and_settings_under_new_ids(
    client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "PIECE_BYTES", 700)
    monkeypatch.setattr("carrel.transfer.upload.PIECE_BYTES", 700)
    first = await host.signed_in("reader-0001")
    await furnished(client, first)
    before = await everything(client, first)
    second = await host.signed_in("reader-0002")
    answer = await imported(client, second, await exported(client, first))
    assert answer.status_code == 201, answer.text
    assert answer.json() == {"contents": 7, "presets": 1, "data_sets": 0}
    assert await everything(client, second) == before
    lists = [await client.get("/api/contents", headers=session) for session in (first, second)]
    old, new = [{row["id"] for row in answer.json()["items"]} for answer in lists]
    assert not old & new
    (preset,) = (await client.get("/api/presets", headers=second)).json()["items"]
    dry = await client.post(
        f"/api/presets/{preset['id']}/execute?dry_run=true", json={"variables": {"READER": "all"}}, headers=second
    )
    assert dry.status_code == 200, dry.text


async def test_a_generated_client_may_call_the_zip_a_plain_file(client: httpx.AsyncClient, host: Host) -> None:
    plain = "application/octet-stream"
    session = await host.signed_in("reader-0001")
    await furnished(client, session)
    answer = await client.get("/api/users/me/export", headers=session | {"Accept": plain})
    assert (answer.status_code, answer.headers["content-type"]) == (200, plain)
    back = await client.post("/api/users/me/import", content=answer.content, headers=session | {"Content-Type": plain})
    assert (back.status_code, back.json()["presets"]) == (201, 1)
    other = await client.get("/api/users/me/export", headers=session | {"Accept": "text/html"})
    assert (other.status_code, other.headers["content-type"]) == (200, "application/zip")


async def test_what_is_there_stays_and_an_export_may_come_in_twice(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    await furnished(client, session)
    zipped = await exported(client, session)
    assert (await imported(client, session, zipped)).status_code == 201
    assert (await imported(client, session, zipped)).status_code == 201
    assert (await client.get("/api/contents/counts", headers=session)).json()["total"] == 21
    again = entries(await exported(client, session))
    assert len(again["presets.jsonl"].splitlines()) == 3


async def test_runs_and_their_reports_stay_in_the_zip(client: httpx.AsyncClient, host: Host) -> None:
    first = await host.signed_in("reader-0001")
    await ended(client, first)
    zipped = await exported(client, first)
    assert any(name.endswith("/report.html") for name in entries(zipped))
    second = await host.signed_in("reader-0002")
    answer = await imported(client, second, zipped)
    assert (answer.status_code, answer.json()["presets"]) == (201, 0)
    assert (await client.get("/api/runs", headers=second)).json()["items"] == []


def preset(candidates: list[dict[str, object]]) -> bytes:
    """A line of `presets.jsonl`."""
    whole = {
        "id": "p1", "version": 1, "name": "A preset", "generation": {"candidates": candidates},
        "created_at": "", "updated_at": "",
    }  # fmt: skip
    return json.dumps(whole).encode() + b"\n"


@pytest.mark.parametrize(
    ("zipped", "status", "code"),
    [
        (b"", 400, "import-unreadable"),
        (b"no zip at all", 400, "import-unreadable"),
        (packed(EMPTY)[:-30], 400, "import-unreadable"),
        (packed({"letter.txt": b"hello"}), 400, "import-foreign"),
        (packed(EMPTY | {"carrel.json": b"canary"}), 400, "import-foreign"),
        (packed(EMPTY | {"carrel.json": b'{"format": "carrel-workspace", "version": 2}'}), 400, "import-foreign"),
        (packed(EMPTY | {"contents.jsonl": b"{canary\n"}), 400, "import-unreadable"),
        (packed(EMPTY | {"contents.jsonl": line()}), 400, "import-unreadable"),
        (packed(EMPTY | {"contents.jsonl": line(), "contents/1.md": b"\xff\xfe"}), 400, "import-unreadable"),
        (packed(EMPTY | {"contents.jsonl": line(), "contents/1.md": b"x" * 2_000_000}), 413, "import-too-large"),
        (packed(EMPTY | {"contents.jsonl": b"x" * 3_000_000}), 413, "import-too-large"),
    ],
)
async def test_what_is_no_export_is_refused(
    client: httpx.AsyncClient, host: Host, zipped: bytes, status: int, code: str
) -> None:
    session = await host.signed_in("reader-0001")
    answer = await imported(client, session, zipped)
    assert (answer.status_code, code_of(answer)) == (status, code), answer.text
    assert "canary" not in answer.text


@pytest.mark.parametrize(
    ("entry", "body", "path"),
    [
        ("contents.jsonl", line(type="canary"), "contents[0].type"),
        ("contents.jsonl", line(name="a\0b"), "contents[0].name"),
        ("contents/1.md", b"a\0b", "contents[0].body"),
        ("contents.jsonl", line(name=""), "contents[0].name"),
        ("contents.jsonl", line(canary=1), "contents[0].canary"),
        ("contents.jsonl", line() + line(), "contents[1].id"),
        ("contents.jsonl", line() + line(id="c2", variables={"A": "c3"}), "contents[1].variables.A"),
        ("contents.jsonl", line(id="c1", variables={"A": "c1"}), "contents[0].variables.A"),
        (
            "contents.jsonl",
            line(variables={"A": "c2"}) + line(id="c2", variables={"B": "c3"}) + line(id="c3", variables={"C": "c2"}),
            "contents[2].variables.C",
        ),
        ("contents.jsonl", line(variables={"document": None}), "contents[0].variables.document"),
        ("contents.jsonl", line(type="criteria"), "contents[0].body"),
        ("presets.jsonl", b'{"name": "canary"}\n', "presets[0]"),
        ("presets.jsonl", preset([{}, {"label": 1}]), "presets[0].generation.candidates[1].label"),
        ("presets.jsonl", preset([]), "presets[0].generation.candidates"),
        ("presets.jsonl", preset([{"existing": {"canary": "c1"}}]), "presets[0]"),
        ("settings.json", b'{"timezone": "Canary/Yellow"}', "settings.timezone"),
    ],
)
async def test_a_fault_is_named_and_nothing_of_the_rest_is_kept(
    client: httpx.AsyncClient, host: Host, entry: str, body: bytes, path: str
) -> None:
    session = await host.signed_in("reader-0001")
    good = {"contents.jsonl": line(), "contents/1.md": b"- name: [", "contents/2.md": b""}
    answer = await imported(client, session, packed(EMPTY | good | {entry: body}))
    assert answer.status_code == 400, answer.text
    code_of(answer)
    assert any(fault["path"].startswith(path) for fault in answer.json()["errors"]), answer.text
    assert "Canary" not in answer.text
    assert (await client.get("/api/contents/counts", headers=session)).json()["total"] == 0
    assert (await client.get("/api/settings", headers=session)).json()["timezone"] is None


async def test_a_preset_that_names_what_is_not_in_the_export_is_refused(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    await furnished(client, session)
    found = entries(await exported(client, session))
    lines = found["contents.jsonl"].splitlines(keepends=True)
    answer = await imported(client, session, packed(found | {"contents.jsonl": lines[1]}))
    assert (answer.status_code, code_of(answer)) == (400, "invalid-input")
    assert answer.json()["errors"][0]["path"] == "presets[0]"


async def test_a_bomb_is_stopped_by_what_comes_out_of_it(
    client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package, "MAX_UNPACKED_BYTES", 1_000_000)
    session = await host.signed_in("reader-0001")
    lines = b"".join(line(id=f"c{number}") for number in range(20))
    bomb = packed(EMPTY | {"contents.jsonl": lines, "contents/1.md": b"x" * 100_000})
    answer = await imported(client, session, bomb)
    assert (answer.status_code, code_of(answer)) == (413, "import-too-large")
    assert len(bomb) < 2_000


async def test_texts_that_all_hold_each_other_take_no_longer_than_others(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    count = 800
    # Each holds the hundred after it; looked at one by one, every link would be followed hundreds of times.
    lines = b"".join(
        line(id=f"c{at}", variables={f"v{to}": f"c{to}" for to in range(at + 1, min(at + 101, count))})
        for at in range(count)
    )
    async with asyncio.timeout(60):
        answer = await imported(client, session, packed(EMPTY | {"contents.jsonl": lines, "contents/1.md": b"a"}))
    assert answer.json() == {"contents": count, "presets": 0, "data_sets": 0}


async def test_a_refused_import_leaves_nothing_that_only_the_garbage_collector_frees(
    client: httpx.AsyncClient, host: Host
) -> None:
    session = await host.signed_in("reader-0001")
    too_long = packed({**EMPTY, "contents.jsonl": b"x" * 4 * 1024 * 1024})
    await imported(client, session, too_long)  # what is made only once is made
    gc.collect()
    gc.disable()
    try:
        refused = await imported(client, session, too_long)
        assert code_of(refused) == "import-too-large"
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = [one.f_code.co_qualname for one in gc.garbage if isinstance(one, FrameType)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert left == []


async def test_numbers_are_bounded(client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "MAX_CONTENTS", 2)
    monkeypatch.setattr(incoming, "MAX_PRESETS_BYTES", 1_000)
    monkeypatch.setattr(incoming, "MAX_LINKS", 1)
    monkeypatch.setattr(pieces, "MOST_AT_ONCE", 2_000)
    session = await host.signed_in("reader-0001")
    lines = b"".join(line(id=f"c{number}") for number in range(3))
    for hostile in (
        EMPTY | {"contents.jsonl": lines, "contents/1.md": b""},
        EMPTY | {"contents.jsonl": line() + line(id="c2", variables={"a": "c1", "b": "c1"}), "contents/1.md": b""},
        EMPTY | {"presets.jsonl": b"{}".ljust(1_001)},
        EMPTY | {f"a-file-with-a-long-name-{number}": b"" for number in range(30)},
    ):
        answer = await imported(client, session, packed(hostile))
        assert (answer.status_code, code_of(answer)) == (413, "import-too-large")


async def test_few_imports_are_read_at_once_and_the_others_hold_no_thread(
    client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, may_end = list[str](), threading.Event()
    all_in = threading.Semaphore(0)

    def bring_in(conn: Connection, import_id: str, *_: object) -> Imported:
        reading.append(import_id)
        all_in.release()
        assert may_end.wait(60)
        return Imported(0, 0)

    monkeypatch.setattr(incoming, "bring_in", bring_in)
    sessions = [await host.signed_in(f"reader-{number:04}") for number in range(upload.AT_ONCE + 2)]
    answers = [asyncio.create_task(imported(client, session, packed(EMPTY))) for session in sessions]
    async with asyncio.timeout(60):
        for _ in range(upload.AT_ONCE):
            await asyncio.to_thread(all_in.acquire)
        # Another user's write still finds a thread, after which no further import could have begun unseen.
        another = await host.signed_in("writer-0001")
        assert (await client.put("/api/settings", json={"theme": "dark"}, headers=another)).status_code == 200
        assert len(reading) == upload.AT_ONCE
        may_end.set()
        assert [(await answer).status_code for answer in answers] == [201] * len(sessions)


async def test_entries_are_counted_before_they_are_listed(
    client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listed(*_: object) -> None:
        raise AssertionError("the zip is listed")

    monkeypatch.setattr(pieces, "MAX_ENTRIES", 100)
    session = await host.signed_in("reader-0001")
    many = packed(EMPTY | {f"{number}": b"" for number in range(100)})
    assert (await imported(client, session, packed(EMPTY))).status_code == 201
    monkeypatch.setattr(zipfile, "ZipInfo", listed)
    # The end of the zip states only one entry, which no reader relies on.
    place = many.rindex(b"PK\x05\x06") + 8
    for hostile in (many, many[:place] + struct.pack("<HH", 1, 1) + many[place + 4 :]):
        answer = await imported(client, session, hostile)
        assert (answer.status_code, code_of(answer)) == (413, "import-too-large")


async def test_a_zip_that_lies_about_itself_is_unreadable(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    good = packed(EMPTY)
    encrypted = good.replace(b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01\x00")
    assert encrypted != good
    strange = good.replace(b"\x08\x00", b"\x0e\x00")
    damaged = bytearray(packed(EMPTY | {"contents.jsonl": line(), "contents/1.md": bytes(range(256))}))
    at = damaged.index(bytes(range(1, 30)))
    damaged[at] ^= 0xFF
    for zipped in (encrypted, strange, bytes(damaged)):
        answer = await imported(client, session, zipped)
        assert (answer.status_code, code_of(answer)) == (400, "import-unreadable")


async def test_too_long_a_body_another_media_type_and_a_free_member_are_refused(
    settings: Settings, clock: FakeClock
) -> None:
    async with service(replace(settings, max_import_bytes=50), clock) as client:
        session = await Host(client).signed_in("reader-0001")

        async def slowly() -> AsyncIterator[bytes]:
            for _ in range(3):
                yield b"x" * 20

        answer = await client.post("/api/users/me/import", content=slowly(), headers=session | ZIP)
        assert (answer.status_code, code_of(answer)) == (413, "too-large")
        answer = await client.post("/api/users/me/import", json={}, headers=session)
        assert (answer.status_code, code_of(answer)) == (415, "unsupported-media-type")
        await client.post("/api/users/reader-0001/deactivate", headers=PLUGIN)
        answer = await imported(client, session, b"")
        assert (answer.status_code, code_of(answer)) == (403, "membership-required")


async def test_an_import_that_another_one_overtakes_changes_nothing(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    whole = packed(EMPTY | {"contents.jsonl": line(), "contents/1.md": b"The later one."})

    async def slowly() -> AsyncIterator[bytes]:
        yield b"x" * 8 * pieces.PIECE_BYTES
        assert (await imported(client, session, whole)).status_code == 201
        yield b"x" * 8 * pieces.PIECE_BYTES

    answer = await client.post("/api/users/me/import", content=slowly(), headers=session | ZIP)
    assert (answer.status_code, code_of(answer)) == (409, "import-replaced")
    assert (await client.get("/api/contents/counts", headers=session)).json()["total"] == 1


async def test_an_import_in_parts_goes_on_wherever_it_was_cut(
    client: httpx.AsyncClient, host: Host, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for where in (pieces, upload):
        monkeypatch.setattr(where, "PIECE_BYTES", 100)
    monkeypatch.setattr(upload, "STORED_BYTES", 300)
    session = await host.signed_in("reader-0001")
    whole = packed(EMPTY | {"contents.jsonl": line(), "contents/1.md": b"In parts."})

    async def send(content_range: str, body: bytes | AsyncIterator[bytes] = b"") -> httpx.Response:
        headers = session | ZIP | {"Content-Range": content_range}
        return await client.post("/api/users/me/import", content=body, headers=headers)

    async def cut(start: int) -> AsyncIterator[bytes]:
        yield whole[start : start + 350]
        raise Malformed  # as a request does whose client has left

    total = len(whole)
    answer = await send(f"bytes 0-0/{total}", whole[:250])
    assert (answer.status_code, answer.json()) == (202, {"received_bytes": 200})
    assert (await send(f"bytes 200-{total - 1}/{total}", cut(200))).status_code == 400
    assert (await send(f"bytes */{total}")).json() == {"received_bytes": 500}
    answer = await send(f"bytes 200-299/{total}", whole[200:300])
    assert (answer.status_code, code_of(answer)) == (409, "import-part-misplaced")
    answer = await send(f"bytes 500-{total - 1}/{total}", whole[500:])
    assert (answer.status_code, answer.json()["contents"]) == (201, 1)
    # Nothing is left of it.
    answer = await send(f"bytes */{total}")
    assert (answer.status_code, code_of(answer)) == (409, "import-part-misplaced")
    for content_range, status in (("bytes 0-9/2000000000", 413), ("bytes ten", 400), ("bytes 0-9/10", 413)):
        assert (await send(content_range, whole)).status_code == status
    # What nobody goes on with is deleted after a week, when the workspace opens.
    for days, status in ((6, 202), (2, 409)):
        if status == 202:
            await send(f"bytes 0-0/{total}", whole[:250])
        clock.advance(days * 86_400)
        await client.post("/api/auth/logout", json={"uuid": "reader-0001"}, headers=PLUGIN)
        session = await host.signed_in("reader-0001")
        assert (await send(f"bytes */{total}")).status_code == status


async def test_an_import_whose_client_leaves_ends_and_changes_nothing(
    client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, leaver = await host.signed_in("reader-0001"), ClientConnection()
    index = line() + line(id="c2", file="contents/2.md")
    whole = packed(EMPTY | {"contents.jsonl": index, "contents/1.md": b"One.", "contents/2.md": b"Two."})
    create = contents.create

    def created_as_the_client_leaves(*args: Any) -> Content:
        leaver.leave()
        return create(*args)

    with monkeypatch.context() as patched:
        patched.setattr("carrel.http.client_connection.current", lambda: leaver)
        patched.setattr(contents, "create", created_as_the_client_leaves)
        answer = await imported(client, session, whole)
    assert (answer.status_code, code_of(answer)) == (503, "unavailable")
    assert (await client.get("/api/contents/counts", headers=session)).json()["total"] == 0
    assert (await imported(client, session, whole)).status_code == 201
