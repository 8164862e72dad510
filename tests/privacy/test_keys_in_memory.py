"""A key that a client sent leaves the service's memory: the raw bytes when it is no longer needed, the digits soon.

The long form is a campaign of `make soak`, which prints what it found. Only root may read the memory of the service.
"""

import json
import secrets
import socket
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.memory import traces
from tests.support.service import Service
from tests.support.soak import Figure
from tests.support.tls import certificate, trusting

FURTHER = 1_000
"""Requests of somebody else, after which no spelling of a key is left."""
TRIALS = 20
_BETWEEN_SEGMENTS = 0.003


class Client:
    """Sends requests as raw bytes: head and body at once, or one after the other."""

    def __init__(self, service: Service, *, one_segment: bool, anew: bool) -> None:
        self._service = service
        self._one_segment = one_segment
        self._anew = anew
        self._socket: socket.socket | None = None

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        """The status and the content of the answer."""
        content = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} /api{path} HTTP/1.1", "Host: 127.0.0.1", *(f"{k}: {v}" for k, v in headers.items())]
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
        head = "\r\n".join(lines).encode() + b"\r\n\r\n"
        if self._anew:
            self.close()
        connection = self._connection()
        if self._one_segment or not content:
            connection.sendall(head + content)
        else:
            connection.sendall(head)
            time.sleep(_BETWEEN_SEGMENTS)
            connection.sendall(content)
        return _answer(connection)

    def _connection(self) -> socket.socket:
        if self._socket is None:
            plain = socket.create_connection(("127.0.0.1", self._service.port), timeout=60)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket = trusting().wrap_socket(plain) if self._service.certificate else plain
        return self._socket


def _answer(connection: socket.socket) -> tuple[int, Any]:
    received = b""
    while b"\r\n\r\n" not in received:
        received += _piece(connection)
    head, _, content = received.partition(b"\r\n\r\n")
    _, found, length = head.lower().partition(b"content-length: ")
    missing = int(length.partition(b"\r\n")[0]) if found else 0
    while len(content) < missing:
        content += _piece(connection)
    return int(head[9:12]), json.loads(content) if content else None


def _piece(connection: socket.socket) -> bytes:
    piece = connection.recv(65536)
    assert piece, "the service hung up"
    return piece


def raw(key: bytes) -> bytes:
    return key


def digits(key: bytes) -> bytes:
    return key.hex().encode()


class Trial:
    """One user's keys, from the first sign-in to the user's end. `bystander` is the token of somebody else."""

    def __init__(self, service: Service, client: Client, bystander: str) -> None:
        self.keys = {name: secrets.token_bytes(32) for name in ("old", "new", "wrong")}
        self.uuid = secrets.token_hex(8)
        self._service = service
        self._client = client
        self._bystander = bystander

    def host(self, method: str, path: str, body: object, status: int, secret: str | None = None) -> Any:
        """A request of the host's server."""
        plugin = {"X-SVC-Plugin-Secret": secret or self._service.plugin_secret}
        found, answer = self._client.ask(method, path, body, **plugin)
        assert found == status, answer
        return answer

    def create(self) -> None:
        self.host("POST", "/users", {"uuid": self.uuid, "membership": "paid"}, 201)

    def sign_in(self, key: str, status: int = 200, secret: str | None = None, **further: str) -> Any:
        body = {"uuid": self.uuid, "db_key_hex": self.keys[key].hex(), **further}
        return self.host("POST", "/auth/login", body, status, secret)

    def rekey(self) -> Any:
        keys = {f"{name}_db_key_hex": self.keys[name].hex() for name in ("old", "new")}
        return self.host("POST", "/auth/rekey", {"uuid": self.uuid, **keys}, 200)

    def work(self, signed_in: Any, key: str) -> None:
        """Every kind of connection to the database is opened. The search for `key` finds it."""
        session = {"X-SVC-Session-Token": signed_in["session_token"]}
        text = {"name": "text", "type": "input_document", "body": "A text."}
        assert self._client.ask("POST", "/contents", text, **session)[0] == 201
        assert self._client.ask("GET", "/contents?q=text", **session)[0] == 200
        assert self.traces([key], raw) != {}

    def make_program_key(self, signed_in: Any) -> str:
        """The key as it is shown. Its secret half is one of the keys to look for."""
        session = {"X-SVC-Session-Token": signed_in["session_token"]}
        body = {"name": "CI", "scopes": ["read", "write"]}
        status, made = self._client.ask("POST", "/users/me/program-keys", body, **session)
        assert status == 201, made
        text: str = made["program_key"]
        self.keys["program"] = bytes.fromhex(text.partition(".")[2][32:96])
        return text

    def sign_in_program(self, program_key: str, status: int = 200) -> Any:
        found, answer = self._client.ask("POST", "/auth/program", {"program_key": program_key})
        assert found == status, answer
        return answer

    def wait_for_others(self, requests: int) -> None:
        for _ in range(requests):
            assert self._client.ask("GET", "/users/me", **{"X-SVC-Session-Token": self._bystander})[0] == 200

    def traces(self, names: Iterable[str], *spellings: Callable[[bytes], bytes]) -> Counter[str]:
        """Where the named keys are, in these spellings."""
        return traces(self._service.pid, {f"{n}, {s.__name__}": s(self.keys[n]) for n in names for s in spellings})


def evicted(trial: Trial) -> None:
    trial.work(trial.sign_in("old"), "old")
    trial.sign_in("wrong", 401)


def rekeyed(trial: Trial) -> None:
    trial.work(trial.sign_in("old"), "old")
    trial.work(trial.rekey(), "new")


def deleted(trial: Trial) -> None:
    trial.host("DELETE", f"/users/{trial.uuid}", None, 204)


def by_program(trial: Trial) -> None:
    program_key = trial.make_program_key(trial.sign_in("old"))
    trial.sign_in("wrong", 401)
    trial.work(trial.sign_in_program(program_key), "old")
    trial.sign_in("wrong", 401)
    trial.sign_in_program(f"{program_key[:-1]}{'0' if program_key[-1] != '0' else '1'}", 401)


def refused(trial: Trial) -> None:
    trial.sign_in("wrong", 401, secret="not the plugin secret, and as long as one")


class Step(NamedTuple):
    """What has to leave no trace of the keys `gone`."""

    act: Callable[[Trial], None]
    gone: tuple[str, ...]


STEPS = (
    Step(evicted, ("old", "wrong")),
    Step(by_program, ("old", "wrong", "program")),
    Step(rekeyed, ("old", "wrong")),
    Step(deleted, ("old", "new", "wrong")),
    Step(refused, ("wrong",)),
)


@contextmanager
def served(folder: Path, *, tls: bool) -> Iterator[Service]:
    service = Service(folder, certificate=certificate(folder) if tls else None)
    service.start()
    try:
        yield service
    finally:
        service.stop()


@contextmanager
def a_trial(service: Service, *, one_segment: bool, anew: bool = False) -> Iterator[Trial]:
    """A user with keys, while somebody else is signed in. `anew`: each request comes over a new connection."""
    client = Client(service, one_segment=one_segment, anew=anew)
    bystander = Trial(service, client, "")
    bystander.create()
    trial = Trial(service, client, bystander.sign_in("old")["session_token"])
    trial.create()
    try:
        yield trial
    finally:
        client.close()


SEGMENTS = pytest.mark.parametrize("one_segment", [True, False], ids=["one segment", "two segments"])
TLS = pytest.mark.parametrize("tls", [False, True], ids=["TCP", "TLS"])


@TLS
def test_no_key_outlives_its_use(tls: bool, tmp_path: Path) -> None:
    with served(tmp_path, tls=tls) as service, a_trial(service, one_segment=True) as trial:
        for step in STEPS:
            step.act(trial)
            assert trial.traces(step.gone, raw, digits) == {}, step.act.__name__


@pytest.mark.soak(campaign="memory")
@TLS
@SEGMENTS
def test_no_key_outlives_its_use_in_any_of_many_trials(
    tls: bool, one_segment: bool, tmp_path: Path, figure: Figure
) -> None:
    found = Counter({"raw at once": 0, "spelled later": 0})
    clean = 0
    with served(tmp_path, tls=tls) as service:
        for number in range(TRIALS):
            outcome: Counter[str] = Counter()
            with a_trial(service, one_segment=one_segment, anew=number % 2 == 1) as trial:
                for step in STEPS:
                    step.act(trial)
                    outcome["raw at once"] += trial.traces(step.gone, raw).total()
                trial.wait_for_others(FURTHER)
                outcome["spelled later"] += trial.traces(trial.keys, digits, b64encode).total()
            clean += not +outcome
            found.update(outcome)
    kind = f"{'one segment' if one_segment else 'two segments'} over {'TLS' if tls else 'TCP'}"
    copies = {name.replace(" ", "_"): count for name, count in found.items()}
    figure(f"copies of keys in memory, {kind}", trials=TRIALS, clean=clean, **copies)
    assert clean == TRIALS
