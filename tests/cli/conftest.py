"""One real service for the user's commands, and a terminal of its own for each test."""

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from carrel_sdk import Host
from click.testing import CliRunner, Result

from carrel.cli.main import main
from tests.support.service import Service

Terminal = Callable[..., Result]


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    service = Service(tmp_path_factory.mktemp("service"))
    service.start()
    yield service
    assert service.stop() == 0


@pytest.fixture
def token(service: Service) -> Iterator[str]:
    """The session token of a user who has just signed up."""
    host = Host(service.url, service.plugin_secret)
    yield host.sign_up(f"cli-{uuid4()}", membership="paid", password="pw").token
    host.close()


@pytest.fixture
def terminal(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Runs `carrel …` in this process, with no token at hand."""
    for name in ("CARREL_TOKEN", "CARREL_TOKEN_COMMAND", "CARREL_PROGRAM_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("CARREL_URL", service.url)

    def run(*words: str, stdin: str = "") -> Result:
        done = CliRunner().invoke(main, list(words), input=stdin, catch_exceptions=False)
        assert done.output or done.exit_code or "--json" in words, f"{words} did something and said nothing"
        return done

    return run


@pytest.fixture
def signed_in(terminal: Terminal, token: str, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """The same, with a user's token in the environment."""
    monkeypatch.setenv("CARREL_TOKEN", token)
    return terminal
