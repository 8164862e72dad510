"""A worker that a hostile program has taken over: whatever it sends, it costs one call, and nothing here changes."""

import asyncio
import pickle
import random
import socket
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec
import pytest

from carrel.documents import intake
from carrel.documents.extract import Extract, text_of
from carrel.documents.jobs import JOBS as DOCUMENTS
from carrel.errors import CarrelError
from carrel.kit import logs
from carrel.kit.processes import worker as workers
from carrel.kit.processes.confinement import Confinement
from carrel.kit.processes.jobs import LENGTH, CallLimits, Jobs, WorkerDied, WorkerError, WorkerLied
from carrel.kit.processes.worker import Child, Worker
from carrel.providers.base import Answer, GenerateMatter
from carrel.providers.local.work import answer
from carrel.reports.jobs import JOBS as REPORTS
from carrel.runs.engine.jobs import JOBS as MODELS
from carrel.runs.verdicts import judgement
from carrel.runs.verdicts.judgement import Evidence
from tests.support import soak
from tests.support.host import Host, code_of
from tests.support.soak import Figure

MOST = 64 * 1024
EVIDENCE = judgement.pack(Evidence(("a", "b"), [], [], (), {"j": 1.0}, {"j": 1.0}))


class Call(NamedTuple):
    """A call of each kind of worker, and what an honest one answers."""

    jobs: Jobs
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kind: type

    def honest(self) -> bytes:
        return next(self.jobs.answers(b"".join(self.jobs.call(self.fn, self.args))))


CALLS = (
    Call(DOCUMENTS, text_of, ("txt", memoryview(b"Words of a file."), 1000), Extract),
    Call(MODELS, answer, ("lead", GenerateMatter("Five words are enough here.", ""), None, None), Answer),
    Call(MODELS, judgement.conclude, (EVIDENCE,), judgement.Ending),
    Call(REPORTS, judgement.answer, (EVIDENCE, None, None, False), judgement.Conclusion),
)


GREETING = msgspec.msgpack.encode(Confinement(account=True, no_new_privileges=True, landlock=7, seccomp=True))


class Peer:
    """In place of a process: the other end of a worker's channel, in the hands of the test."""

    pid = -1

    def __init__(self, greeting: bytes, raw: bytes, *, hangs_up: bool = True) -> None:
        self.ours, self.theirs = socket.socketpair()
        for end in (self.ours, self.theirs):
            end.setblocking(False)
        self._hangs_up = hangs_up
        self.theirs.send(greeting)
        self._answering = asyncio.create_task(self._answer(raw))

    async def _answer(self, raw: bytes) -> None:
        """Wait for a call, send this and hang up; hang up at once without anything to send."""
        loop = asyncio.get_running_loop()
        with suppress(OSError):
            if raw:
                await loop.sock_recv(self.theirs, MOST)
                await loop.sock_sendall(self.theirs, raw)
            if self._hangs_up:
                self.theirs.shutdown(socket.SHUT_WR)

    def kill(self) -> None:
        self._answering.cancel()
        self.theirs.close()

    def wait(self) -> int:
        return 0


async def outcome(call: Call, raw: bytes, greeting: bytes | None = None) -> Any:
    """What a call gives whose process sends this, as its caller sees it."""

    def start(_module: str, _cpu_seconds: float) -> Child:
        peer = Peer(framed(GREETING) if greeting is None else greeting, raw)
        return Child(peer, peer.ours)  # type: ignore[arg-type]

    worker = Worker(call.jobs, CallLimits(answer=MOST), start)
    try:
        return await worker.run(call.fn, *call.args)
    except Exception as error:  # noqa: BLE001 - the caller looks at every error
        if isinstance(error, WorkerLied | WorkerDied):
            assert worker.pid is None
        return error
    finally:
        await worker.close()


def framed(body: bytes) -> bytes:
    return LENGTH.pack(len(body)) + body


def thing(rng: random.Random, depth: int = 3) -> Any:
    """Something of any type that MessagePack has."""
    simple: list[Any] = [
        *(None, True, 0, -1, 2**64 - 1, -(2**63), 1.5, float("nan"), float("inf"), "", "text", "\0", b"", b"bytes"),
        *(datetime(2026, 1, 1, tzinfo=UTC), msgspec.msgpack.Ext(rng.randrange(128), rng.randbytes(8)), "x" * 300),
    ]
    if not depth or rng.random() < 0.5:
        return rng.choice(simple)
    inner = [thing(rng, depth - 1) for _ in range(rng.randrange(5))]
    return inner if rng.random() < 0.5 else {rng.choice(_NAMES): one for one in inner}


_NAMES = (
    *("type", "value", "error", "text", "usage", "ranking", "human", "rows", "__class__", "__dict__", "__reduce__"),
    *("done", "refused", "failed", "confined", "DocumentBroken", "NotFound", "KeyboardInterrupt", "Secret", "Keyring"),
)


class _Evil:
    def __reduce__(self) -> Any:
        return (exec, ("import carrel.kit.logs as here; here.hijacked = True",))


def _lie(rng: random.Random, honest: bytes) -> bytes:
    length = rng.choice([0, 1, len(honest) - 1, len(honest) + 1, MOST, MOST + 1, 2**31, 2**63, 2**64 - 1])
    return LENGTH.pack(length) + honest


def _flipped(rng: random.Random, honest: bytes) -> bytes:
    body = bytearray(honest)
    for _ in range(rng.randrange(1, 5)):
        body[rng.randrange(len(body))] = rng.randrange(256)
    return framed(bytes(body))


def _claim(rng: random.Random, honest: bytes) -> bytes:
    """A list, a map or a text of four billion entries, in place of a part of the answer."""
    at = rng.randrange(len(honest))
    return framed(honest[:at] + bytes([rng.choice([0xDD, 0xDF, 0xC6, 0xDB, 0xC9])]) + b"\xff" * 4 + honest[at:])


FRAMES: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    lambda rng, _: rng.randbytes(rng.randrange(64)),
    lambda rng, _: framed(rng.randbytes(rng.randrange(64))),
    lambda rng, _: framed(msgspec.msgpack.encode(thing(rng))),
    lambda rng, _: framed(msgspec.msgpack.encode({"type": rng.choice(_NAMES), rng.choice(_NAMES): thing(rng)})),
    lambda rng, _: framed(msgspec.msgpack.encode({"type": "done", "value": thing(rng)})),
    lambda rng, _: framed(bytes([rng.choice([0x91, 0x81])]) * rng.randrange(1, 5000)),
    lambda rng, _: framed(pickle.dumps((True, _Evil()), protocol=rng.randrange(6))),
    lambda rng, honest: framed(honest) + rng.randbytes(rng.randrange(1, 9)),
    lambda _, honest: framed(honest) * 2,
    lambda rng, honest: framed(honest[: rng.randrange(len(honest))]),
    lambda rng, honest: framed(honest)[: rng.randrange(len(honest))],
    _lie,
    _flipped,
    _claim,
)


def everything() -> dict[str, int]:
    """The identity of every object that a module or a class of the service holds."""
    found: dict[str, int] = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "carrel":
            for key, value in vars(module).items():
                found[f"{name}.{key}"] = id(value)
                if isinstance(value, type) and value.__module__.startswith("carrel"):
                    found |= {f"{name}.{key}.{one}": id(held) for one, held in vars(value).items()}
    return found


async def _survives(count: int, seed: int) -> Counter[str]:
    """What became of each call."""
    rng = random.Random(seed)
    honest = [call.honest() for call in CALLS]
    for call, body in zip(CALLS, honest, strict=True):
        assert type(await outcome(call, framed(body))) is call.kind
    before = everything()
    outcomes: Counter[str] = Counter()
    for _ in range(count):
        number = rng.randrange(len(CALLS))
        call = CALLS[number]
        found = await outcome(call, rng.choice(FRAMES)(rng, honest[number]))
        assert isinstance(found, WorkerError | CarrelError) or type(found) is call.kind, found
        outcomes[type(found).__name__] += 1
    assert everything() == before
    assert outcomes["WorkerLied"] > outcomes["WorkerDied"] > 0
    return outcomes


async def test_whatever_a_worker_sends_costs_one_call_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "warning", lambda *_, **__: None)
    await _survives(1_000, seed=11)


@pytest.mark.soak(campaign="worker")
@pytest.mark.parametrize("part", range(4))
async def test_a_hundred_thousand_hostile_frames_change_nothing(
    monkeypatch: pytest.MonkeyPatch, part: int, figure: Figure
) -> None:
    monkeypatch.setattr(logs, "warning", lambda *_, **__: None)
    outcomes = await _survives(soak.size(25_000), seed=part)
    refused = sum(outcomes[error] for error in ("WorkerLied", "WorkerDied"))
    figure("hostile frames", frames=outcomes.total(), refused=refused, objects_changed=0)


@pytest.mark.parametrize("raw", [b"", b"hello", framed(b"\xc0"), framed(b"x" * 2000), framed(b"\x81\xa4type\xa4done")])
async def test_a_process_that_greets_wrongly_is_not_used(raw: bytes) -> None:
    found = await outcome(CALLS[0], b"", raw)
    assert isinstance(found, WorkerLied | WorkerDied)


async def test_what_a_process_says_unasked_is_no_answer_to_the_next_call() -> None:
    honest = framed(CALLS[0].honest())
    peers: list[Peer] = []

    def start(module: str, cpu_seconds: float) -> Child:
        if peers:
            return workers.started(module, cpu_seconds)
        peers.append(Peer(framed(GREETING), honest, hangs_up=False))
        return Child(peers[0], peers[0].ours)  # type: ignore[arg-type]

    worker = Worker(DOCUMENTS, start=start)
    other = (text_of, "txt", bytearray(b"Other words."), 1000)
    assert await worker.run(CALLS[0].fn, *CALLS[0].args) == Extract("Words of a file.", [])
    assert worker.pid == -1
    peers[0].theirs.send(honest)
    assert (await worker.run(*other)).text == "Other words."
    assert worker.pid != -1
    await worker.close()


PROGRAM = """
import pickle, socket, sys
channel = socket.socket(fileno=0)
def send(body): channel.sendall(len(body).to_bytes(8, "big") + body)
send({greeting!r})
channel.recv(1 << 20)
class Evil:
    def __reduce__(self): return (exec, ("import carrel.documents.intake as i; i.Intake.extract = None",))
send({answer})
channel.recv(1)
"""


@pytest.mark.parametrize("lent_workers", [None])  # one that runs already would not be the hostile program
@pytest.mark.parametrize("body", ["pickle.dumps((True, Evil()))", "b'\\xa4done'", "bytes(1 << 24)"])
async def test_an_upload_read_by_a_hostile_program_is_refused_and_the_next_one_is_read(
    ada: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, body: str
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(greeting=GREETING, answer=body))
    before, text = everything(), intake.Intake.extract
    child, bob = workers.PROGRAM, await host.signed_in("bob")
    monkeypatch.setattr(workers, "PROGRAM", program)
    refused = await ada.post("/api/documents", files={"file": ("a.txt", b"Words of Ada.")})
    assert (refused.status_code, code_of(refused)) == (400, "document-too-complex")
    monkeypatch.setattr(workers, "PROGRAM", child)
    read = await ada.post("/api/documents", files={"file": ("b.txt", b"Words of Bob.")}, headers=bob)
    assert read.status_code == 201
    content = await ada.get(f"/api/contents/{read.json()['content_id']}", headers=bob)
    assert content.json()["body"] == "Words of Bob."
    assert (await ada.get("/api/documents")).json()["items"] == []
    assert intake.Intake.extract is text
    assert {name: one for name, one in everything().items() if before.get(name, one) != one} == {}
