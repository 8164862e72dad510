"""A local server that speaks as OpenAI-compatible ones do, in a process of its own: for tests, campaigns, benchmarks.

    python tests/support/model_server.py --port 0 --latency-ms 200

prints one line of JSON, `{"url", "base_url", "key"}`, and serves until it is told to stop.

| route | answers |
|---|---|
| `POST /v1/chat/completions` | the same request always the same answer, judged or written, with token counts |
| `POST /v1/responses` | the same in the Responses API, with reasoning that is billed and not shown |
| `GET /v1/models` | the names in `--models`; any other name is 404 |
| `GET /counts`, `DELETE /counts` | how often each prompt was begun and answered; start counting anew |
| `GET /bill` | the tokens of all calls that were answered, also for clients that had gone |
| `GET /started` | how many calls were ever begun; cheap, to be asked again and again |
| `PUT /faults`, `PUT /latency` | what goes wrong from now on, a list of `Fault`; the milliseconds each answer takes, |
| | also those that are awaited already |

Every route wants `Authorization: Bearer <key>`. A prompt is the whole request body without the marks of fences, which
are random for each run: two runs of the same work ask the same prompts.
"""

import argparse
import asyncio
import hashlib
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.request import Request, urlopen

import msgspec
import uvicorn

from carrel.judges import bench

MODELS = ("alpha", "beta", "gamma", "judge-one", "judge-two")
CRITIC = "critic"
"""A judge that passes the check of judges, where it is among the models."""
HIDDEN = 16
"""Tokens of reasoning in every answer of the Responses API, in which models called `codex` answer alone."""
REASKED = "Your previous reply was not accepted"
"""What the prompt of a question that is asked again says."""

FaultKind = Literal[
    "status", "hang", "truncated", "refusal", "filtered", "length", "empty", "malformed", "no-usage", "long"
]


class Fault(msgspec.Struct, frozen=True, omit_defaults=True):
    """What goes wrong with the prompts that hold `match`, or with one of `every` prompts, for the first `times`.

    `status` answers with `status` and `retry_after`; `hang` never answers; `truncated` breaks off the JSON;
    `malformed` says no JSON unless the question is asked again; `long` counts as many tokens as the request allows.
    """

    kind: FaultKind
    match: str = ""
    every: int = 1
    times: int | None = None
    status: int = 500
    retry_after: str | None = None


# The pure part: a prompt's answer -----------------------------------------------------------------------------------

_MARK = re.compile(rb"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
_FENCED = re.compile(r"«BEGIN (DOCUMENT|ANSWER|FIRST ANSWER|SECOND ANSWER) »\n(.*?)\n«END \1 »", re.DOTALL)
_WORDS = re.findall(
    r"\w+",
    """
harbour ledger pilot tower lamp breakwater mirror apples valley market council bridge granary bay nets hemp river
cod chronicle flood houses painter portrait lighthouse weather feast customs brick windows bakery gate ovens
""",
)


class Message(msgspec.Struct):
    """One turn of a conversation."""

    role: str
    content: str


class Chat(msgspec.Struct):
    """As much of a request as this server looks at."""

    model: str
    messages: list[Message]
    response_format: dict[str, Any] | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None

    hidden: int = 0

    @property
    def output_limit(self) -> int:
        """The most tokens that the answer may have; without a limit, as many as large models write."""
        return self.max_completion_tokens or self.max_tokens or 128_000


def prompt_of(body: bytes) -> bytes:
    """What makes a request the same as another: its body without marks of fences."""
    return _MARK.sub(b"", body)


def number_of(*parts: str | bytes) -> int:
    """A number that follows from the parts."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else part)
        digest.update(b"\0")
    return int.from_bytes(digest.digest()[:6], "big")


def answer_to(chat: Chat, prompt: bytes) -> str:
    """A text of forty words, or JSON that satisfies the schema that was asked for.

    Judges go by the texts that they see, not by their order: a better text wins from both sides, most of the time.
    """
    schema = _schema(chat.response_format)
    if schema is None:
        return " ".join(_WORDS[number_of(prompt, str(i)) % len(_WORDS)] for i in range(40)).capitalize() + "."
    fenced = dict(_FENCED.findall("\n".join(message.content for message in chat.messages)))
    return json.dumps(_satisfy(schema, chat.model, fenced, prompt))


def _schema(response_format: dict[str, Any] | None) -> dict[str, Any] | None:
    if response_format is None or response_format.get("type") != "json_schema":
        return None
    found: dict[str, Any] = response_format["json_schema"]["schema"]
    return found


def _satisfy(schema: dict[str, Any], judge: str, fenced: dict[str, str], prompt: bytes, name: str = "") -> Any:
    if schema["type"] == "object":
        return {key: _satisfy(part, judge, fenced, prompt, key) for key, part in schema["properties"].items()}
    if schema["type"] in ("number", "integer"):
        low, high = schema.get("minimum", 1), schema.get("maximum", 5)
        good, taste = _quality(fenced.get("ANSWER", "")), number_of(prompt, judge, name) % 100 / 100
        return low + round((high - low) * (0.7 * good + 0.3 * taste))
    if "enum" in schema:
        if judge == CRITIC and (better := _better(fenced.get("DOCUMENT", "").strip())) is not None:
            return "first" if fenced["FIRST ANSWER"].strip() == better else "second"
        first, second = (_quality(fenced.get(f"{which} ANSWER", "")) for which in ("FIRST", "SECOND"))
        first += (number_of(prompt, judge) % 100 - 50) / 500
        return "tie" if abs(first - second) < 0.02 else "first" if first > second else "second"
    return "So it is."


def _better(document: str) -> str | None:
    """The better answer to a document of the check of judges."""
    return next((found for one in bench.QUESTIONS if (found := one.answered(document)) is not None), None)


def _quality(text: str) -> float:
    return number_of(text) % 1000 / 1000


# The server ---------------------------------------------------------------------------------------------------------

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Reply(NamedTuple):
    """What goes back over the wire."""

    status: int
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Tally(msgspec.Struct):
    """How often one prompt was begun and answered with a 200. `asks` is its end, for people."""

    model: str
    asks: str
    started: int = 0
    completed: int = 0


ENDS = {"qwen3:4b": "2027-02-01"}
"""When models are switched off, by the list."""


class ModelServer:
    """The ASGI application. Nothing lasts longer than the process."""

    def __init__(self, key: str, models: Sequence[str], latency_ms: float, faults: Iterable[Fault]) -> None:
        self._key = f"Bearer {key}".encode()
        self._models = {
            "object": "list",
            "data": [
                {"id": name, "object": "model", "created": 0, "owned_by": "test", "shutdown_date": ENDS.get(name)}
                for name in models
            ],
        }
        self._names = frozenset(models)
        self._latency_ms = latency_ms
        self._hurried = asyncio.Event()
        self._faults = list(faults)
        self._tallies: dict[str, Tally] = {}
        self._in_flight = self._most_in_flight = self._started = 0
        self._bill = Bill()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if dict(scope["headers"]).get(b"authorization") != self._key:
            await _send(send, _error(401, "invalid_api_key"))
            return
        body = b""
        more = True
        while more:
            event = await receive()
            body += event.get("body", b"")
            more = event.get("more_body", False)
        if scope["method"] == "POST" and scope["path"] in _CALLS:
            await self._complete(_CALLS[scope["path"]](body), body, receive, send)
            return
        await _send(send, self._other(scope["method"], scope["path"], body))

    def _other(self, method: str, path: str, body: bytes) -> Reply:
        if (method, path) == ("GET", "/v1/models"):
            return _json(self._models)
        if (method, path) == ("GET", "/started"):
            return _json(self._started)
        if (method, path) == ("GET", "/bill"):
            return _json(self._bill)
        if (method, path) == ("PUT", "/faults"):
            self._faults = msgspec.json.decode(body, type=list[Fault])
        elif (method, path) == ("PUT", "/latency"):
            self._latency_ms = float(body)
            self._hurried.set()
            self._hurried = asyncio.Event()
        elif (method, path) == ("DELETE", "/counts"):
            self._tallies.clear()
            self._most_in_flight = self._in_flight
        elif (method, path) != ("GET", "/counts"):
            return _error(404, "not_found")
        return _json(Counts(self._tallies, self._in_flight, self._most_in_flight))

    async def _complete(self, chat: Chat, body: bytes, receive: Receive, send: Send) -> None:
        if "codex" in chat.model and not chat.hidden:
            await _send(send, _error(404, "not_found", "This model is only supported in v1/responses."))
            return
        if chat.model not in self._names:
            await _send(send, _error(404, "model_not_found"))
            return
        prompt = prompt_of(body)
        key = f"{number_of(prompt):012x}"
        tally = self._tallies.get(key)
        if tally is None:
            tally = self._tallies[key] = Tally(chat.model, prompt[-80:].decode("utf-8", "replace"))
        tally.started += 1
        self._started += 1
        self._in_flight += 1
        self._most_in_flight = max(self._most_in_flight, self._in_flight)
        try:
            await self._think()
            fault = self._fault(prompt, tally)
            if fault is not None and fault.kind == "hang":
                while (await receive())["type"] != "http.disconnect":
                    pass
                return
            plain = msgspec.structs.replace(chat, messages=[_unmarked(message) for message in chat.messages])
            reply = _reply(plain, prompt, fault)
            if reply.status == 200:
                tally.completed += 1
                # Whoever went away meanwhile is billed all the same.
                self._bill.add(*_tokens(plain, prompt, fault))
            await _send(send, reply)
        finally:
            self._in_flight -= 1

    async def _think(self) -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while (left := begun + self._latency_ms / 1000 - loop.time()) > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurried.wait(), left)

    def _fault(self, prompt: bytes, tally: Tally) -> Fault | None:
        for fault in self._faults:
            if (
                fault.match.encode() in prompt
                and number_of(prompt, "fault") % fault.every == 0
                and (fault.times is None or tally.started <= fault.times)
                and not (fault.kind == "malformed" and REASKED.encode() in prompt)
            ):
                return fault
        return None


class Bill(msgspec.Struct):
    """What the provider bills: the tokens of all calls that it answered, whether anybody took the answer or not."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def add(self, input_tokens: int, output_tokens: int) -> None:
        self.calls += 1
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens


class Counts(msgspec.Struct):
    """What `GET /counts` says; `prompts` by a digest of each."""

    prompts: dict[str, Tally]
    in_flight: int
    most_in_flight: int

    @property
    def started(self) -> int:
        return sum(tally.started for tally in self.prompts.values())

    @property
    def completed(self) -> int:
        return sum(tally.completed for tally in self.prompts.values())

    def repeated(self, undisturbed: "Counts") -> int:
        """How many answers were given once more than in the undisturbed course of the same work."""
        once = {key: tally.completed for key, tally in undisturbed.prompts.items()}
        return sum(max(0, tally.completed - once.get(key, 0)) for key, tally in self.prompts.items())


def _unmarked(message: Message) -> Message:
    return Message(message.role, _MARK.sub(b"", message.content.encode()).decode())


def _reply(chat: Chat, prompt: bytes, fault: Fault | None) -> Reply:
    kind = fault.kind if fault is not None else None
    if fault is not None and kind == "status":
        retry = () if fault.retry_after is None else ((b"retry-after", fault.retry_after.encode()),)
        return _error(fault.status, "scripted")._replace(headers=retry)
    text = answer_to(chat, prompt)
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    if kind == "refusal":
        message |= {"content": None, "refusal": "I cannot help with that."}
    elif kind == "empty":
        message["content"] = ""
    elif kind == "malformed":
        message["content"] = "I like the first one."
    elif kind == "length":
        message["content"] = text[: len(text) // 2]
    finish = {"filtered": "content_filter", "length": "length"}.get(kind or "", "stop")
    asked, said = _tokens(chat, prompt, fault)
    answer = {
        "id": f"chatcmpl-{number_of(prompt):012x}",
        "object": "chat.completion",
        "created": 0,
        "model": chat.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said},
    }
    if chat.hidden:
        answer = _as_response(answer)
    if kind == "no-usage":
        del answer["usage"]
    reply = _json(answer)
    return reply._replace(body=reply.body[: len(reply.body) // 2]) if kind == "truncated" else reply


def _tokens(chat: Chat, prompt: bytes, fault: Fault | None) -> tuple[int, int]:
    """The tokens of the prompt and of the answer."""
    is_long = fault is not None and fault.kind == "long"
    return len(prompt) // 4, chat.output_limit if is_long else len(answer_to(chat, prompt)) // 4 + chat.hidden


def _chat_in(body: bytes) -> Chat:
    return msgspec.json.decode(body, type=Chat)


def _response_in(body: bytes) -> Chat:
    asked = msgspec.json.decode(body)
    turns = [Message("system", asked.get("instructions", "")), *(Message(**turn) for turn in asked["input"])]
    form = asked.get("text", {}).get("format")
    chat_form = None if form is None else {"type": form["type"], "json_schema": {"schema": form.get("schema")}}
    return Chat(asked["model"], turns, chat_form, max_tokens=asked["max_output_tokens"], hidden=HIDDEN)


_CALLS: dict[str, Callable[[bytes], Chat]] = {"/v1/chat/completions": _chat_in, "/v1/responses": _response_in}


def _as_response(completion: dict[str, Any]) -> dict[str, Any]:
    (choice,), usage = completion["choices"], completion["usage"]
    message = choice["message"]
    part = {"type": "refusal", "refusal": message["refusal"]}
    if not message["refusal"]:
        part = {"type": "output_text", "text": message["content"]}
    why = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(choice["finish_reason"])
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed" if why is None else "incomplete",
        "error": None,
        "incomplete_details": None if why is None else {"reason": why},
        "output": [{"type": "reasoning", "summary": []}, {"type": "message", "content": [part]}],
        "usage": {
            "input_tokens": usage["prompt_tokens"],
            "output_tokens": usage["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": HIDDEN},
            "total_tokens": usage["total_tokens"],
        },
    }


def _json(value: object) -> Reply:
    return Reply(200, msgspec.json.encode(value))


def _error(status: int, code: str, message: str = "Scripted.") -> Reply:
    return Reply(status, msgspec.json.encode({"error": {"message": message, "type": "error", "code": code}}))


async def _send(send: Send, reply: Reply) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(reply.body)), *reply.headers]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


# For tests ----------------------------------------------------------------------------------------------------------


@dataclass
class Running:
    """A server in a process of its own. `base_url` is what a provider key's `base_url` is."""

    url: str
    base_url: str
    key: str
    pid: int = 0

    def counts(self) -> Counts:
        return msgspec.json.decode(self._call("GET", "/counts"), type=Counts)

    def bill(self) -> Bill:
        """What all calls so far cost their customer."""
        return msgspec.json.decode(self._call("GET", "/bill"), type=Bill)

    def started(self) -> int:
        """How many calls were ever begun, whatever was forgotten since."""
        return int(self._call("GET", "/started"))

    def forget(self) -> None:
        """Count anew."""
        self._call("DELETE", "/counts")

    def faults(self, *faults: Fault) -> None:
        """From now on these go wrong, and nothing else."""
        self._call("PUT", "/faults", msgspec.json.encode(list(faults)))

    def latency(self, milliseconds: float) -> None:
        self._call("PUT", "/latency", str(milliseconds).encode())

    def hold(self) -> None:
        """Answer nothing until `latency` says otherwise: what waits for an answer is under way for as long."""
        self.latency(3_600_000)

    def until_in_flight(self, calls: int) -> None:
        """Wait until so many calls are under way."""
        deadline = time.monotonic() + 60
        while self.counts().in_flight < calls:
            assert time.monotonic() < deadline, f"not {calls} calls at once"
            time.sleep(0.01)

    def renew(self) -> None:
        """As if it had just been started: nothing goes wrong, nothing takes long, nothing was counted."""
        self.faults()
        self.latency(0)
        self.forget()

    @property
    def host(self) -> str:
        """What `CARREL_PROVIDER_HOSTS` must name."""
        return self.url.removeprefix("http://")

    def _call(self, method: str, path: str, body: bytes | None = None) -> bytes:
        request = Request(self.url + path, body, {"Authorization": f"Bearer {self.key}"}, method=method)
        with urlopen(request, timeout=60) as answer:
            return bytes(answer.read())


@contextmanager
def model_server(*faults: Fault, latency_ms: float = 0, models: Sequence[str] = MODELS) -> Iterator[Running]:
    """A server with a fresh key on a free port, ended at the end."""
    command = [sys.executable, str(Path(__file__)), "--port", "0", "--latency-ms", str(latency_ms)]
    command += ["--models", ",".join(models), "--faults", msgspec.json.encode(list(faults)).decode()]
    key = "sk-test-" + secrets.token_hex(16)
    process = subprocess.Popen(command, env=os.environ | {"MODEL_SERVER_KEY": key}, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, "the model server did not start; its traceback is above"
        yield Running(pid=process.pid, **json.loads(line))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def main() -> None:
    """Serve until SIGTERM, SIGINT or SIGKILL."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8500)
    parser.add_argument("--latency-ms", type=float, default=0)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--faults", default="[]", help="JSON, a list of faults")
    parser.add_argument("--key", default=os.environ.get("MODEL_SERVER_KEY"))
    chosen = parser.parse_args()
    key = chosen.key or "sk-test-" + secrets.token_hex(16)
    faults = msgspec.json.decode(chosen.faults, type=list[Fault])
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", chosen.port))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        app = ModelServer(key, chosen.models.split(","), chosen.latency_ms, faults)
        config = uvicorn.Config(
            app, loop="uvloop", http="httptools", lifespan="off", ws="none", log_level="critical", access_log=False
        )
        # The socket listens from here on: whoever reads this line can call.
        listener.listen(1024)
        print(json.dumps({"url": url, "base_url": f"{url}/v1", "key": key}), flush=True)
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
