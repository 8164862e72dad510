"""Writes files: completely or not at all, readable by their owner only, and over another file only when asked."""

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NoReturn, TypeVar

import rich_click as click

from carrel.cli.interface import printing, terminal
from carrel.cli.interface.terminal import CommandOutput, printable

F = TypeVar("F", bound=Callable[..., object])

_STDOUT = "-"


def out_options(default: str | None) -> Callable[[F], F]:
    """The options `--output` and `--force`. Without a default the output goes to stdout."""
    words = "The file to write; `-` is stdout." if default else "The file to write.  [default: stdout]"

    def with_options(command: F) -> F:
        force = click.option("--force", is_flag=True, help="Replace an existing file.")
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
def saving(cli: CommandOutput, path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """A file that gets its name when the block succeeds, and is deleted when it fails.

    Only its owner can read it, because its content is no longer encrypted. If it cannot be written, the program ends.
    """
    if str(path) == _STDOUT and printing.is_to_terminal():
        shown = io.BytesIO()
        yield shown
        printing.say(shown.getvalue().decode("utf-8", "replace"), end="")
        return
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
        # The reason in the system's words, such as a full disk.
        words = f"{path} cannot be written: {error.strerror or 'no reason given'}"
        terminal.end(terminal.EXIT_FAILED, words, as_json=cli.as_json)
    finally:
        with suppress(OSError):
            fresh.unlink()
    if cli.as_json:
        terminal.print_json({"file": str(path), "bytes": size})
    else:
        cli.console.print(printable(f"{path}  {size / 1024:,.0f} kB"), soft_wrap=True)


def save(cli: CommandOutput, path: Path, content: bytes, *, force: bool) -> None:
    """Write `content` as one file."""
    with saving(cli, path, force=force) as file:
        file.write(content)


def _take_name(fresh: Path, path: Path, *, force: bool) -> None:
    if not force:
        # Unlike a rename, a link never replaces a file that appeared meanwhile. Not every file system has links.
        try:
            os.link(fresh, path)
        except PermissionError:
            if path.exists():
                raise FileExistsError from None
        else:
            return
    fresh.replace(path)


def _refuse(cli: CommandOutput, path: Path) -> NoReturn:
    terminal.end(terminal.EXIT_FAILED, f"{path} exists already; --force replaces it", as_json=cli.as_json)
