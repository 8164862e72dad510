"""`carrel verify-audit`: whether the audit files are as the service wrote them."""

from pathlib import Path

import rich_click as click

from carrel.accounts import audit
from carrel.accounts.audit import AuditBroken
from carrel.cli.interface import terminal
from carrel.cli.interface.data_folder import data_dir_option, env_file_option, json_option, one_line, settings_of
from carrel.cli.interface.printing import say
from carrel.cli.serving import examination


@click.command("verify-audit")
@data_dir_option
@env_file_option
@json_option
def command(data_dir: str | None, env_file: Path | None, as_json: bool) -> None:
    """Read every entry of the audit, and say whether one was changed, is missing, or was put in.

    The exit code is then 1. Only the service key is needed, and the service may run.
    """
    settings = settings_of(env_file, data_dir)
    folder = settings.data_dir.absolute()
    with (
        one_line(folder, as_json=as_json),
        examination.service_database(folder, settings.service_key.reveal()) as connection,
    ):
        try:
            count, at = audit.verify(connection, folder)
        except AuditBroken as error:
            terminal.end(terminal.EXIT_FAILED, str(error), as_json=as_json)
    if as_json:
        terminal.print_json({"entries": count, "last_at": at or None})
    else:
        say(f"every entry is as it was written: {count:,} in all" + (f", the last one at {at}" if at else ""))
