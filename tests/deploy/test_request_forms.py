"""Requests in every form through the proxies that stand in front of Carrel: nobody is asked what nobody has sent."""

import asyncio
import itertools
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import httpx
import pytest
from carrel_sdk import Host

from tests.cli.test_protocol import listening
from tests.deploy.proxies import in_front
from tests.support.request_forms import FORMS, NEXT, statuses
from tests.support.service import Service, free_port
from tests.support.soak import Figure, size

TIMEOUT_SECONDS = 60
STRANGER = b"GET /stranger/%d HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"

_NGINX = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    upstream carrel {{ server 127.0.0.1:{upstream}; keepalive 1; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://carrel;
            proxy_http_version 1.1;
            # As websites have it that pass the wish for another protocol on.
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $http_connection;
            proxy_request_buffering off;
        }}
    }}
}}
"""
_HAPROXY = """
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
    http-reuse always
listen carrel
    bind 127.0.0.1:{port}
    server carrel 127.0.0.1:{upstream}
"""
_CADDY = """
{{
    admin off
    auto_https off
}}
http://:{port} {{
    bind 127.0.0.1
    reverse_proxy 127.0.0.1:{upstream} {{
        flush_interval -1
    }}
}}
"""


class Proxy(NamedTuple):
    """A program that stands in front of Carrel, and how it is told so."""

    configuration: str
    command: Callable[[str], list[str]]


PROXIES = {
    "caddy": Proxy(_CADDY, lambda file: ["caddy", "run", "--config", file, "--adapter", "caddyfile"]),
    "nginx": Proxy(_NGINX, lambda file: ["/usr/sbin/nginx", "-c", file]),
    "haproxy": Proxy(_HAPROXY, lambda file: ["/usr/sbin/haproxy", "-db", "-f", file]),
}


NAMES = [pytest.param(name, marks=pytest.mark.program(name)) for name in PROXIES]


@contextmanager
def proxy(name: str, upstream: int, folder: Path) -> Iterator[int]:
    """The port of a proxy of this name in front of `upstream`."""
    port = free_port()
    file = folder / name
    file.write_text(PROXIES[name].configuration.format(folder=folder, port=port, upstream=upstream))
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(
            PROXIES[name].command(str(file)), cwd=folder, env={"HOME": str(folder)}, stdout=out, stderr=out
        )
        try:
            yield port
        finally:
            process.kill()
            process.wait()


class Recorder:
    """Answers each request with its path, and counts the requests of each."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive()).get("more_body"):
            pass
        if message["type"] == "http.disconnect":
            return
        self.asked.append(scope["path"])
        body = scope["path"].encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body})


async def _exchange(port: int, *pieces: bytes) -> bytes:
    """What came back until the connection was closed. It is read while the pieces are sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer = b""

    async def hear() -> None:
        nonlocal answer
        with suppress(ConnectionError):
            while piece := await reader.read(65536):
                answer += piece

    heard = asyncio.create_task(hear())
    with suppress(ConnectionError):
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.001)
    async with asyncio.timeout(TIMEOUT_SECONDS):
        await heard
    writer.close()
    return answer


async def _ready(port: int) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while True:
            with suppress(ConnectionError):
                if statuses(await _exchange(port, NEXT)) == (200,):
                    return
            await asyncio.sleep(0.05)


async def _sent_through(name: str, folder: Path, pieces: Sequence[int]) -> tuple[int, int, int]:
    """Sends every form through the proxy, cut into so many pieces, and asks as a stranger after each.

    How many were sent, how many requests the application was asked that the same connection had no answer to, or the
    other way round, and how many answers of the stranger were missing or somebody else's.
    """
    recorder, sent, uneven, wrong = Recorder(), 0, 0, 0
    async with listening(recorder) as (upstream, _):
        with proxy(name, upstream, folder) as port:
            await _ready(port)
            for form, count in itertools.product(FORMS, pieces):
                raw = form.raw + NEXT
                step = max(1, len(raw) // count)
                recorder.asked.clear()
                answers = await _exchange(port, *(raw[at : at + step] for at in range(0, len(raw), step)))
                answered = Counter({path: answers.count(path.encode()) for path in ("/form", "/next", "/smuggled")})
                uneven += (Counter(recorder.asked) - answered).total() + (answered - Counter(recorder.asked)).total()
                recorder.asked.clear()
                answer = await _exchange(port, STRANGER % sent)
                is_right = answer.endswith(b"/stranger/%d" % sent) and recorder.asked == [f"/stranger/{sent}"]
                wrong += not (is_right and statuses(answer) == (200,))
                sent += 1
    return sent, uneven, wrong


@pytest.mark.parametrize("name", NAMES)
async def test_behind_a_proxy_each_request_is_answered_once(name: str, tmp_path: Path) -> None:
    assert await _sent_through(name, tmp_path, [1, 2, 24]) == (3 * len(FORMS), 0, 0)


def _attack(site: str, host: Host, tries: int) -> int:
    """How often another user was signed out by a body that one user sent as a body.

    The body is a request whose last line has no end: whoever comes next on the proxy's connection would complete it,
    with a token of theirs.
    """
    attacker, victim = (str(uuid4()) for _ in range(2))
    for uuid in (attacker, victim):
        host.sign_up(uuid, membership="paid")
        host.sign_in(uuid, "a pass word for one test")
    body = b"POST /api/auth/logout HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\nx-ignored: "
    lost = 0
    with httpx.Client(base_url=f"{site}/api", timeout=TIMEOUT_SECONDS) as client:
        made = client.post(
            "/contents",
            json={"name": "Mine", "type": "input_document", "body": "text"},
            headers={"X-SVC-Session-Token": str(host.session(attacker))},
        ).json()["id"]
        for _ in range(tries):
            asked = {"X-SVC-Session-Token": str(host.session(attacker)), "Connection": "Upgrade", "Upgrade": "other"}
            with httpx.Client(base_url=f"{site}/api", timeout=TIMEOUT_SECONDS) as attacking:
                attacking.post(f"/contents/{made}/duplicate", content=iter([body]), headers=asked)
                attacking.post(f"/contents/{made}/duplicate", content=body, headers=asked)
            answer = client.get("/contents/counts", headers={"X-SVC-Session-Token": str(host.session(victim))})
            if answer.status_code != 200:
                lost += 1
                host.sign_in(victim, "a pass word for one test")
    return lost


def _attacked(folder: Path, tries: int) -> int:
    service = Service(folder / "service")
    service.start()
    with ExitStack() as stack:
        stack.callback(service.stop)
        site = stack.enter_context(in_front("caddy", service.port, folder))
        host = stack.enter_context(closing(Host(site, service.plugin_secret)))
        return _attack(site, host, tries)


@pytest.mark.program("caddy")
def test_the_body_of_one_user_is_never_the_request_of_another(tmp_path: Path) -> None:
    assert _attacked(tmp_path, 10) == 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.soak(campaign="forms")
async def test_campaign_of_forms(name: str, tmp_path: Path, figure: Figure) -> None:
    sent, uneven, wrong = await _sent_through(name, tmp_path, range(1, 1 + size(40)))
    figure("forms through three proxies", sent=sent, answered_more_or_less_than_once=uneven, strangers_wrong=wrong)
    assert uneven == wrong == 0


@pytest.mark.program("caddy")
@pytest.mark.soak(campaign="forms")
def test_campaign_of_attacks(tmp_path: Path, figure: Figure) -> None:
    tries = size(200)
    lost = _attacked(tmp_path, tries)
    figure("attacks on another's session through a proxy", attacks=tries, sessions_lost=lost)
    assert lost == 0
