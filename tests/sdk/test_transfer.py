"""A whole workspace out of the real service and into another, by the user's client."""

import io
import os
import zipfile
from collections.abc import Iterator

import httpx
import pytest
from carrel_sdk import CarrelUnreachable, Host, Workspace, transfer
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


class _Line(httpx.HTTPTransport):
    """A line on which every second part is cut."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        length = int(request.headers.get("content-length", 0))
        if length:
            self.parts += 1
            if self.parts % 2:
                request.stream = _Cut(request.stream, length * 2 // 3)
        return super().handle_request(request)


class _Cut(httpx.SyncByteStream):
    def __init__(self, whole: httpx.SyncByteStream | httpx.AsyncByteStream, left: int) -> None:
        assert isinstance(whole, httpx.SyncByteStream)
        self._whole, self._left = whole, left

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._whole:
            self._left -= len(piece)
            if self._left < 0:
                raise httpx.WriteError("cut")
            yield piece


def test_a_large_import_goes_in_parts_and_goes_on_wherever_it_was_cut(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "PART_BYTES", 2**19)
    host, line = Host(service.url, service.plugin_secret), _Line()
    for uuid in ("mover-0003", "mover-0004"):
        host.sign_up(uuid, membership="paid", password="pw")
    file = io.BytesIO()
    with Workspace(service.url, str(host.session("mover-0003"))) as workspace:
        for name in ("Noise", "More"):
            workspace.contents.create(name, "fragment", os.urandom(450_000).hex())
        workspace.export_to(file)
    with Workspace(service.url, str(host.session("mover-0004")), http=line) as workspace:
        # Another program has begun, with another file.
        begun = os.urandom(2**19)
        headers = {
            "X-SVC-Session-Token": str(host.session("mover-0004")),
            "Content-Type": "application/zip",
            "Content-Range": f"bytes 0-{2**19}/{2**30}",
        }
        httpx.post(f"{service.url}/api/users/me/import", content=begun, headers=headers).raise_for_status()
        assert workspace.import_from(file).contents == 2
        assert workspace.me().counts.contents == 2
    assert line.parts > 4
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
