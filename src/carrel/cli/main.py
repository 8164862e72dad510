"""The group of all commands. Nothing but the command that runs is imported, so that the service starts fast."""

import importlib
from typing import Final

import rich_click as click

COMMANDS: Final = {
    "serve": "carrel.cli.serve",
    "init": "carrel.cli.init",
    "backup": "carrel.cli.backup",
    "verify": "carrel.cli.verify",
    "restore": "carrel.cli.restore",
    "admin": "carrel.cli.admin",
    "openapi": "carrel.cli.openapi",
    "demo": "carrel.cli.demo",
    "login": "carrel.cli.login",
    "content": "carrel.cli.content",
    "preset": "carrel.cli.preset",
    "run": "carrel.cli.run",
    "models": "carrel.cli.models",
    "keys": "carrel.cli.keys",
    "rate-limits": "carrel.cli.rate_limits",
    "usage": "carrel.cli.usage",
    "settings": "carrel.cli.settings",
    "github": "carrel.cli.github",
    "workspace": "carrel.cli.workspace",
}
"""Where each command is: a module with a click command named `command`."""


class Lazy(click.RichGroup):
    """Finds its commands in `COMMANDS`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every name, in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one command; `None` for a name that is none."""
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(COMMANDS[cmd_name]).command
        if not isinstance(command, click.Command):
            raise TypeError
        return command


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="carrel", prog_name="carrel")
def main() -> None:
    """A private, encrypted desk for every user of a website, and a workbench that ranks models and prompts."""
