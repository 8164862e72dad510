"""Files through the SDK, to the real service and back."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from carrel_sdk import CarrelApiError, Conflict, Host, NotFound, Workspace

from tests.documents import files
from tests.support.service import Service


@pytest.fixture
def workspace(service: Service) -> Iterator[Workspace]:
    host = Host(service.url, service.plugin_secret)
    uuid = f"workspace-{uuid4()}"
    host.sign_up(uuid, membership="paid", password="pw")
    with Workspace(service.url, lambda: str(host.session(uuid))) as workspace:
        yield workspace
    host.close()


def test_a_file_is_uploaded_read_handed_out_and_deleted(workspace: Workspace) -> None:
    body = files.pdf("A line of text.")
    name = 'Ünï "quoted"\r\n; x=y.pdf'
    made = workspace.documents.upload(name, body, name="Zwei Wörter")
    assert (made.name, made.format, made.bytes) == ("Zwei Wörter", "pdf", len(body))
    assert workspace.contents.get(made.content_id).body == "A line of text."
    assert workspace.documents.original(made.id) == body
    assert [found.id for found in workspace.documents.each()] == [made.id]
    user = workspace.contents.create("n", "fragment", "{{X}}", variables={"X": made.content_id})
    with pytest.raises(Conflict) as refused:
        workspace.documents.delete(made.id)
    assert [fault.message for fault in refused.value.errors] == [user.id]
    workspace.contents.delete(user.id)
    workspace.documents.delete(made.id)
    with pytest.raises(NotFound):
        workspace.documents.get(made.id)


def test_the_largest_file_is_kept_and_one_byte_more_is_not(workspace: Workspace) -> None:
    limit = workspace.me().limits.upload_bytes
    body = b"<p>Words</p><!--" + b"x" * (limit - 19) + b"-->"
    made = workspace.documents.upload("large.html", body)
    assert (made.bytes, made.text_bytes) == (limit, 5)
    assert workspace.documents.original(made.id) == body
    with pytest.raises(CarrelApiError) as refused:
        workspace.documents.upload("larger.html", b" " + body)
    assert refused.value.code == "upload-too-large"
    assert [found.id for found in workspace.documents.each()] == [made.id]
