"""What commands read: text files, files of any kind, stdin for `-`, and the texts of `--set`."""

import sys
from pathlib import Path

from carrel_sdk.configuration import DocumentGroups

from carrel.cli.interface import terminal
from carrel.cli.interface.terminal import UserCommand


def read_text(cli: UserCommand, file: Path) -> str:
    """The text in a file, or on stdin for `-`. Ends the program if it is not UTF-8 text."""
    try:
        return read_bytes(cli, file).decode("utf-8-sig")
    except UnicodeDecodeError:
        terminal.end(terminal.EXIT_FAILED, f"{file} is not UTF-8 text", as_json=cli.as_json)


def read_bytes(cli: UserCommand, file: Path) -> bytes:
    """The bytes of a file, or of stdin for `-`. Ends the program if they cannot be read."""
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError:
        terminal.end(terminal.EXIT_FAILED, f"{file} cannot be read", as_json=cli.as_json)


GROUPS_HELP = "Which documents belong together: by `tag`, by `tag:PREFIX`, or by `name` (folder, or first words)."


def groups(cli: UserCommand, given: str | None) -> DocumentGroups | None:
    """What `--groups-by` says."""
    if given is None:
        return None
    by, _, prefix = given.partition(":")
    if by not in ("tag", "name") or (by == "name" and prefix):
        terminal.end(terminal.EXIT_USAGE, "--groups-by takes tag, tag:PREFIX or name", as_json=cli.as_json)
    return DocumentGroups(by="tag", prefix=prefix) if by == "tag" else DocumentGroups(by="name")


def variables(cli: UserCommand, given: tuple[str, ...]) -> dict[str, str]:
    """The texts of `--set NAME=TEXT`."""
    pairs = [text.partition("=") for text in given]
    if not all(equals for _, equals, _ in pairs):
        terminal.end(terminal.EXIT_USAGE, "--set takes NAME=TEXT", as_json=cli.as_json)
    return {name: text for name, _, text in pairs}
