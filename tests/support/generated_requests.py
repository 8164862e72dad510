"""Requests that are generated from `openapi.json`, of the documented kind or against it, and their answers."""

import json
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.support.host import key_of
from tests.support.steady_load import Asked

OPERATIONS: Final = sorted(
    f"{method.upper()} {path}"
    for path, methods in json.loads(Path("openapi.json").read_text())["paths"].items()
    for method in methods
)
# Documented for every route, but no input of a caller may bring one about.
UNAVOIDED: Final = frozenset({500, 507})

MODES = pytest.mark.parametrize("mode", ["positive", "negative"])


def behaves(
    service: Asked,
    headers: dict[str, str],
    label: str,
    mode: str,
    examples: int,
    never: frozenset[int] = UNAVOIDED,
) -> int:
    """Send so many generated requests, of the documented kind or against it; how many there were.

    None of the answers has a status of `never`.
    """
    # Only the worker that sends them takes the second that this import takes.
    from tests.support import generated

    return generated.send(service, headers, label, mode, examples, never)


def every_secret(service: Asked, admin_secret: str) -> dict[str, str]:
    """The headers of a host, an operator and a user in one."""
    plugin = {"X-SVC-Plugin-Secret": service.plugin_secret}
    with httpx.Client(base_url=service.url, headers=plugin, timeout=60) as host:
        host.post("/api/users", json={"uuid": "ada"}).raise_for_status()
        login = host.post("/api/auth/login", json={"uuid": "ada", "db_key_hex": key_of("ada")})
    token = login.json()["session_token"]
    return plugin | {"X-SVC-Admin-Secret": admin_secret, "X-SVC-Session-Token": token}
