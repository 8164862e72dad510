"""GitHub in the terminal, against a strict one on this machine."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import msgspec
import pytest
from click.testing import Result

from tests.support import strict_github
from tests.support.service import Service
from tests.support.strict_github import REPOSITORY, TOKEN, GitHub

Terminal = Callable[..., Result]


@pytest.fixture(scope="module")
def github() -> Iterator[GitHub]:
    """The server in an event loop of its own, for the commands block this one."""
    there: Future[tuple[GitHub, asyncio.Event, asyncio.AbstractEventLoop]] = Future()

    async def serve() -> None:
        async with strict_github.github() as server:
            ending = asyncio.Event()
            there.set_result((server, ending, asyncio.get_running_loop()))
            await ending.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    server, ending, loop = there.result(30)
    yield server
    loop.call_soon_threadsafe(ending.set)
    thread.join()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, github: GitHub) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    service = Service(folder, settings={"CARREL_GITHUB_HOSTS": github.host})
    service.start()
    yield service
    assert service.stop() == 0


@pytest.fixture
def connection(signed_in: Terminal, github: GitHub) -> str:
    made = signed_in(
        *("github", "connect", REPOSITORY, "--base-url", github.base_url, "--token-stdin", "--json"), stdin=TOKEN + "\n"
    )
    assert TOKEN not in made.output
    return str(only(made)["id"])


def only(result: Result, code: int = 0) -> dict[str, object]:
    assert result.exit_code == code, result.output
    return msgspec.json.decode(result.stdout, type=dict[str, object])


def test_a_repository_is_connected_tried_changed_and_forgotten(signed_in: Terminal, connection: str) -> None:
    assert "reads and writes" in signed_in("github", "test", connection).output
    changed = only(signed_in("github", "change", connection, "--name", "Ours", "--branch", "drafts", "--json"))
    assert (changed["name"], changed["branch"], changed["repository"]) == ("Ours", "drafts", REPOSITORY)
    assert only(signed_in("github", "change", connection, "--branch", "", "--json"))["branch"] is None
    listed = signed_in("github", "list").output
    assert "Ours" in listed
    assert TOKEN not in listed
    rotated = signed_in("github", "change", connection, "--token-stdin", stdin="github_pat_another0123456789\n")
    assert rotated.exit_code == 0
    assert signed_in("github", "test", connection).exit_code == 1
    assert signed_in("github", "disconnect", connection).exit_code == 0
    assert signed_in("github", "tree", connection).exit_code == 4
    assert signed_in("github", "connect", REPOSITORY).exit_code == 2


def test_files_come_in_and_texts_go_out(signed_in: Terminal, connection: str, github: GitHub, tmp_path: Path) -> None:
    assert "README.md" in signed_in("github", "tree", connection).output
    commit = str(only(signed_in("github", "tree", connection, "--json"))["commit"])
    taken = signed_in("github", "import", connection, "README.md", "--tag", "repo", "--commit", commit)
    assert taken.exit_code == 0
    assert "README.md" in signed_in("content", "list", "--tag", "repo").output
    partly = signed_in("github", "import", connection, "README.md", "nowhere.md")
    assert (partly.exit_code, "left out: nowhere.md (github-not-found)" in partly.output) == (1, True)
    (tmp_path / "new.md").write_text("New.")
    made = str(only(signed_in("content", "add", str(tmp_path / "new.md"), "--json"))["id"])
    words = ("github", "export", connection, "--content", made, "--path", "texts", "--branch", "drafts")
    assert "1 file on drafts" in signed_in(*words, "--message", "Add a text").output
    assert "nothing new" in signed_in(*words).output
    assert github.files("drafts")["texts/new.md"] == b"New."
    assert signed_in("github", "export", connection).exit_code == 2
    assert signed_in("github", "export", connection, "--run", "none").exit_code == 4
