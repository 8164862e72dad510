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
    "model": {"model": "model", "host": "iif(model GLOB 'local:*', NULL, nullif(host, ''))"},
    "provider": {"provider": "substr(model, 1, instr(model, ':') - 1)"},
    "run": {"run_id": "nullif(run_id, '')"},
    "phase": {"phase": "nullif(phase, '')"},
}
"""What the calls of a group have in common, by the field that shows it: columns of `call_sums`."""
MAX_GROUPS: Final = 10_000
PART_ROWS: Final = 20_000
"""Sums that are grouped at once."""
_LAST: Final = "~"
"""After every time."""


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
    calls="sum(calls)",
    unknown_calls="sum(unknown_calls)",
    input_tokens="sum(input_tokens)",
    cached_read_tokens="sum(cached_tokens)",
    cached_write_tokens="sum(written_tokens)",
    output_tokens="sum(output_tokens)",
    cost_micros="sum(cost_micros)",
    charged_micros="sum(charged_micros)",
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
    keys = [*(["quarter"] if by_day else []), *columns.values()]
    begin, last = _quarters(span)
    groups: dict[tuple[str | None, ...], Sums] = {}
    # Without a group there would be a row of nothing.
    grouped = ", ".join(str(number + 1) for number in range(len(keys))) or "NULL"
    sql = f"SELECT {', '.join([*keys, _sums.sql])} FROM call_sums WHERE quarter >= ? AND quarter < ?"
    after = "SELECT quarter FROM call_sums WHERE quarter > ? AND quarter < ? ORDER BY quarter LIMIT 1 OFFSET ?"
    while begin < last:
        # SQLite sorts what it groups in memory: part by part, that is a little.
        end = conn.value(after, begin, last, PART_ROWS) or last
        for row in conn.execute(f"{sql} GROUP BY {grouped}", (begin, end)):
            key, sums = row[: len(keys)], _sums.record(row[len(keys) :])
            if by_day:
                key = (_day(key[0], span.zone), *key[1:])
            groups[key] = _together([groups[key], sums]) if key in groups else sums
        if len(groups) > MAX_GROUPS:
            raise TooManyGroups
        begin = end
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


def _quarters(span: Span) -> tuple[str, str]:
    """Its first quarter of an hour, and the one after its last."""

    def begun(day: date) -> str:
        return rfc3339(datetime.combine(day, time(), span.zone).timestamp())[:16]

    return begun(span.since) if span.since else "", begun(span.until) if span.until else _LAST


def _day(minute: str, zone: tzinfo) -> str:
    return datetime.fromisoformat(minute).replace(tzinfo=UTC).astimezone(zone).date().isoformat()


def _date(path: str, text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date_of(text)
    except ValueError:
        raise BadInput.at(path, "must be a date such as 2026-11-21") from None
