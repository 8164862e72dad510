"""What the operator's commands on a data folder share: configuration, progress bar, and one line at the end.

Exit codes: 0 done; 1 a file cannot be used, or is not a good backup; 2 wrong usage, or the service runs.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import rich_click as click

from carrel import config
from carrel.backup.archive import BackupManifest
from carrel.backup.cluster_backup import ClusterManifest
from carrel.backup.members import OnProgress
from carrel.backup.refusals import BackupRefused
from carrel.cli.interface import terminal
from carrel.cli.interface.printing import say
from carrel.cli.interface.progress_bar import progress_bar
from carrel.cli.interface.refusal import refuse
from carrel.config import ConfigError, Settings
from carrel.errors import CarrelError
from carrel.evaluation.words import counted

env_file_option = click.option(
    "--env-file", type=click.Path(path_type=Path), help="Configuration file.  [default: .env, if it exists]"
)
data_dir_option = click.option("--data-dir", help="Folder with the databases.  [default: CARREL_DATA_DIR]")
json_option = click.option("--json", "as_json", is_flag=True, help="Print the outcome as one line of JSON.")


def settings_of(
    env_file: Path | None, data_dir: str | None = None, *, needs: Collection[str] = ("service_key",)
) -> Settings:
    """The service's configuration, in which these fields are set. Ends the program if it cannot be loaded."""
    if env_file is not None and not env_file.is_file():
        refuse(f"--env-file: {env_file} is not there")
    overrides: dict[str, str] = {} if data_dir is None else {"data_dir": data_dir}
    try:
        return config.load(env_file=env_file or Path(".env"), overrides=overrides, needs=needs)
    except ConfigError as error:
        refuse(str(error))


@contextmanager
def one_line(path: Path, *, as_json: bool) -> Iterator[None]:
    """End the program with one line if a file cannot be read, written or used."""
    try:
        yield
    except BackupRefused as error:
        terminal.end(terminal.EXIT_FAILED, f"{path}: {error}", as_json=as_json)
    except CarrelError as error:
        terminal.end(terminal.EXIT_FAILED, error.detail, as_json=as_json)
    except OSError as error:
        terminal.end(terminal.EXIT_FAILED, f"{path}: {error.strerror or 'cannot be read or written'}", as_json=as_json)


@contextmanager
def progress(words: str, total: int, *, as_json: bool) -> Iterator[OnProgress]:
    """A bar of bytes."""
    with progress_bar(words, total, as_json=as_json) as update:
        yield lambda count: update(advance=count)


def print_summary(
    manifest: BackupManifest | ClusterManifest,
    path: Path,
    words: Callable[[str], str],
    *,
    sizes: Collection[int] | None = None,
    as_json: bool,
) -> None:
    """Print the outcome, for people or programs. `sizes` are those of the databases, if not all count."""
    count, size = (manifest.databases, manifest.bytes) if sizes is None else (len(sizes), sum(sizes))
    if as_json:
        terminal.print_json({"path": str(path), "made_at": manifest.made_at, "databases": count, "bytes": size})
        return
    say(words(f"{counted(count, 'database')}, {size / 1_048_576:,.1f} MB, of {manifest.made_at}"))
