"""An export on its way out: piece by piece from the database to the wire, never whole in memory."""

import asyncio
from typing import Any, Final

from litestar import Request
from litestar.types import ASGIApp, Receive, Scope, Send

from carrel.errors import CarrelError
from carrel.kit.answer import Answer
from carrel.kit.etag import etag
from carrel.runs import export_store as store
from carrel.runs.export_store import Ready
from carrel.runs.setup import RunId
from carrel.vault.workspace import Workspace

MEDIA_TYPE: Final = "application/zip"
_PATIENCE_SECONDS: Final = 60.0


class Download(Answer[bytes]):
    """The answer. A reader that takes nothing for a minute is not waited for: it holds the workspace open."""

    def __init__(
        self, workspace: Workspace, run_id: RunId, export: Ready, patience_seconds: float = _PATIENCE_SECONDS
    ) -> None:
        name = f'attachment; filename="carrel-{run_id}.zip"'.encode("ascii")
        super().__init__(
            b"",
            media_type=MEDIA_TYPE,
            etag=etag(export.basis, "zip"),
            headers=((b"content-disposition", name), (b"content-length", b"%d" % export.bytes)),
        )
        self._workspace = workspace
        self._export = export
        self._patience_seconds = patience_seconds

    def to_asgi_response(  # type: ignore[override]  # the framework takes any ASGI app
        self, app: object, request: Request[Any, Any, Any], **_: Any
    ) -> ASGIApp:
        """What the framework sends."""
        plain = super().to_asgi_response(app, request)
        return self._send if plain.status == 200 else plain

    async def _send(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The first piece before the first byte: what is wrong by now can still be said.
        body = await self._workspace.scan(store.piece, self._export, 0)
        headers = [*self.extra, (b"etag", (self.etag or "").encode("ascii")), (b"content-type", MEDIA_TYPE.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            left = self._export.bytes
            ordinal = 0
            while left:
                async with asyncio.timeout(self._patience_seconds):
                    left -= len(body)
                    await send({"type": "http.response.body", "body": body, "more_body": left > 0})
                ordinal += 1
                if left:
                    body = await self._workspace.scan(store.piece, self._export, ordinal)
        except (CarrelError, TimeoutError):
            # Replaced, closed or not taken: the connection ends before its length, so nobody takes it for whole.
            return
