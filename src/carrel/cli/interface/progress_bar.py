"""A progress bar on stderr, because stdout may be the output. None with `--json`, and none without a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Protocol

from rich.progress import BarColumn, DownloadColumn, Progress, ProgressColumn, TextColumn, TransferSpeedColumn

from carrel.cli.interface import terminal


class Update(Protocol):
    """Tells the bar what is done, by steps or in all, and of how much."""

    def __call__(
        self, *, advance: float | None = None, completed: float | None = None, total: float | None = None
    ) -> None: ...


@contextmanager
def progress_bar(words: str, total: int | None, *columns: ProgressColumn, as_json: bool) -> Iterator[Update]:
    """A bar of bytes, unless columns say otherwise."""
    console = terminal.console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        *(columns or (DownloadColumn(), TransferSpeedColumn())),
        console=console,
        transient=True,
        disable=as_json or not console.is_terminal,
    )
    with bar:
        yield partial(bar.update, bar.add_task(words, total=total))
