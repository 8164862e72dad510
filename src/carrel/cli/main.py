"""The group of all commands. Nothing but the command that runs is imported, so that the service starts fast."""

import importlib
from typing import Final

import rich_click as click

from carrel import __version__
from carrel.cli.interface.printing import plain
from carrel.cli.interface.refusal import is_of_service, without_service

_OPERATORS: Final = (
    "serve",
    "init",
    "doctor",
    "backup",
    "verify",
    "verify-audit",
    "restore",
    "where",
    "rotate-service-key",
    "admin",
    "cluster",
    "openapi",
)
_EVERYBODY: Final = ("start", "demo", "rank", "verify-receipt")
_USERS: Final = (
    *("login", "content", "data-set", "preset", "run", "gate", "votes", "models", "judge", "keys", "rate-limits"),
    *("usage", "settings", "github", "workspace", "program-key", "mcp"),
)
COMMANDS: Final = {
    **dict.fromkeys(_OPERATORS, "carrel.cli.operators"),
    **dict.fromkeys(_EVERYBODY, "carrel.cli"),
    **dict.fromkeys(_USERS, "carrel.cli.users"),
}
"""Every command, and the package whose module of the same name holds it as `command`."""


class _Formatter(click.RichHelpFormatter):
    """Writes help, and errors of usage: these repeat what stands on the command line, as names of files."""

    def write_error(self, e: click.ClickException) -> None:
        """Write an error."""
        super().write_error(click.UsageError(plain(e.format_message()), getattr(e, "ctx", None)))


class _Context(click.RichContext):
    formatter_class = _Formatter


class Lazy(click.RichGroup):
    """Finds its commands in `COMMANDS`."""

    context_class = _Context

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every name, in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one command; `None` if there is no such command.

        Where only the terminal program is installed, a command of the service is a stand-in that says so.
        """
        if cmd_name not in COMMANDS:
            return None
        try:
            command = importlib.import_module(f"{COMMANDS[cmd_name]}.{cmd_name.replace('-', '_')}").command
        except ModuleNotFoundError as error:
            if not is_of_service(error):
                raise
            return _stand_in(cmd_name, error)
        if not isinstance(command, click.Command):
            raise TypeError
        return command


def _stand_in(name: str, missing: ModuleNotFoundError) -> click.Command:
    anything = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    words = "Needs the packages of the service, which are not installed here."
    return click.Command(name, context_settings=anything, callback=lambda: without_service(missing), help=words)


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="carrel")
def main() -> None:
    """A private, encrypted workspace for every user of a website, which compares and ranks models and prompts."""
