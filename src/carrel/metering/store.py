"""Reads the metering: sums by group, exact to the millionth, and the rows themselves."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, tzinfo
from typing import Final, NamedTuple

import msgspec

from carrel.errors import BadInput
from carrel.kit.clock import date_of, rfc3339
from carrel.kit.money import text_if_known, text_of
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging, fetch
from carrel.kit.sqlite.rows import Select, SqlColumn
from carrel.metering.schemas import CallRow, Grouping, Totals, UsageItem, UsageReport
from carrel.providers.hosts import ModelAt

HOST: Final = "iif(provider = 'local', NULL, host)"
"""The host of a call, in SQL: rows of earlier programs do not know it, also where there is none."""
_COLUMNS: Final[dict[Grouping, dict[str, str]]] = {
    "day": {},
    "model": {"model": "model", "host": HOST},
    "provider": {"provider": "provider"},
    "run": {"run_id": "run_id"},
    "phase": {"phase": "phase"},
}
"""What the calls of a group have in common, by the field that shows it."""
_MINUTE = "substr(started_at, 1, 16)"
"""Today the offset of every time zone is a whole number of minutes."""


MAX_GROUPS: Final = 10_000
PART_ROWS: Final = 20_000
"""Rows that are grouped at once."""


class TooManyGroups(BadInput):
    """The sums would be too many for one answer."""

    code = "too-many-groups"
    detail = "There are too many groups for one answer; ask for fewer days, or group by less."


class Sums(NamedTuple):
    """Sums over calls; amounts in millionths."""

    calls: int = 0
    unknown_calls: int = 0
    input_tokens: int = 0
    cached_read_tokens: int = 0
    cached_write_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0
    charged_micros: int = 0


_sums = Select(
    Sums,
    calls="count(*)",
    unknown_calls="sum(cost_micros IS NULL)",
    input_tokens="coalesce(sum(input_tokens), 0)",
    cached_read_tokens="coalesce(sum(cached_tokens), 0)",
    cached_write_tokens="coalesce(sum(written_tokens), 0)",
    output_tokens="coalesce(sum(output_tokens), 0)",
    cost_micros="coalesce(sum(cost_micros), 0)",
    charged_micros="coalesce(sum(charged_micros), 0)",
)
CALLS: Final = Select(
    CallRow,
    host=HOST,
    cached_read_tokens="cached_tokens",
    cached_write_tokens="written_tokens",
    cost=SqlColumn("cost_micros", text_if_known),
    reserved=SqlColumn("reserved_micros", text_if_known),
    charged=SqlColumn("charged_micros", text_if_known),
)


class Span(msgspec.Struct, frozen=True):
    """Days in a time zone, from `since` to before `until`."""

    zone: tzinfo
    since: date | None = None
    until: date | None = None


def span_of(zone: tzinfo, since: str | None, until: str | None) -> Span:
    """The days between two dates.

    Raises:
        BadInput: one of them is not a date.
    """
    return Span(zone, _date("from", since), _date("to", until))


def usage(conn: Connection, span: Span, group_by: Sequence[Grouping]) -> UsageReport:
    """Sums over the calls that began in `span` and have ended. Unbounded: to be scanned.

    Raises:
        TooManyGroups: there are more than `MAX_GROUPS`.
    """
    wanted = list(dict.fromkeys(group_by))
    columns = {name: column for one in wanted for name, column in _COLUMNS[one].items()}
    by_day = "day" in wanted
    keys = [*([_MINUTE] if by_day else []), *columns.values()]
    days, params = _days(span)
    sql = (
        f"SELECT {', '.join([*keys, _sums.sql])} FROM calls"
        f" WHERE outcome <> 'running' AND {days} AND seq BETWEEN ? AND ?"
    )
    if keys:
        sql += f" GROUP BY {', '.join(keys)}"
    groups: dict[tuple[str | None, ...], Sums] = {}
    # Of days alone: an index has them, so no row is read twice.
    first, last = conn.all(f"SELECT coalesce(min(seq), 1), coalesce(max(seq), 0) FROM calls WHERE {days}", *params)[0]
    # SQLite sorts what it groups in memory: part by part, that is a little.
    for begin in range(first, last + 1, PART_ROWS):
        for row in conn.execute(sql, (*params, begin, min(last, begin + PART_ROWS - 1))):
            key, sums = row[: len(keys)], _sums.record(row[len(keys) :])
            if by_day:
                key = (_day(key[0], span.zone), *key[1:])
            if sums.calls:
                groups[key] = _together([groups[key], sums]) if key in groups else sums
        if len(groups) > MAX_GROUPS:
            raise TooManyGroups
    names = [*(["day"] if by_day else []), *columns]
    ordered = sorted(groups, key=lambda key: tuple(part or "" for part in key))
    items = []
    for key in ordered:
        at = dict(zip(names, key, strict=True))
        items.append(
            UsageItem(
                totals=_totals(groups[key]),
                day=at.get("day"),
                model=at.get("model"),
                host=at.get("host"),
                provider=at.get("provider"),
                run_id=at.get("run_id"),
                phase=at.get("phase"),
            )
        )
    return UsageReport(items if names else [], _totals(_together(groups.values())))


def calls(conn: Connection, paging: Paging, run_id: str | None, model: str | None) -> Page[CallRow]:
    """The rows, newest first. With a filter it is unbounded: to be scanned."""
    where, params = "1", []
    for column, value in (("run_id", run_id), ("model", model)):
        if value is not None:
            where += f" AND {column} = ?"
            params.append(value)
    return fetch(conn, paging, CALLS, f"FROM calls WHERE {where}", *params)


def _together(parts: Iterable[Sums]) -> Sums:
    return Sums(*map(sum, zip(*parts, strict=True)))


def _totals(sums: Sums) -> Totals:
    return Totals(
        calls=sums.calls,
        unknown_calls=sums.unknown_calls,
        input_tokens=sums.input_tokens,
        cached_read_tokens=sums.cached_read_tokens,
        cached_write_tokens=sums.cached_write_tokens,
        output_tokens=sums.output_tokens,
        cost=text_of(sums.cost_micros),
        charged=text_of(sums.charged_micros),
    )


_ORDERS = 2
"""A verdict takes an answer in each order."""


def verdict_costs(conn: Connection) -> dict[ModelAt, int]:
    """Millionths of a dollar for a verdict in both orders, re-asks included, by judge. Unbounded: to be scanned.

    Calls of unknown cost are left out; a model of which nothing else is known is not there.
    """
    rows = conn.all(
        f"SELECT model, {HOST}, sum(cost_micros), sum(outcome = 'answered') FROM calls"
        f" WHERE phase = 'compare' AND cost_micros IS NOT NULL GROUP BY model, {HOST}"
    )
    return {ModelAt(model, host): round(_ORDERS * cost / answered) for model, host, cost, answered in rows if answered}


def _days(span: Span) -> tuple[str, list[str]]:
    where, params = "true", []
    for comparison, day in ((">=", span.since), ("<", span.until)):
        if day is not None:
            where += f" AND started_at {comparison} ?"
            params.append(rfc3339(datetime.combine(day, time(), span.zone).timestamp()))
    return where, params


def _day(minute: str, zone: tzinfo) -> str:
    return datetime.fromisoformat(minute).replace(tzinfo=UTC).astimezone(zone).date().isoformat()


def _date(path: str, text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date_of(text)
    except ValueError:
        raise BadInput.at(path, "must be a date such as 2026-11-21") from None
