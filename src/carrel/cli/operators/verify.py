"""`carrel verify`: whether a backup is complete, unchanged and under the right key."""

from pathlib import Path

import rich_click as click

from carrel.backup import archive, cluster_backup
from carrel.cli.interface.data_folder import (
    env_file_option,
    json_option,
    one_line,
    print_summary,
    progress,
    settings_of,
)


@click.command("verify")
@click.argument("file", type=click.Path(path_type=Path))
@env_file_option
@json_option
def command(file: Path, env_file: Path | None, as_json: bool) -> None:
    """Read a whole backup and say whether it is good. If it is not, say why; the exit code is then 1.

    FILE is a folder if the backup is of all nodes of a cluster.

    Only the service key is needed, no user's key: what users wrote stays encrypted.
    """
    key = settings_of(env_file).service_key.reveal()
    if file.is_dir():
        size = cluster_backup.size_of(file)
        with one_line(file, as_json=as_json), progress("checking", size, as_json=as_json) as on_progress:
            whole = cluster_backup.check(file, key, on_progress)
        print_summary(whole, file, lambda held: f"{file} is good: {held}", as_json=as_json)
        return
    with (
        one_line(file, as_json=as_json),
        file.open("rb") as opened,
        progress("checking", file.stat().st_size, as_json=as_json) as on_progress,
    ):
        manifest = archive.check(opened, key, on_progress)
    print_summary(manifest, file, lambda held: f"{file} is good: {held}", as_json=as_json)
