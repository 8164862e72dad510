"""Files through the SDK, to the real service and back."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from carrel_sdk import CarrelApiError, Conflict, Host, NotFound, Workspace

from tests.documents import files
from tests.support.service import Service


@pytest.fixture
def desk(service: Service) -> Iterator[Workspace]:
    host = Host(service.url, service.plugin_secret)
    uuid = f"desk-{uuid4()}"
    host.sign_up(uuid, membership="paid", password="pw")
    with Workspace(service.url, lambda: str(host.session(uuid))) as desk:
        yield desk
    host.close()


def test_a_file_is_uploaded_read_handed_out_and_deleted(desk: Workspace) -> None:
    body = files.pdf("A line of text.")
    name = 'Ünï "quoted"\r\n; x=y.pdf'
    made = desk.documents.upload(name, body, name="Zwei Wörter")
    assert (made.name, made.format, made.bytes) == ("Zwei Wörter", "pdf", len(body))
    assert desk.contents.get(made.content_id).body == "A line of text."
    assert desk.documents.original(made.id) == body
    assert [found.id for found in desk.documents.each()] == [made.id]
    user = desk.contents.create("n", "fragment", "{{X}}", variables={"X": made.content_id})
    with pytest.raises(Conflict) as refused:
        desk.documents.delete(made.id)
    assert [fault.message for fault in refused.value.errors] == [user.id]
    desk.contents.delete(user.id)
    desk.documents.delete(made.id)
    with pytest.raises(NotFound):
        desk.documents.get(made.id)


def test_the_largest_file_is_kept_and_one_byte_more_is_not(desk: Workspace) -> None:
    limit = desk.me().limits.upload_bytes
    body = b"<p>Words</p><!--" + b"x" * (limit - 19) + b"-->"
    made = desk.documents.upload("large.html", body)
    assert (made.bytes, made.text_bytes) == (limit, 5)
    assert desk.documents.original(made.id) == body
    with pytest.raises(CarrelApiError) as refused:
        desk.documents.upload("larger.html", b" " + body)
    assert refused.value.code == "upload-too-large"
    assert [found.id for found in desk.documents.each()] == [made.id]
