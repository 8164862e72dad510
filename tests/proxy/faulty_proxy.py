"""LiteLLM's proxy between a gate that counts and a provider that fails by plan. Runs in an environment of its own.

    .venv-proxy/bin/python -m tests.proxy.faulty_proxy

prints one line of JSON, `{"url", "key"}`, and serves until it is killed. The proxy is LiteLLM's own: it checks keys,
routes, and makes the answers and the errors. The gate in front of it numbers every completion that is asked for, before
the proxy has seen it, and breaks off bodies; the provider behind it answers or fails by that number.

`GET /journal` tells what became of each. The same request always has the same answer.
"""

import asyncio
import hashlib
import json
import os
import re
import secrets
import socket
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx
import litellm
import uvicorn
from litellm import CustomLLM, ModelResponse, Usage
from litellm.proxy.proxy_server import app as proxy

from tests.proxy.plan import FAULTS, NEVER_JUDGED, NEVER_WRITTEN, PERIOD, WAIT_SECONDS

Message = dict[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]

GRADES = {"mini": 9, "gamma": 6, "nano": 3}
_GRADE = re.compile(r"of grade (\d)")
_LONGER_THAN_ANYBODY_WAITS = 600


@dataclass
class Entry:
    """A completion that was asked for; `fault` is what befell it, `tokens` what was read and written if it was told."""

    number: int
    at: float
    model: str = ""
    judges: bool = False
    prompt: str = ""
    fault: str = ""
    forwarded: bool = False
    status: int | None = None
    tokens: tuple[int, int] | None = None


JOURNAL: list[Entry] = []
_entry: ContextVar[Entry] = ContextVar("entry")


# Behind the proxy ---------------------------------------------------------------------------------------------------


class Planned(CustomLLM):
    """The provider of every model."""

    async def acompletion(
        self,
        model: str,
        messages: list[dict[str, str]],
        model_response: ModelResponse,
        optional_params: dict[str, Any],
        **_: object,
    ) -> ModelResponse:
        """One answer, or what was planned instead."""
        entry = _entry.get()
        said = "\n".join(message["content"] for message in messages)
        form = optional_params.get("response_format")
        entry.model, entry.judges, entry.forwarded = model, form is not None, True
        entry.prompt = hashlib.sha256(said.encode()).hexdigest()
        entry.fault = _fault(entry, said)
        await _fail(entry.fault, model)
        text = _verdict(form["json_schema"]["schema"], said) if form else _summary(model, said)
        choice = model_response.choices[0]
        choice.finish_reason = "content_filter" if entry.fault == "filtered" else "stop"
        choice.message.content = text[: len(text) // 2] if entry.fault == "half-json" else text
        if entry.fault in ("filtered", "refused"):
            choice.message.content = None
        if entry.fault == "refused":
            choice.message.refusal = "I would rather not."
        read, written = len(said) // 4, len(text) // 4
        model_response.usage = Usage(prompt_tokens=read, completion_tokens=written, total_tokens=read + written)
        if entry.fault != "cut-off":
            entry.tokens = (read, written)
        return model_response


def _fault(entry: Entry, said: str) -> str:
    if entry.model == "nano" and not entry.judges and NEVER_WRITTEN in said:
        return "broken"
    if entry.model == "judge-two" and NEVER_JUDGED in said:
        return "half-json"
    planned = FAULTS.get(entry.number % PERIOD, "")
    return "" if planned == "half-json" and not entry.judges else planned


async def _fail(fault: str, model: str) -> None:
    if fault == "rate-limited":
        request = httpx.Request("POST", "http://provider.invalid")
        response = httpx.Response(429, headers={"retry-after": str(WAIT_SECONDS)}, request=request)
        raise litellm.RateLimitError("Scripted.", "planned", model, response=response)
    if fault == "broken":
        raise litellm.InternalServerError("Scripted.", "planned", model)
    if fault == "late":
        raise litellm.Timeout("Scripted.", model, "planned")
    if fault == "policy":
        raise litellm.ContentPolicyViolationError("Scripted.", model, "planned")
    if fault == "silent":
        await asyncio.sleep(_LONGER_THAN_ANYBODY_WAITS)


def _summary(model: str, said: str) -> str:
    about = " ".join(re.findall(r"[a-z]{4,}", said)[-30:])
    return f"A summary of grade {GRADES[model]}. It is about {about}."


def _verdict(schema: dict[str, Any], said: str) -> str:
    """The better grade wins, from both sides."""
    grades = [int(found) for found in _GRADE.findall(said)]
    if "winner" in schema["properties"]:
        winner = "first" if grades[0] > grades[1] else "second"
        return json.dumps({"reason": "It has the better grade.", "winner": winner})
    names = schema["properties"]["scores"]["properties"]
    return json.dumps({"reason": "So the grade says.", "scores": dict.fromkeys(names, 1 + grades[0] / 3)})


# Before the proxy ---------------------------------------------------------------------------------------------------


async def gate(scope: Message, receive: Receive, send: Send) -> None:
    """Count what is asked for, and break off what is to be broken off."""
    if scope["type"] == "http" and scope["path"] == "/journal":
        body = json.dumps([asdict(entry) for entry in JOURNAL]).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": body})
        return
    if scope["type"] != "http" or not scope["path"].endswith("/chat/completions"):
        await proxy(scope, receive, send)
        return
    entry = Entry(len(JOURNAL) + 1, asyncio.get_running_loop().time())
    JOURNAL.append(entry)
    _entry.set(entry)
    over = False

    async def sent(message: Message) -> None:
        nonlocal over
        if over:
            return
        if message["type"] == "http.response.start":
            entry.status = message["status"]
        elif entry.fault == "cut-off":
            # More is promised and never comes: the server closes the connection.
            message = message | {"body": message["body"][: len(message["body"]) // 2], "more_body": True}
            over = True
        await send(message)

    await proxy(scope, receive, sent)


def main() -> None:
    """Serve on a free port, with a fresh key."""
    key = "sk-" + secrets.token_hex(16)
    os.environ["LITELLM_MASTER_KEY"] = key
    os.environ["CONFIG_FILE_PATH"] = str(Path(__file__).with_name("config.yaml"))
    litellm.custom_provider_map = [{"provider": "planned", "custom_handler": Planned()}]
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1024)
        print(json.dumps({"url": f"http://127.0.0.1:{listener.getsockname()[1]}", "key": key}), flush=True)
        uvicorn.Server(uvicorn.Config(gate, log_level="warning", access_log=False)).run(sockets=[listener])


if __name__ == "__main__":
    main()
