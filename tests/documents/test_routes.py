"""Uploads over HTTP: what comes in, what stays, what goes out, and what is refused without a trace."""

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from carrel.config import Settings
from carrel.documents import intake, jobs
from carrel.documents.extract import Extract
from carrel.documents.schemas import DocumentUpload
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.processes.worker import Worker
from carrel.vault.keyring import UserUuid
from tests.documents import files
from tests.support.clock import FakeClock
from tests.support.host import Host, code_of
from tests.support.probe import faults_of

DOCUMENTS = "/api/documents"
CONTENTS = "/api/contents"
TEXT = b"A lighthouse keeper writes down every ship.\n"


async def upload(
    client: httpx.AsyncClient, file_name: str, body: bytes, kind: str = "application/x", **fields: str
) -> httpx.Response:
    return await client.post(DOCUMENTS, files={"file": (file_name, body, kind)}, data=fields)


async def kept(client: httpx.AsyncClient) -> int:
    """How many rows there are of what an upload makes."""
    contents = (await client.get(f"{CONTENTS}/counts")).json()["total"]
    return int(contents) + len((await client.get(DOCUMENTS)).json()["items"])


async def test_a_document_lives_from_upload_to_deletion(ada: httpx.AsyncClient) -> None:
    answer = await upload(ada, "ships.md", b"# Ships\r\n" + TEXT)
    assert answer.status_code == 201, answer.text
    document = answer.json()
    assert set(document) == {
        *("id", "content_id", "name", "file_name", "format", "bytes", "text_bytes", "remarks", "version", "created_at")
    }  # fmt: skip
    path = f"{DOCUMENTS}/{document['id']}"
    assert (await ada.get(path)).json() == document
    assert (await ada.get(DOCUMENTS)).json() == {"items": [document], "next_cursor": None}
    content = (await ada.get(f"{CONTENTS}/{document['content_id']}")).json()
    assert (content["type"], content["name"], content["version"]) == ("input_document", "ships.md", 1)
    assert content["body"] == "# Ships\n" + TEXT.decode()
    assert (document["format"], document["bytes"], document["text_bytes"]) == ("md", 53, 52)
    original = await ada.get(f"{path}/original")
    assert original.content == b"# Ships\r\n" + TEXT
    assert (await ada.delete(path, headers={"If-Match": '"2.json"'})).status_code == 412
    assert (await ada.delete(path, headers={"If-Match": (await ada.get(path)).headers["etag"]})).status_code == 204
    for gone in (path, f"{path}/original", f"{CONTENTS}/{document['content_id']}"):
        assert ((await ada.get(gone)).status_code, code_of(await ada.get(gone))) == (404, "not-found")
    assert (await ada.delete(path)).status_code == 404


async def test_pdf_and_word_files_are_found_by_their_words(ada: httpx.AsyncClient) -> None:
    assert (await upload(ada, "Tower.PDF", files.pdf("The tower was raised."))).status_code == 201
    storm = files.docx(files.paragraph("The storm came."))
    assert (await upload(ada, "storm.docx", storm)).status_code == 201
    for word, name in (("tower", "Tower.PDF"), ("storm", "storm.docx")):
        found = (await ada.get(CONTENTS, params={"q": word})).json()["items"]
        assert [item["name"] for item in found] == [name]


async def test_a_name_of_its_own_and_a_media_type_stand_in_for_what_a_file_lacks(ada: httpx.AsyncClient) -> None:
    named = (await upload(ada, "a.txt", TEXT, name="Ships")).json()
    assert (named["name"], named["file_name"]) == ("Ships", "a.txt")
    assert (await upload(ada, "README", TEXT, "text/markdown")).json()["format"] == "md"


async def test_an_original_of_many_pieces_comes_back_whole_and_nothing_of_it_is_readable_on_the_disk(
    ada: httpx.AsyncClient, settings: Settings
) -> None:
    noise = b"<!-- canary-in-a-comment -->" * 90_000
    document = (await upload(ada, "page.html", noise + b"<p>canary-in-the-text</p>")).json()
    original = await ada.get(f"{DOCUMENTS}/{document['id']}/original")
    assert original.content == noise + b"<p>canary-in-the-text</p>"
    assert document["text_bytes"] == len("canary-in-the-text")
    for file in Path(settings.data_dir).rglob("*"):
        assert not file.is_file() or b"canary" not in file.read_bytes(), file


async def test_an_original_is_saved_and_never_shown(ada: httpx.AsyncClient) -> None:
    name = 'Ünï "x"; evil=<script>.html'
    document = (await upload(ada, f"C:\\dir/../{name}", b"<script>alert(1)</script><p>Words</p>")).json()
    assert document["file_name"] == name
    headers = (await ada.get(f"{DOCUMENTS}/{document['id']}/original")).headers
    assert headers["content-type"] == "application/octet-stream"
    assert headers["content-disposition"].startswith('attachment; filename="_n_ _x__ evil=<script>.html"; filename*=')
    assert "sandbox" in headers["content-security-policy"]
    assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")


async def test_an_original_that_the_reader_has_already_is_neither_sent_nor_announced(ada: httpx.AsyncClient) -> None:
    path = f"{DOCUMENTS}/{(await upload(ada, 'a.txt', TEXT)).json()['id']}/original"
    tag = (await ada.get(path)).headers["etag"]
    same = await ada.get(path, headers={"If-None-Match": tag})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    # A length without the bytes makes a server give the connection up.
    assert "content-length" not in same.headers


async def test_a_text_that_goes_takes_its_original_along(ada: httpx.AsyncClient) -> None:
    document = (await upload(ada, "a.txt", TEXT)).json()
    assert (await ada.delete(f"{CONTENTS}/{document['content_id']}")).status_code == 204
    assert (await ada.get(f"{DOCUMENTS}/{document['id']}/original")).status_code == 404
    assert await kept(ada) == 0


async def test_a_document_in_use_stays_and_says_where(ada: httpx.AsyncClient) -> None:
    document = (await upload(ada, "a.txt", TEXT)).json()
    linked = {"name": "n", "type": "fragment", "body": "{{X}}", "variables": {"X": document["content_id"]}}
    user = (await ada.post(CONTENTS, json=linked)).json()["id"]
    answer = await ada.delete(f"{DOCUMENTS}/{document['id']}")
    assert (answer.status_code, code_of(answer)) == (409, "document-in-use")
    assert answer.json()["errors"] == [{"path": "contents", "message": user}]


REFUSED = [
    ("a.txt", b"", 400, "document-empty"),
    ("a.exe", TEXT, 415, "document-format-unsupported"),
    ("a", TEXT, 415, "document-format-unsupported"),
    ("", TEXT, 415, "document-format-unsupported"),
    ("a.pdf", TEXT, 400, "document-format-mismatch"),
    ("a.txt", files.pdf("x"), 400, "document-format-mismatch"),
    ("a.docx", files.pdf("x"), 400, "document-format-mismatch"),
    ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 400, "document-encrypted"),
    ("a.pdf", files.pdf("x", password="p"), 400, "document-encrypted"),
    ("a.pdf", files.pdf("x")[:99], 400, "document-broken"),
    ("a.docx", files.docx(files.paragraph("&j;"), before=files.LAUGHS), 400, "document-broken"),
    ("a.docx", files.bomb(14), 400, "document-too-complex"),
    ("a.pdf", files.pdf(""), 400, "document-without-text"),
    ("a.txt", b"\xff\xfc", 400, "document-not-utf8"),
    ("a.txt", b"x" * (1024 * 1024 + 1), 413, "document-text-too-large"),
    # Before it is in memory: nothing makes it short enough, not even that it is no text.
    ("a.csv", b"\0" * (4 * 1024 * 1024), 413, "document-text-too-large"),
]


async def test_a_hostile_file_gets_a_clear_answer_and_nothing_is_kept(ada: httpx.AsyncClient) -> None:
    for name, body, status, code in REFUSED:
        answer = await upload(ada, name, body)
        assert (answer.status_code, code_of(answer)) == (status, code), (name, code, answer.text)
    assert await kept(ada) == 0
    assert (await upload(ada, "good.txt", TEXT)).status_code == 201


@pytest.mark.parametrize("lent_workers", [None])  # one that runs already could answer in no time at all
async def test_a_file_that_takes_too_long_is_ended_and_the_next_is_read(
    ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "READING_SECONDS", 0.01)
    answer = await upload(ada, "a.html", b"&<" * 200_000)
    assert (answer.status_code, code_of(answer)) == (400, "document-too-complex")
    monkeypatch.undo()
    assert (await upload(ada, "a.txt", TEXT)).status_code == 201


async def test_who_brings_many_files_lets_others_go_between(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bytes] = []

    async def slowly(
        self: Worker, fn: object, kind: str, body: bytearray, *_: object, timeout_seconds: float
    ) -> Extract:
        read.append(bytes(body))
        await asyncio.sleep(0)
        return Extract("words", [])

    monkeypatch.setattr(Worker, "run", slowly)
    reader = intake.Intake(WorkerPool(jobs.JOBS, 1, FakeClock()), settings)
    asked = [("ada", b"a1"), ("ada", b"a2"), ("ada", b"a3"), ("bob", b"b1")]
    await asyncio.gather(
        *(reader.extract(UserUuid(user), DocumentUpload("n", "n.txt", "txt", bytearray(body))) for user, body in asked)
    )
    assert read == [b"a1", b"b1", b"a2", b"a3"]


FORMS = [
    {"files": {"other": ("a.txt", TEXT)}},
    {"files": [("file", ("a.txt", TEXT)), ("file", ("b.txt", TEXT))]},
    {"files": {"file": ("a.txt", TEXT)}, "data": {"name": "n" * 201}},
    {"files": {"file": ("a.txt", TEXT)}, "data": {"name": ""}},
    {"files": {"name": (None, b"\xff"), "file": ("a.txt", TEXT)}},
    {"files": {"name": (None, b"a\0"), "file": ("a.txt", TEXT)}},
    {"files": {"name": (None, b"n" * 9_000), "file": ("a.txt", TEXT)}},
    {"files": {"name": (None, b"only a name")}},
    {"files": {"name": (None, b"n"), "file": ("a.txt", TEXT), "more": (None, b"x")}},
    {"content": b"", "headers": {"Content-Type": "multipart/form-data; boundary=b"}},
    {"content": b"--b\r\nnonsense", "headers": {"Content-Type": "multipart/form-data; boundary=b"}},
    {"content": b"x", "headers": {"Content-Type": "multipart/form-data; boundary="}},
]


async def test_a_form_that_is_none_of_ours_is_bad_input(ada: httpx.AsyncClient) -> None:
    for form in FORMS:
        answer = await ada.post(DOCUMENTS, **form)  # type: ignore[arg-type]
        assert (answer.status_code, code_of(answer) in {"invalid-input", "malformed"}) == (400, True), answer.text
    assert await kept(ada) == 0


async def test_an_absent_form_lacks_its_file_and_an_unknown_field_is_named(ada: httpx.AsyncClient) -> None:
    absent = {"Content-Type": "multipart/form-data; boundary=b"}
    for headers in ({}, absent):
        answer = await ada.post(DOCUMENTS, headers=headers)
        assert faults_of(answer) == {"file": "is required"}
    unknown = await ada.post(DOCUMENTS, files={"more": (None, b"x"), "file": ("a.txt", TEXT)})
    assert faults_of(unknown) == {"more": "is not a known field"}


async def test_what_is_no_form_is_415(ada: httpx.AsyncClient) -> None:
    assert (await ada.post(DOCUMENTS, json={"file": "x"})).status_code == 415


async def test_the_same_upload_under_one_key_is_kept_once(ada: httpx.AsyncClient) -> None:
    ada.headers["Idempotency-Key"] = "k"
    first = await upload(ada, "a.txt", TEXT)
    again = await upload(ada, "a.txt", TEXT)
    assert (first.status_code, again.status_code, first.json()) == (201, 201, again.json())
    other = await upload(ada, "a.txt", TEXT + b"more")
    assert (other.status_code, code_of(other)) == (409, "idempotency-mismatch")
    assert await kept(ada) == 2


async def test_a_document_says_what_is_not_in_its_text(ada: httpx.AsyncClient) -> None:
    document = (await upload(ada, "a.html", b"<p>Words.<p hidden>No.<p><img src=x><img src=y>")).json()
    assert document["remarks"] == [
        {"kind": "hidden_text", "count": 1, "pages": []},
        {"kind": "picture", "count": 2, "pages": []},
    ]
    assert (await ada.get(f"{DOCUMENTS}/{document['id']}")).json() == document


async def test_a_page_of_a_pdf_is_shown_in_a_worker_as_it_looks(ada: httpx.AsyncClient) -> None:
    path = f"{DOCUMENTS}/{(await upload(ada, 'a.pdf', files.pdf('Words.'))).json()['id']}/pages"
    seen = (await ada.get(f"{path}/1")).json()
    assert (seen["text"], seen["pages"], base64.b64decode(seen["image"])[:2]) == ("Words.", 1, b"\xff\xd8")
    for number, code in ((2, "not-found"), (0, "invalid-input")):
        assert code_of(await ada.get(f"{path}/{number}")) == code


async def test_an_original_is_read_again_and_the_text_before_stays_a_version(
    ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def wrongly(self: intake.Intake, *_: object) -> Extract:
        return Extract("Price | 20", [])

    with monkeypatch.context() as older:
        older.setattr(intake.Intake, "extract", wrongly)
        document = (await upload(ada, "a.html", b"<table><tr><td>Price<td><td>20</table><img src=x>")).json()
    path, content = f"{DOCUMENTS}/{document['id']}", f"{CONTENTS}/{document['content_id']}"
    read = await ada.post(f"{path}/reread")
    assert (read.status_code, read.json()) == (200, (await ada.get(path)).json())
    assert (read.json()["version"], read.json()["remarks"]) == (2, [{"kind": "picture", "count": 1, "pages": []}])
    assert (await ada.get(content)).json()["body"] == "| Price |  | 20 |\n| --- | --- | --- |"
    assert (await ada.get(f"{content}/versions/1")).json()["body"] == "Price | 20"
    assert (await ada.post(f"{path}/reread")).json()["version"] == 2
    found = (await ada.get(CONTENTS, params={"q": "Price"})).json()["items"]
    assert [one["version"] for one in found] == [2]
    assert (await ada.post(f"{DOCUMENTS}/{document['content_id']}/reread")).status_code == 404


async def test_documents_of_others_are_not_there(ada: httpx.AsyncClient, host: Host) -> None:
    document = (await upload(ada, "a.txt", TEXT)).json()
    eve = await host.signed_in("eve")
    for path in ("", "/original"):
        assert (await ada.get(f"{DOCUMENTS}/{document['id']}{path}", headers=eve)).status_code == 404
    assert (await ada.post(f"{DOCUMENTS}/{document['id']}/reread", headers=eve)).status_code == 404
    free = await host.signed_in("fred", "free")
    refused = await ada.post(DOCUMENTS, files={"file": ("a.txt", TEXT)}, headers=free)
    assert (refused.status_code, code_of(refused)) == (403, "membership-required")


class TestSmall:
    """With room for very little."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return Settings(
            plugin_secret=settings.plugin_secret,
            service_key=settings.service_key,
            data_dir=settings.data_dir,
            max_upload_bytes=1000,
        )

    async def test_an_upload_ends_at_its_limit_announced_or_not(self, ada: httpx.AsyncClient) -> None:
        assert (await upload(ada, "a.txt", b"x" * 1000)).status_code == 201
        answer = await upload(ada, "a.txt", b"x" * 1001)
        assert (answer.status_code, code_of(answer)) == (413, "upload-too-large")
        sent = 0

        async def endless() -> AsyncIterator[bytes]:
            nonlocal sent
            yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
            while sent < 1_000_000:
                sent += 100
                yield b"x" * 100

        kind = {"Content-Type": "multipart/form-data; boundary=b"}
        answer = await ada.post(DOCUMENTS, content=endless(), headers=kind)
        assert (answer.status_code, code_of(answer)) == (413, "upload-too-large")
        assert await kept(ada) == 2

    async def test_more_uploads_than_there_is_memory_for_wait_outside(self, ada: httpx.AsyncClient) -> None:
        gate = asyncio.Event()
        entered = asyncio.Event()

        async def slow() -> AsyncIterator[bytes]:
            yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nslow'
            entered.set()
            await gate.wait()
            yield b"ly\r\n--b--\r\n"

        kind = {"Content-Type": "multipart/form-data; boundary=b"}
        waiting = [asyncio.create_task(ada.post(DOCUMENTS, content=slow(), headers=kind)) for _ in range(3)]
        await entered.wait()
        await asyncio.sleep(0)
        answer = await upload(ada, "a.txt", TEXT)
        gate.set()
        assert (answer.status_code, code_of(answer)) == (503, "uploads-busy")
        assert int(answer.headers["retry-after"]) > 0
        assert [(await one).status_code for one in waiting] == [201] * 3
        assert (await upload(ada, "a.txt", TEXT)).status_code == 201
