"""What all of the user's commands share: address and token, output for people or programs, and exit codes.

0  done                                4  there is nothing with this id
1  the service or a file refused       5  the current state forbids it, or somebody else changed it first
2  wrong usage or configuration        6  the service cannot be reached, or is busy
3  no session: sign in again           7  the run failed, was cancelled, or is paused
8  `gate`: the candidate is worse      9  it is not decided (`gate`, `run watch --decided`)
                                     130  ended by Ctrl-C
"""

import functools
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Concatenate, NoReturn, ParamSpec

import msgspec
import rich_click as click
from carrel_sdk import (
    CarrelApiError,
    CarrelError,
    CarrelUnreachable,
    Conflict,
    NotFound,
    ProgramKeyRefused,
    SessionEnded,
    TryLater,
    VersionMismatch,
    Workspace,
)
from carrel_sdk.models import LastConnectionTest, LastTest, PassRate
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from carrel.cli.interface import tokens
from carrel.cli.interface.printing import one_line, plain, say, say_json
from carrel.evaluation.words import counted

P = ParamSpec("P")

_KEYS = frozenset({"id", "key"})
_NAME_COLUMNS = 16
_GAP_COLUMNS = 2
_PIPE_COLUMNS = 200
"""Each row of a table is one line in a file or a pipe."""

DEFAULT_URL = "http://127.0.0.1:8400"

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_NO_SESSION = 3
EXIT_NOT_FOUND = 4
EXIT_CONFLICT = 5
EXIT_UNREACHABLE = 6
EXIT_RUN_WITHOUT_RESULT = 7
EXIT_WORSE = 8
EXIT_UNDECIDED = 9
EXIT_INTERRUPTED = 130

_KINDS: tuple[tuple[type[CarrelError], int], ...] = (
    (SessionEnded, EXIT_NO_SESSION),
    (ProgramKeyRefused, EXIT_NO_SESSION),
    (NotFound, EXIT_NOT_FOUND),
    (Conflict, EXIT_CONFLICT),
    (VersionMismatch, EXIT_CONFLICT),
    (TryLater, EXIT_UNREACHABLE),
    (CarrelUnreachable, EXIT_UNREACHABLE),
)


@dataclass(frozen=True)
class CommandOutput:
    """Where a command shows its answers: as JSON for programs, or in words for people."""

    as_json: bool
    console: Console

    def show(self, value: object, words: str) -> None:
        """One result: as a line of JSON, or in words."""
        if self.as_json:
            print_json(value)
        else:
            # Soft, so that lines in a file are not broken.
            self.console.print(printable(words), soft_wrap=True)

    def show_done(self, done: str, what: str) -> None:
        """What was done to something that cannot be shown afterwards: `deleted 0197…`, or `{"deleted": "0197…"}`."""
        self.show({done.replace(" ", "_"): what}, f"{done} {what}")

    def show_rows(self, values: Iterable[object], columns: dict[str, Callable[..., str]]) -> None:
        """Many results: each a line of JSON, or a table with a column for each entry of `columns`."""
        if self.as_json:
            for value in values:
                print_json(value)
            return
        rows = [[printable(cell(value)) for cell in columns.values()] for value in values]
        if rows and self._is_narrow(list(columns), rows):
            self._show_stacked(rows)
            return
        table = Table(box=None, header_style="bold", pad_edge=False)
        for name in columns:
            # Ids and keys are copied into the next command, so only names may be folded.
            table.add_column(name, no_wrap=name != "name", overflow="ignore" if name in _KEYS else "fold")
        for row in rows:
            table.add_row(*row)
        self.console.print(table)

    def _is_narrow(self, names: list[str], rows: list[list[Text]]) -> bool:
        """Whether the terminal is too narrow for a table in which only names are folded."""
        widths = [max(len(name), *(row[at].cell_len for row in rows)) for at, name in enumerate(names)]
        least = [
            min(width, _NAME_COLUMNS) if name == "name" else width for name, width in zip(names, widths, strict=True)
        ]
        return sum(least) + len(least) * _GAP_COLUMNS > self.console.width + _GAP_COLUMNS

    def _show_stacked(self, rows: list[list[Text]]) -> None:
        """Show each row's first cell on a line of its own, where it can be copied, and the others below it."""
        for first, *others in rows:
            self.console.print(first, style="bold", soft_wrap=True)
            self.console.print(Padding(Text("  ").join(cell for cell in others if cell), (0, 0, 0, 2)))


@dataclass(frozen=True)
class UserCommand(CommandOutput):
    """What a user's command works with: the opened workspace, and where to show its answers."""

    workspace: Workspace


def user_command(fn: Callable[Concatenate[UserCommand, P], None]) -> Callable[P, None]:
    """Open the workspace for a command. If something goes wrong, end with its exit code."""

    @click.option("--url", help="Address of the service.  [default: CARREL_URL, or where you logged in]")
    @click.option("--json", "as_json", is_flag=True, help="Print each result as one line of JSON.")
    @functools.wraps(fn)
    def command(*args: P.args, **kwargs: P.kwargs) -> None:
        as_json = bool(kwargs.pop("as_json"))
        given = kwargs.pop("url")
        try:
            with open_workspace(str(given) if given else None) as workspace:
                fn(UserCommand(as_json, wide_console(), workspace), *args, **kwargs)
        except CarrelError as error:
            fail(error, as_json=as_json)
        except tokens.NoToken as error:
            end(EXIT_NO_SESSION, str(error), as_json=as_json)
        except KeyboardInterrupt:
            sys.exit(EXIT_INTERRUPTED)

    return command


class _PlainConsole(Console):
    """Prints no character of a text that a terminal would obey, and no link. Words are no markup."""

    def __init__(self, **more: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **more)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of anything that is printed; those that move the cursor are the console's own."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                style = segment.style and segment.style.update_link(None)
                yield Segment(plain(segment.text), style)


def console(*, stderr: bool = False, width: int | None = None) -> Console:
    """Stdout or stderr, for words in colours, tables and bars."""
    return _PlainConsole(stderr=stderr, width=width)


def wide_console() -> Console:
    """Stdout, in a terminal's own width; a file or pipe is wide enough for a row."""
    found = console()
    return found if found.is_terminal else console(width=_PIPE_COLUMNS)


def open_workspace(url: str | None) -> Workspace:
    """The workspace at `url`, with the token from `tokens.source`.

    Raises:
        NoToken: there is none.
    """
    address = address_of(url)
    try:
        return Workspace(address, tokens.source(address))
    except ValueError as error:
        end(EXIT_USAGE, str(error), as_json=False)


def address_of(url: str | None) -> str:
    """The address in `--url`, in CARREL_URL, or of the last login."""
    login = tokens.kept(tokens.login_file())
    found = url or os.environ.get("CARREL_URL") or (login.url if login else DEFAULT_URL)
    return found.rstrip("/").removesuffix("/api")


def fail(error: CarrelError, *, as_json: bool) -> NoReturn:
    """End the program with the exit code of `error`, and print its text to stderr."""
    code = exit_code_of(error)
    if not isinstance(error, CarrelApiError):
        end(code, str(error), as_json=as_json)
    if as_json:
        faults = [fault._asdict() for fault in error.errors]
        shown = {"status": error.status, "code": error.code, "detail": error.detail, "errors": faults}
        say_json(msgspec.json.encode({"error": {**shown, "request_id": error.request_id}}), stderr=True)
        sys.exit(code)
    lines = [f"carrel: {error.detail} ({error.code})", *(f"  {fault.path}: {fault.message}" for fault in error.errors)]
    say("\n".join(map(one_line, lines)), stderr=True)
    sys.exit(code)


def exit_code_of(error: CarrelError) -> int:
    """The exit code that tells programs what kind of error it was."""
    return next((code for kind, code in _KINDS if isinstance(error, kind)), EXIT_FAILED)


def end(code: int, words: str, *, as_json: bool) -> NoReturn:
    """End the program with one line on stderr."""
    if as_json:
        say_json(msgspec.json.encode({"error": {"detail": words}}), stderr=True)
    else:
        say(one_line(f"carrel: {words}"), stderr=True)
    sys.exit(code)


def tested(test: LastTest | LastConnectionTest | None) -> str:
    """The outcome and day of the last test of a key or token; empty if there was none."""
    return "" if test is None else f"{'good' if test.ok else 'failed'}, {test.at[:10]}"


def model_at(model: str, host: str | None) -> str:
    """A model for people; a host that is not its provider's own belongs to its name."""
    return model if host is None else f"{model} at {host}"


def dollars(cost: str | None, unknown_calls: int = 0) -> str:
    """A cost for people: US dollars, and how many calls have a cost that nobody knows."""
    known = "unknown" if cost is None else f"${cost}"
    if not unknown_calls:
        return known
    calls = f"{counted(unknown_calls, 'call')} of unknown cost"
    return calls if cost == "0" else f"{known} and {calls}"


def partly_known(known: str, calls: int) -> str:
    """The part of a cost that is known, and how many calls come on top."""
    unknown = f"{counted(calls, 'call')} of unknown price"
    return unknown if known == "0" else f"{dollars(known)} and {unknown}"


def rate(found: PassRate | None) -> str:
    """A share in per cent with its interval; a dash where there is none."""
    if found is None or found.share is None:
        return "–"
    between = "" if found.low is None or found.high is None else f" ({100 * found.low:.0f}–{100 * found.high:.0f})"
    return f"{100 * found.share:.0f} %{between}"


def print_json(value: object) -> None:
    """One line of JSON on stdout."""
    say_json(msgspec.json.encode(value))


def printable(text: str) -> Text:
    """The text as it is printed, so that a table knows how wide it is."""
    return Text(plain(text))
