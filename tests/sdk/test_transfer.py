"""A whole workspace out of the real service and into another, by the user's client."""

import io
import zipfile
from collections.abc import Iterator

import httpx
import pytest
from carrel_sdk import CarrelUnreachable, Host, Workspace
from carrel_sdk.errors import CarrelApiError

from tests.support.service import Service


def test_a_workspace_goes_out_and_comes_in_elsewhere(service: Service) -> None:
    host = Host(service.url, service.plugin_secret)
    for uuid in ("mover-0001", "mover-0002"):
        host.sign_up(uuid, membership="paid", password="pw")
    file = io.BytesIO()
    with Workspace(service.url, str(host.session("mover-0001"))) as workspace:
        style = workspace.contents.create("Style", "fragment", "plain words")
        workspace.contents.create("Ask", "generation_instructions", "In {{STYLE}}.", variables={"STYLE": style.id})
        workspace.export_to(file)
    assert "README.txt" in zipfile.ZipFile(file).namelist()
    file.seek(0)
    with Workspace(service.url, str(host.session("mover-0002"))) as workspace:
        assert workspace.import_from(file).contents == 2
        (ask,) = workspace.contents.find(type="generation_instructions")
        assert workspace.contents.resolve(ask.id).body == "In plain words."
        with pytest.raises(CarrelApiError) as refused:
            workspace.import_from(io.BytesIO(b"no zip"))
        assert refused.value.code == "import-unreadable"
    host.close()


class _Torn(httpx.SyncByteStream):
    def __iter__(self) -> Iterator[bytes]:
        yield b"PK"
        raise httpx.RemoteProtocolError("torn")


def test_an_export_that_ends_in_the_middle_is_told() -> None:
    file = io.BytesIO()
    wire = httpx.MockTransport(lambda _: httpx.Response(200, stream=_Torn()))
    with (
        Workspace("http://127.0.0.1:1", "t", http=wire) as workspace,
        pytest.raises(CarrelUnreachable, match="in the middle"),
    ):
        workspace.export_to(file)
