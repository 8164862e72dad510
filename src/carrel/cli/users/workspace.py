"""`carrel workspace`: show the workspace and its sessions, export it as a zip, and import one."""

from pathlib import Path
from typing import BinaryIO, cast

import rich_click as click
from carrel_sdk.models import Counts

from carrel.cli.interface import terminal
from carrel.cli.interface.printing import say
from carrel.cli.interface.progress_bar import Update, progress_bar
from carrel.cli.interface.saving import out_options, saving
from carrel.cli.interface.terminal import UserCommand, user_command
from carrel.evaluation.words import counted


@click.group("workspace", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Show the workspace and its sessions, export it as a zip, and import one."""


@command.command("show")
@user_command
def show(cli: UserCommand) -> None:
    """Show who is signed in and what is in the workspace."""
    me = cli.workspace.me()
    lines = [
        f"user        {me.uuid}, {me.membership} membership, since {me.created_at[:10]}",
        f"credits     {me.credits}",
        f"holds       {holdings(me.counts)}",
        f"room        {me.limits.workspace_megabytes:,} MB",
    ]
    cli.show(me, "\n".join(lines))


def holdings(counts: Counts) -> str:
    """How much of what there is in a workspace."""
    kinds = {"content": counts.contents, "preset": counts.presets, "run": counts.runs}
    return ", ".join(counted(number, kind) for kind, number in kinds.items())


@command.command("sessions")
@user_command
def sessions(cli: UserCommand) -> None:
    """List your sessions: in browsers, in terminals and in scripts. Each lasts an hour at most."""
    found = cli.workspace.sessions()
    cli.show_rows(
        found.items,
        {
            "session": lambda one: str(one.session),
            "begun": lambda one: one.issued_at[:16],
            "last used": lambda one: one.last_used_at[:16],
            "ends": lambda one: one.expires_at[:16],
            "": lambda one: "this one" if one.is_this_one else "",
        },
    )
    if not found.complete and not cli.as_json:
        say("The service started less than an hour ago, or you have very many: there may be others.", stderr=True)


@command.command("end-session")
@click.argument("session", type=click.IntRange(min=0))
@user_command
def end_session(cli: UserCommand, session: int) -> None:
    """End one session, by its number in `carrel workspace sessions`."""
    cli.workspace.end_session(session)
    cli.show_done("ended", str(session))


@command.command("sign-out")
@user_command
def sign_out(cli: UserCommand) -> None:
    """End all sessions, this one included. Your key leaves the service's memory when your runs have ended."""
    cli.workspace.sign_out()
    cli.show_done("signed out", "everywhere")


@command.command("export")
@out_options("workspace.zip")
@user_command
def export(cli: UserCommand, output: Path, force: bool) -> None:
    """Write a zip of everything: texts, files, presets, runs with their reports, settings, calls. No key is in it.

    The zip is not encrypted. Into a pipe (`-o -`) it can be encrypted before it touches a disk.
    """
    with saving(cli, output, force=force) as file, progress_bar("packing", None, as_json=cli.as_json) as update:
        cli.workspace.export_to(cast(BinaryIO, _CountingFile(file, update)))


@command.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@user_command
def import_(cli: UserCommand, file: Path) -> None:
    """Add the texts, presets and settings of such a zip to the workspace: all or nothing."""
    try:
        size = file.stat().st_size
        with file.open("rb") as zipped, progress_bar("sending", size, as_json=cli.as_json) as update:
            done = cli.workspace.import_from(cast(BinaryIO, _CountingFile(zipped, update)))
    except OSError as error:
        terminal.end(terminal.EXIT_FAILED, f"{file} cannot be read: {error.strerror}", as_json=cli.as_json)
    added = f"{counted(done.contents, 'content')} and {counted(done.presets, 'preset')}"
    cli.show(done, f"{added} added; settings are now those of the zip")


class _CountingFile:
    """A file that reports how many bytes were read or written so far."""

    def __init__(self, file: BinaryIO, update: Update) -> None:
        self._file = file
        self._update = update

    def write(self, body: bytes) -> int:
        """Write, and report it."""
        written = self._file.write(body)
        self._update(advance=written)
        return written

    def read(self, size: int = -1) -> bytes:
        """Read, and report it."""
        body = self._file.read(size)
        self._update(advance=len(body))
        return body

    def seek(self, offset: int, whence: int = 0) -> int:
        """Change the position, and report it."""
        place = self._file.seek(offset, whence)
        self._update(completed=place)
        return place
