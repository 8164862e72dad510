"""A small service with the conventions of the real one, for tests of the conventions themselves."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx

from carrel.config import Settings
from carrel.http.requests.body import LIMITS
from carrel.http.requests.cors import Cors
from carrel.http.requests.envelope import Envelope
from carrel.http.requests.idempotency import Idempotency
from carrel.http.requests.parameters import provide_if_match, provide_paging
from carrel.http.requests.routing import RouteMethod, Router, Routes
from carrel.http.watching.access_log import AccessLog
from carrel.http.watching.request_metrics import RequestMetrics
from carrel.kit.reserve import Reserve
from tests.support.clock import FakeClock


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield


def probe(
    settings: Settings,
    handlers: Sequence[RouteMethod | Router],
    *,
    dependencies: Mapping[str, Callable[..., object]] | None = None,
    tls: bool = False,
    log: AccessLog | None = None,
) -> Envelope:
    shared: dict[str, Callable[..., object]] = {
        "paging": provide_paging,
        "if_match": provide_if_match,
        "once": Idempotency().provide,
    }
    state: dict[str, Any] = {LIMITS: settings}
    routers = [Router("/api", handlers)]
    app = Routes(routers, {**shared, **(dependencies or {})}, state, settings.max_json_bytes, _nothing)
    return Envelope(
        app,
        cors=Cors(settings.cors_origins),
        tls=tls,
        clock=FakeClock(),
        log=log,
        requests=RequestMetrics(),
        reserve=Reserve(settings.data_dir),
    )


def problem_of(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Check that `answer` is a problem of this status and code, in the one shape; its body."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert set(body) - {"errors"} == {"type", "title", "status", "detail", "code", "request_id"}
    assert body["code"] == code
    assert body["status"] == status
    assert body["type"] == f"/api/errors/{code}"
    assert body["request_id"] == answer.headers["x-request-id"]
    for fault in body.get("errors", []):
        assert set(fault) == {"path", "message"}
    return body


def faults_of(answer: httpx.Response, status: int = 400, code: str = "invalid-input") -> dict[str, str]:
    """The faults of a problem, by path."""
    return {fault["path"]: fault["message"] for fault in problem_of(answer, status, code)["errors"]}
