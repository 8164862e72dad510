"""The list of models, warm: with a key of every provider, and three servers of the user's own that list many models."""

import json
from pathlib import Path

from benchmarks import load, rows
from benchmarks.load import Request
from benchmarks.rows import Figure, Server
from carrel.providers.catalogue import KNOWN
from tests.support.model_server import Running, model_server

_MODELS = 100
"""What each of the user's own servers lists."""
_CALLS = 1_000
_GOAL_MS = 20


def models(folder: Path) -> list[Figure]:
    """`GET /api/models` once the prices are read and the servers' lists are remembered."""
    with model_server(models=[f"model-{number}" for number in range(_MODELS)]) as server:
        environ = rows.fresh_secrets() | {"CARREL_PROVIDER_HOSTS": f"{server.host},*.com,*.ai"}
        with rows.carrel(folder / "carrel", environ=environ) as own:
            token = rows.sign_in(own, "reader")
            _store_keys(own, server, token)
            ask = Request("GET", "/api/models", (("X-SVC-Session-Token", token),))
            listed = load.call(own.port, ask)["items"]
            assert isinstance(listed, list)
            measured = load.run(own.port, own.pid, lambda _: ask, requests=_CALLS, connections=1)
    what = f"GET /api/models, {len(listed)} models, warm"
    return [
        rows.stated("models", f"{what}: CPU ms", f"{measured.cpu_ms:.2f}"),
        rows.at_most("models", f"{what}: p50, ms", measured.median_ms, _GOAL_MS),
        # Of a busy machine this says more than of Carrel, so it is held against nothing.
        rows.stated("models", f"{what}: p99, ms", f"{measured.p99_ms:.2f}"),
    ]


def _store_keys(own: Server, server: Running, token: str) -> None:
    for name, known in KNOWN.items():
        if known.trade is not None or known.sign is not None:
            continue  # keys of a form of their own
        body = {"provider": name, "key": server.key, "base_url": known.base_url or server.base_url}
        headers = (("X-SVC-Session-Token", token),)
        load.call(own.port, Request("POST", "/api/provider-keys", headers, json.dumps(body).encode()), 201)
