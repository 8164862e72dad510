"""`carrel settings`: the user's own settings."""

import msgspec
import rich_click as click
import yaml
from carrel_sdk.models import Settings

from carrel.cli.interface import terminal
from carrel.cli.interface.terminal import UserCommand, user_command

_NAMES = tuple(name for name in Settings.__struct_fields__ if name != "etag")


@click.group("settings", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Your own settings."""


@command.command("show")
@user_command
def show(cli: UserCommand) -> None:
    """Print all settings."""
    settings = cli.workspace.settings.get()
    _show(cli, settings)


@command.command("set")
@click.argument("pairs", nargs=-1, required=True, metavar="NAME=VALUE...")
@user_command
def set_settings(cli: UserCommand, pairs: tuple[str, ...]) -> None:
    """Change some settings. The others stay as they are.

    Values are YAML: `theme=dark`, `retention_days=90`, `retention_days=null`, `default_judges=[local:reader]`.
    """
    before = cli.workspace.settings.get()
    changed = {name: getattr(before, name) for name in Settings.__struct_fields__}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or name not in _NAMES:
            terminal.end(
                terminal.EXIT_USAGE, f"give NAME=VALUE; the names are {', '.join(_NAMES)}", as_json=cli.as_json
            )
        try:
            changed[name] = yaml.safe_load(text)
        except yaml.YAMLError:
            terminal.end(terminal.EXIT_USAGE, f"the value of {name} is not YAML", as_json=cli.as_json)
    try:
        wanted = msgspec.convert(changed, Settings)
    except msgspec.ValidationError:
        names = ", ".join(pair.partition("=")[0] for pair in pairs)
        terminal.end(terminal.EXIT_USAGE, f"a value is of the wrong kind, among {names}", as_json=cli.as_json)
    saved = cli.workspace.settings.save(wanted)
    _show(cli, saved)


def _show(cli: UserCommand, settings: Settings) -> None:
    # All of them: what is sent leaves out what has its default, but a reader wants to see that, too.
    shown = {name: getattr(settings, name) for name in Settings.__struct_fields__}
    words = {name: shown[name] for name in _NAMES}
    cli.show(shown, yaml.safe_dump(words, sort_keys=False, allow_unicode=True).rstrip())
