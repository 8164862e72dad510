"""The terminal program alone, as the distribution `carrel-cli` installs it: without the service's packages."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from uuid import uuid4

import pytest
from carrel_sdk import Host
from packaging.requirements import Requirement

from carrel.cli.main import COMMANDS
from tests.support.service import Service

OF_THE_SERVICE = {"cluster", "serve", "openapi"}
BLOCKING = """
import sys

blocked = set(sys.argv.pop().split(","))


class Blocking:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Blocking())
from carrel.cli.program import run

run()
"""


def closure(names: set[str]) -> set[str]:
    """These distributions and all that they need."""
    found: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        found.add(name)
        for line in metadata.requires(name) or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                waiting |= {needed.name.lower().replace("_", "-")} - found
    return found


@pytest.fixture(scope="module")
def blocked() -> str:
    """Every module of every installed package that the terminal program does not ask for."""
    root = Path(__file__).parents[2]
    sdk = tomllib.loads((root / "sdk/pyproject.toml").read_text("utf-8"))["project"]
    cli = tomllib.loads((root / "cli/pyproject.toml").read_text("utf-8"))["project"]
    wanted = cli["dependencies"] + sdk["dependencies"] + sdk["optional-dependencies"]["cli"]
    of_cli = {Requirement(line).name for line in wanted} - {"carrel-sdk"}
    allowed = closure(of_cli) | {"carrel-sdk", "carrel-service"}
    modules = {
        module
        for module, owners in metadata.packages_distributions().items()
        if not {owner.lower().replace("_", "-") for owner in owners} & allowed
    }
    assert modules >= {"starlette", "uvicorn", "numpy", "aiohttp", "jinja2", "litestar"}
    return ",".join(sorted(modules))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    service = Service(tmp_path_factory.mktemp("service"))
    service.start()
    host = Host(service.url, service.plugin_secret)
    token = host.sign_up(f"terminal-{uuid4()}", membership="paid", password="pw").token
    host.close()
    yield {**os.environ, "CARREL_URL": service.url, "CARREL_TOKEN": token}
    assert service.stop() == 0


def carrel(blocked: str, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BLOCKING, *words, blocked]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=Path(__file__).parent)


def test_the_overview_tells_which_commands_are_left(blocked: str) -> None:
    shown = carrel(blocked, "--help", env={**os.environ, "COLUMNS": "200"})
    assert shown.returncode == 0, shown.stderr
    lines = {name: line for line in shown.stdout.splitlines() for name in COMMANDS if f" {name} " in line[:24]}
    assert lines.keys() == set(COMMANDS)
    assert {name for name, line in lines.items() if "Needs the packages of the service" in line} <= OF_THE_SERVICE


def test_a_user_writes_and_reads(blocked: str, environment: dict[str, str]) -> None:
    added = carrel(blocked, "content", "add", __file__, "--type", "fragment", "--json", env=environment)
    assert added.returncode == 0, added.stderr
    listed = carrel(blocked, "content", "list", "--json", env=environment)
    assert json.loads(listed.stdout)["id"] == json.loads(added.stdout)["id"]
    assert carrel(blocked, "run", "list", env=environment).returncode == 0


@pytest.mark.parametrize("words", [("openapi",), ("cluster", "status")])
def test_a_command_of_the_service_says_what_is_missing(blocked: str, words: tuple[str, ...]) -> None:
    refused = carrel(blocked, *words)
    assert refused.returncode == 2
    assert "needs the packages of the service" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_the_server_for_assistants_says_which_extra_it_needs(blocked: str, environment: dict[str, str]) -> None:
    refused = carrel(blocked, "mcp", env=environment)
    assert refused.returncode == 2
    assert "carrel-sdk[mcp]" in refused.stderr
