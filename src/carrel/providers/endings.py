"""When models are switched off: what a dated table in the package says, and what their providers' own lists said last.

An end that nobody has announced is unknown, which is not the same as none.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

import msgspec

from carrel.kit.clock import date_of
from carrel.providers.hosts import ModelAt
from carrel.providers.registry import name_of, provider_of

NOTICE_DAYS: Final = 60
"""From so many days before its end on, a model is no default any more, and what uses it is told."""
OF_LIST: Final = "the provider's list of models"
_MOST_LISTED = 5_000
_HEAD: Final = "# Read on "
_SNAPSHOT = re.compile(r"-(?:\d{4}-\d\d-\d\d|\d{8}|\d{3}|latest)$")
"""What tells a version of a model: it ends with the model unless the table says otherwise."""
_TUNED = re.compile(r"ft:([^:]+):.*")
"""A model that a customer has fine-tuned ends with the one below it."""


class End(NamedTuple):
    """The last day of a model, and who says so."""

    on: date
    source: str


class ModelEnding(msgspec.Struct, frozen=True, kw_only=True):
    """A model that is switched off soon, or was. `days` are those that are left; 0 or fewer once it is off.

    `sentence` says it to people.
    """

    model: str
    ends_on: str
    days: int
    source: str
    sentence: str


class EndTable(NamedTuple):
    read_on: date
    ends: dict[str, End]


listed: dict[str, End] = {}
"""What the lists of the providers' own hosts said last, the same for every user. A restart forgets it."""


def read_on() -> date:
    """The day on which the table was written."""
    return table().read_on


def note(model: str, shutdown_date: str | None) -> None:
    """Remember what the list of the provider's own host says about the model."""
    if shutdown_date is not None and (model in listed or len(listed) < _MOST_LISTED):
        with suppress(ValueError):
            listed[model] = End(date_of(shutdown_date), OF_LIST)


def end_of(model: str, host: str | None = None) -> End | None:
    """The end of `provider:name`; `None` if it is unknown, as always elsewhere than at the provider's own host."""
    if host is not None:
        return None
    name = _TUNED.sub(r"\1", name_of(model))
    names = (f"{provider_of(model)}:{one}" for one in (name, unversioned(name)))
    ends = table().ends
    return next((end for one in names if (end := listed.get(one) or ends.get(one)) is not None), None)


def unversioned(name: str) -> str:
    """The name of a model without what tells its version: a date, or that it is the latest."""
    return _SNAPSHOT.sub("", name)


def ends_soon(model: str, host: str | None, at_seconds: float) -> bool:
    """Whether the model ends within `NOTICE_DAYS`, or has ended, here or at the maker to whom a router sends calls."""
    end = end_of(model, host) or end_of(name_of(model).replace("/", ":", 1))
    return end is not None and _days(end, at_seconds) <= NOTICE_DAYS


def soon(models: Iterable[ModelAt], at_seconds: float) -> tuple[ModelEnding, ...]:
    """Those of the models that end within `NOTICE_DAYS` or have ended, the first to end first."""
    return tuple(sorted(_soon(models, at_seconds), key=lambda one: (one.ends_on, one.model)))


def _soon(models: Iterable[ModelAt], at_seconds: float) -> Iterator[ModelEnding]:
    for model, host in dict.fromkeys(models):
        end = end_of(model, host)
        if end is None or (days := _days(end, at_seconds)) > NOTICE_DAYS:
            continue
        sentence = _sentence(model, end.on, days)
        yield ModelEnding(model=model, ends_on=str(end.on), days=days, source=end.source, sentence=sentence)


def _days(end: End, at_seconds: float) -> int:
    return (end.on - datetime.fromtimestamp(at_seconds, UTC).date()).days


def _sentence(model: str, on: date, days: int) -> str:
    day = f"{on.day} {on:%B %Y}"
    if days <= 0:
        return f"{model} was switched off on {day}." if days < 0 else f"{model} is switched off today."
    return f"{model} is switched off in {days} {'day' if days == 1 else 'days'}, on {day}."


@cache
def table() -> EndTable:
    head, *lines = (files("carrel.providers") / "endings.csv").read_text().splitlines()
    rows = csv.DictReader(lines)
    ends = {row["model"]: End(date_of(row["ends_on"]), row["source"]) for row in rows}
    return EndTable(date_of(head.removeprefix(_HEAD)[:10]), ends)
