"""Where the user's commands get their token from, and where they never send it."""

import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.cli.interface import tokens
from carrel.cli.interface.tokens import Login, NoToken

URL = "http://127.0.0.1:8400"


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"XDG_RUNTIME_DIR": str(tmp_path), **more}


def test_the_environment_wins_over_the_last_login(tmp_path: Path) -> None:
    environ = environment(tmp_path)
    with pytest.raises(NoToken):
        tokens.source(URL, environ)
    tokens.keep(Login(URL, "kept"), tokens.login_file(environ))
    assert tokens.source(URL, environ) == "kept"
    assert tokens.source(URL, environment(tmp_path, CARREL_TOKEN="given")) == "given"


def test_a_kept_token_goes_only_where_it_was_good(tmp_path: Path) -> None:
    environ = environment(tmp_path)
    tokens.keep(Login(URL, "kept"), tokens.login_file(environ))
    with pytest.raises(NoToken):
        tokens.source("http://127.0.0.1:8401", environ)


def test_the_last_login_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tokens.login_file(environment(tmp_path))
    for token in ("first", "second"):
        tokens.keep(Login(URL, token), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert tokens.kept(path) == Login(URL, "second")
    assert [file.name for file in path.parent.iterdir()] == ["login.json"]
    assert "second" not in repr(tokens.kept(path))


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'{"url": 1}'])
def test_a_broken_login_counts_as_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "login.json"
    path.write_bytes(content)
    assert tokens.kept(path) is None


def fetching(tmp_path: Path, program: str) -> Callable[[], str]:
    script = tmp_path / "fetch.py"
    script.write_text(program)
    source = tokens.source(URL, environment(tmp_path, CARREL_TOKEN_COMMAND=f"{sys.executable} {script}"))
    assert callable(source)
    return source


def test_a_command_is_run_each_time_a_token_is_needed(tmp_path: Path) -> None:
    counter = tmp_path / "count"
    source = fetching(
        tmp_path,
        f"import pathlib\np = pathlib.Path({str(counter)!r})\n"
        "n = len(p.read_text()) if p.exists() else 0\np.write_text('x' * (n + 1))\nprint(f' token-{n} ')\n",
    )
    assert [source(), source()] == ["token-0", "token-1"]


@pytest.mark.parametrize("program", ["import sys; sys.exit(3)", "print()", "print('secret'); raise SystemExit(1)"])
def test_a_command_without_a_token_is_told_without_its_output(tmp_path: Path, program: str) -> None:
    with pytest.raises(NoToken) as caught:
        fetching(tmp_path, program)()
    assert "secret" not in str(caught.value)


def test_what_cannot_be_a_token_is_told_without_being_shown(tmp_path: Path) -> None:
    with pytest.raises(NoToken) as caught:
        tokens.source(URL, environment(tmp_path, CARREL_TOKEN="two words"))
    assert "two words" not in str(caught.value)
    with pytest.raises(NoToken):
        fetching(tmp_path, "print('two words')")()


def test_a_command_that_cannot_be_run_is_told() -> None:
    for command in ("/nowhere/at/all", "'unbalanced"):
        source = tokens.source(URL, {"CARREL_TOKEN_COMMAND": command})
        assert callable(source)
        with pytest.raises(NoToken):
            source()
