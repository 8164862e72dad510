"""How long a server asks to wait, in a header, in the body of its refusal, or in a sentence. Pure."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

LONGEST_SECONDS: Final = 3_600.0
"""If a server asks for a longer wait than an hour, Carrel asks it again after an hour."""

_AFTER = ("Retry-After", "llm_provider-retry-after")
"""The second is LiteLLM's, with which it passes on what the provider behind it said."""
_MILLISECONDS = ("retry-after-ms", "x-ms-retry-after-ms")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_PART = re.compile(
    r"(?<!-)([0-9]{1,12}(?:\.[0-9]{1,9})?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)"
    r"(?![a-z])",
    re.IGNORECASE,
)
_AGAIN = re.compile(r"(?:try again|retry|wait)\b[^0-9]{0,30}((?:[0-9.]+ ?[a-z]+ ?)+)", re.IGNORECASE)
_EPOCH_SECONDS, _EPOCH_MILLISECONDS = 1e9, 1e12


def asked_for(headers: Mapping[str, str], text: str, told: float | None, now: float) -> float | None:
    """The seconds for which the server asks to wait; `None` if it does not say, or in no form that Carrel can read.

    `text` are the words of its refusal, and `told` the seconds in a field of it; `now` is the time since the epoch.
    `Retry-After` is a number of seconds or a date (RFC 9110, section 10.2.3); some servers send milliseconds in a
    header of their own, say it in a sentence, or tell when each of their limits begins anew.
    """
    for name in _MILLISECONDS:
        milliseconds = _float(headers.get(name))
        if milliseconds is not None:
            return _within(milliseconds / 1000)
    after = next((headers[name] for name in _AFTER if name in headers), None)
    if after is not None and (found := _after(after, now)) is not None:
        return found
    if told is not None:
        return _within(told)
    again = _AGAIN.search(text)
    if again is not None and (seconds := duration(again[1])) is not None:
        return _within(seconds)
    return _reset(headers, now)


def _reset(headers: Mapping[str, str], now: float) -> float | None:
    """When the limit that is used up begins anew; without a word of what is left, the first one that does."""
    used_up, others = list[float](), list[float]()
    for name, text in headers.items():
        lower = name.lower()
        if "reset" not in lower or "limit" not in lower:
            continue
        number = _float(text)
        seconds = duration(text) if number is None else _since(number, now)
        if seconds is None:
            seconds = _date(text, now)
        left = next((headers[one] for one in headers if one.lower() == lower.replace("reset", "remaining")), None)
        if seconds is not None and _float(left) in (None, 0.0):
            (others if left is None else used_up).append(seconds)
    if used_up:
        return _within(max(used_up))
    return _within(min(others)) if others else None


def _since(number: float, now: float) -> float:
    if number >= _EPOCH_MILLISECONDS:
        return number / 1000 - now
    return number - now if number >= _EPOCH_SECONDS else number


def _after(text: str, now: float) -> float | None:
    seconds = _float(text)
    return _date(text, now) if seconds is None else _within(seconds)


def _date(text: str, now: float) -> float | None:
    try:
        date = datetime.fromisoformat(text) if "T" in text and "-" in text else parsedate_to_datetime(text)
        # A date without a time zone is in UTC, never in the zone of this machine.
        return _within((date if date.tzinfo is not None else date.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def duration(text: str) -> float | None:
    """The seconds of `12s`, `6m11.5s`, `200ms` or `2 minutes`."""
    found = list(_PART.finditer(text.strip()))
    if not found:
        return None
    return sum(float(part[1]) * _UNITS[_unit(part[2])] for part in found)


def _unit(word: str) -> str:
    lower = word.lower()
    return "ms" if lower.startswith(("ms", "milli")) else lower[0]


def _float(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _within(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST_SECONDS)
