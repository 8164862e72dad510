"""Where the user's commands get the session token: from the environment, a command, or the last `carrel login`.

A program key in the environment is exchanged for tokens by the SDK.

The file of the last login holds a token that is valid for an hour at most. Only its owner can read it. It is in the
system's folder for files that end with a session, if there is one.
"""

import os
import shlex
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from carrel_sdk.program_keys import PREFIX

COMMAND_SECONDS = 60.0


class NoToken(Exception):
    """There is no token. The text says what to do and holds no secret."""


class Login(msgspec.Struct, frozen=True):
    """The last login: a token, and the only address to which it may be sent."""

    url: str
    token: str

    def __repr__(self) -> str:
        return f"Login({self.url!r})"


def login_file(environ: Mapping[str, str] = os.environ) -> Path:
    """The file of the last login."""
    folder = environ.get("XDG_RUNTIME_DIR") or environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(folder) / "carrel" / "login.json"


def keep(login: Login, path: Path) -> None:
    """Store a login, which replaces the earlier one. The file is private from the start."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.encode(login))
    fresh.replace(path)


def kept(path: Path) -> Login | None:
    """The last login, if there is one."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Login)
    except (OSError, msgspec.DecodeError):
        return None


def source(url: str, environ: Mapping[str, str] = os.environ) -> str | Callable[[], str]:
    """The token for the service at `url`, a program key, or a function that fetches a new token each time.

    Raises:
        NoToken: there is none.
    """
    if environ.get("CARREL_TOKEN"):
        return _checked("CARREL_TOKEN", environ["CARREL_TOKEN"])
    if environ.get("CARREL_PROGRAM_KEY"):
        return _program_key(environ["CARREL_PROGRAM_KEY"].strip())
    command = environ.get("CARREL_TOKEN_COMMAND")
    if command:
        return lambda: _fetched(command)
    login = kept(login_file(environ))
    # A token is sent only to the address that it was checked at: another one may belong to somebody else.
    if login is None or login.url != url:
        raise NoToken(
            "there is no session; use `carrel login --token-stdin`, CARREL_TOKEN, CARREL_PROGRAM_KEY or "
            "CARREL_TOKEN_COMMAND"
        )
    return login.token


def _fetched(command: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603  # the user's own command, from the user's own environment
            shlex.split(command), stdout=subprocess.PIPE, timeout=COMMAND_SECONDS, check=False, text=True
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        raise NoToken("CARREL_TOKEN_COMMAND could not be run") from None
    if done.returncode != 0 or not done.stdout.strip():
        raise NoToken(f"CARREL_TOKEN_COMMAND ended with {done.returncode} and printed no token")
    return _checked("CARREL_TOKEN_COMMAND", done.stdout.strip())


def _program_key(text: str) -> str:
    if not text.startswith(PREFIX):
        raise NoToken("CARREL_PROGRAM_KEY does not hold a program key")
    return _checked("CARREL_PROGRAM_KEY", text)


def _checked(name: str, text: str) -> str:
    if not all("!" <= character <= "~" for character in text):
        raise NoToken(f"{name} does not hold a session token")
    return text
