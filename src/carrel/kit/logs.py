"""Logs: JSON lines on stderr that hold event names, ids, route templates and numbers, and nothing a user wrote.

Only keys of an allow-list are logged, at any level. A value that looks like a secret is blanked even there.
"""

import logging
import re
import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import Final

import msgspec

from carrel.kit.clock import rfc3339

KEYS: Final = frozenset(
    {
        *("event", "level", "time", "logger", "kind", "at", "code", "request_id", "route", "method", "status", "ms"),
        *("user", "run", "task_key", "provider", "model", "count", "seconds", "version", "host", "port", "signal"),
        *("state", "reason", "slot", "migration", "bytes"),
    }
)
"""The keys of a log line. `user` is a uuid's `tail`; ids and codes are Carrel's own. No key is for users' texts."""

_SECRET = re.compile(
    r"(?:carrel_|sk-)[A-Za-z0-9_-]{8,}"
    r"|[0-9A-Fa-f]{48,}"
    r"|(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{32,}(?:\.[A-Za-z0-9_-]{16,})?"
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MAX_CHARACTERS = 300
_encode = msgspec.json.Encoder().encode
_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}


_threshold = _LEVELS["info"]
"""The lowest level that is written. It is set once, when the process starts."""


def configure(level: str) -> None:
    """Write the program's own log to stderr from `level` up, and only the fact of other libraries' warnings and errors.

    `level` is debug, info, warning or error. It changes how much is logged, never what a line may hold.
    """
    global _threshold  # noqa: PLW0603  # the one log of the process, as its stderr is
    _threshold = _LEVELS[level]
    # At debug, other libraries log headers and addresses, so they only log warnings and errors.
    logging.basicConfig(handlers=[_Foreign()], level=logging.WARNING, force=True)
    # When a handler fails, logging would print the message with its arguments.
    logging.raiseExceptions = False
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)


def info(event: str, **fields: object) -> None:
    """Log an event that went as expected."""
    _log("info", event, fields)


def warning(event: str, **fields: object) -> None:
    """Log a failure of one request or run with a known reason."""
    _log("warning", event, fields)


def error(event: str, **fields: object) -> None:
    """Log a failure with no known reason: a bug."""
    _log("error", event, fields)


def _log(level: str, event: str, fields: dict[str, object]) -> None:
    if _LEVELS[level] >= _threshold:
        _write({"event": event, "level": level, "time": rfc3339(time.time()), **fields})


def tail(uuid: str) -> str:
    """The part of a user's uuid that logs show: the last eight characters, or the last half of a short one."""
    return uuid[len(uuid) - min(8, len(uuid) // 2) :]


def keep_allowed(line: dict[str, object]) -> dict[str, object]:
    """Drop every key that is not in `KEYS`, and replace every value that could hold a user's text."""
    return {key: _clean(value) for key, value in line.items() if key in KEYS}


def _clean(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return _SECRET.sub(_blank, value[:_MAX_CHARACTERS])
    if isinstance(value, list | tuple):
        return [_clean(entry) for entry in value[:20]]
    return type(value).__name__


def _blank(found: re.Match[str]) -> str:
    # Carrel's own ids are as long as a secret, but have a form that no secret has.
    return found[0] if _UUID.fullmatch(found[0]) else "[redacted]"


def _write(line: dict[str, object]) -> None:
    # The reader of the log may have gone. The service continues without it.
    with suppress(OSError):
        sys.stderr.write(_encode(keep_allowed(line)).decode() + "\n")
        sys.stderr.flush()


class _Foreign(logging.Handler):
    """Another library's record: its name, and the kind and place of an error. Its texts are left out.

    Only the first line of the message's template is kept, without the arguments.
    """

    def emit(self, record: logging.LogRecord) -> None:
        line: dict[str, object] = {
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": str(record.msg).partition("\n")[0],
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["kind"] = record.exc_info[0].__name__
            line["at"] = places(record.exc_info[2])
        _write(line)


def places(traceback: TracebackType | None) -> list[str]:
    """The last few `file:line function` of a traceback, without any values."""
    found = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        found.append(f"{'/'.join(code.co_filename.split('/')[-3:])}:{traceback.tb_lineno} {code.co_name}")
        traceback = traceback.tb_next
    return found[-8:]
