"""A server that plays what a real one was seen to answer, byte by byte: `tests/providers/transcripts`.

Each file is one behaviour. `models`, `chat` and `stream` list the replies of that route in order, and the last repeats;
a stream without a list of its own gets those of `chat`. A reply has `status`, `headers`, and one of `json`, `text`,
`b64` or `pieces`, whose elements are texts or `{"b64"}`; `framing` is `length`, `chunked` or `eof`, and `end` is
`reset` or `close` after the pieces. `expect` says what is right: of one `call`, of the same as a `stream`, of the
`test` of the key, of a judge that is to `compare`, or of a `run`.
"""

import asyncio
import base64
import json
import socket
import struct
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

Json = dict[str, Any]
FOLDER = Path(__file__).parents[1] / "providers" / "transcripts"
_NO_ROUTE: Json = {"status": 404, "text": "404 page not found"}


def transcripts(folder: Path = FOLDER) -> dict[str, Json]:
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


class TranscriptServer:
    """Plays `transcript` on a free port of the machine."""

    def __init__(self, transcript: Json) -> None:
        self.transcript = transcript
        self.asked: list[tuple[str, Json]] = []
        """The route and the body of each call."""
        self._played = Counter[str]()
        self.port = 0

    @property
    def base_url(self) -> str:
        return f"http://localhost:{self.port}{self.transcript.get('tail', '/v1')}"

    def begin_anew(self) -> None:
        """As if nobody had asked anything yet."""
        self.asked.clear()
        self._played.clear()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                lines = head.lower().split("\r\n")
                length = next((int(line[15:]) for line in lines if line.startswith("content-length:")), 0)
                body = json.loads(await reader.readexactly(length) or b"{}")
                _, path, _ = head.split(" ", 2)
                if not await self._play(writer, self._reply(path, body)):
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _reply(self, path: str, body: Json) -> Json:
        route = path.partition("?")[0]
        kind = "models"
        if not route.endswith("/models"):
            is_stream = body.get("stream") or "streamGenerateContent" in route
            kind = "stream" if is_stream and "stream" in self.transcript else "chat"
            self.asked.append(("stream" if is_stream else "chat", body))
        replies = self.transcript.get(kind) or [_NO_ROUTE]
        self._played[kind] += 1
        reply: Json = replies[min(self._played[kind], len(replies)) - 1]
        return reply

    async def _play(self, writer: asyncio.StreamWriter, reply: Json) -> bool:
        """Say it. Return whether the connection goes on."""
        is_stream = "pieces" in reply
        kind = "text/event-stream" if is_stream else "text/plain" if "text" in reply else "application/json"
        headers = {"Content-Type": kind} | reply.get("headers", {})
        framing = reply.get("framing", "chunked" if is_stream else "length")
        pieces = [_bytes(piece) for piece in reply["pieces"]] if is_stream else [_body(reply)]
        if framing == "length":
            headers["Content-Length"] = str(sum(map(len, pieces)))
        elif framing == "chunked":
            headers["Transfer-Encoding"] = "chunked"
        head = [f"HTTP/1.1 {reply.get('status', 200)} Said", *(f"{name}: {text}" for name, text in headers.items())]
        writer.write("\r\n".join([*head, "", ""]).encode())
        for piece in pieces:
            # Each byte by itself: no reader may count on how the network cuts an answer.
            for number in range(0, len(piece), 1 if len(piece) < 2_000 else 997):
                part = piece[number : number + (1 if len(piece) < 2_000 else 997)]
                writer.write(b"%x\r\n%b\r\n" % (len(part), part) if framing == "chunked" else part)
            await writer.drain()
        if "end" in reply:
            if reply["end"] == "reset":
                sock: socket.socket = writer.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if framing == "chunked":
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        return bool(framing != "eof")


def _bytes(piece: Any) -> bytes:
    return piece.encode() if isinstance(piece, str) else base64.b64decode(piece.get("b64", ""))


def _body(reply: Json) -> bytes:
    if "json" in reply:
        return json.dumps(reply["json"]).encode()
    return _bytes(reply.get("text", reply))


@asynccontextmanager
async def transcript_server(transcript: Json) -> AsyncIterator[TranscriptServer]:
    made = TranscriptServer(transcript)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
