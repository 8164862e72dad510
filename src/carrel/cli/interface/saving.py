"""Files that leave the workspace: whole or not at all, for their owner alone, and never in place of another unasked."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NoReturn, TypeVar

import rich_click as click

from carrel.cli.interface import terminal
from carrel.cli.interface.terminal import Output, printable

F = TypeVar("F", bound=Callable[..., object])

_STDOUT = "-"


def out_options(default: str | None) -> Callable[[F], F]:
    """`--output` and `--force`; without a default, what is not written into a file goes to stdout."""
    words = "Where to write it; `-` is stdout." if default else "Where to write it; stdout otherwise."

    def with_options(command: F) -> F:
        force = click.option("--force", is_flag=True, help="Replace a file that is there already.")
        output = click.option(
            *("--output", "-o"),
            type=click.Path(path_type=Path, allow_dash=True),
            default=Path(default or _STDOUT),
            show_default=default is not None,
            help=words,
        )
        return output(force(command))

    return with_options


@contextmanager
def saving(cli: Output, path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """A file that gets its name when the block has ended well, and is gone if it has not.

    It is readable by its owner only, for what is in it is no longer encrypted. If it cannot be written, that ends the
    program.
    """
    if str(path) == _STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if not force and path.exists():
        _refuse(cli, path)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            yield file
        _take_name(fresh, path, force=force)
        size = path.stat().st_size
    except FileExistsError:
        _refuse(cli, path)
    except OSError as error:
        # The system's own words for the reason, such as a full disk.
        words = f"{path} cannot be written: {error.strerror or 'no reason given'}"
        terminal.end(terminal.EXIT_FAILED, words, as_json=cli.as_json)
    finally:
        with suppress(OSError):
            fresh.unlink()
    if cli.as_json:
        terminal.print_json({"file": str(path), "bytes": size})
    else:
        cli.console.print(printable(f"{path}  {size / 1024:,.0f} kB"), soft_wrap=True)


def save(cli: Output, path: Path, content: bytes, *, force: bool) -> None:
    """Write what is there as a whole."""
    with saving(cli, path, force=force) as file:
        file.write(content)


def _take_name(fresh: Path, path: Path, *, force: bool) -> None:
    if not force:
        # Unlike renaming, a link replaces nothing that came meanwhile; but not every file system has links.
        try:
            os.link(fresh, path)
        except PermissionError:
            if path.exists():
                raise FileExistsError from None
        else:
            return
    fresh.replace(path)


def _refuse(cli: Output, path: Path) -> NoReturn:
    terminal.end(terminal.EXIT_FAILED, f"{path} is there already; --force replaces it", as_json=cli.as_json)
