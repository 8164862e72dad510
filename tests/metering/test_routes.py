"""What the books say over HTTP: sums that are exact, days of the user's own, rows that do not change."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import apsw
import httpx
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from starlette.types import ASGIApp, Receive, Scope, Send

from carrel.http.client_connection import CLIENT, ClientConnection
from carrel.kit.money import micros_of
from carrel.kit.sqlite.database import Connection
from carrel.metering import calls, store, unknown_costs
from carrel.metering.calls import CallEnd, Hold, Terms
from carrel.metering.schemas import Grouping
from carrel.providers.base import Usage
from tests.support.asgi import client_of
from tests.support.host import Host, code_of
from tests.support.workspace import workspace_database

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[Connection]:
    with workspace_database(tmp_path) as connection:
        yield connection


def put(conn: Connection, at: str, cost: int | None, model: str = "openai:gpt-5-mini", run: str | None = "r") -> None:
    call_id = calls.begin(
        conn, run_id=run, task_key="k", attempt=1, model=model, host=None, free=False, phase="score",
        terms=Terms("price", 9, Hold(f"{at}{cost}{model}{run}", 5)),
    )  # fmt: skip
    conn.run("UPDATE calls SET started_at = ? WHERE id = ?", at, call_id)
    usage = Usage(input_tokens=1, cached_tokens=2, written_tokens=3, output_tokens=4)
    calls.end(conn, call_id, CallEnd(outcome="answered", usage=usage, cost_micros=cost, credit_micros=cost))


def test_days_are_those_of_the_time_zone_also_when_clocks_change(conn: Connection) -> None:
    for at in ("2026-10-24T22:00:00.000Z", "2026-10-25T22:59:59.999Z", "2026-10-25T23:00:00.000Z"):
        put(conn, at, 1)
    found = store.usage(conn, store.span_of(BERLIN, None, None), ["day"])
    assert [(item.day, item.totals.calls) for item in found.items] == [("2026-10-25", 2), ("2026-10-26", 1)]
    found = store.usage(conn, store.span_of(BERLIN, "2026-10-25", "2026-10-26"), [])
    assert (found.items, found.total.calls) == ([], 2)


def test_what_a_call_takes_of_credits_is_never_more_than_was_held_back(conn: Connection) -> None:
    for cost in (3, 7, None):
        put(conn, "2026-11-21T00:00:00.000Z", cost)
    assert conn.all("SELECT charged_micros, borne_micros FROM calls ORDER BY seq") == [
        (3, None),
        (None, 2),
        (None, None),
    ]
    assert unknown_costs.any_undecided(conn)
    assert not unknown_costs.decide(conn, 100, conn.column("SELECT reservation FROM calls"))
    assert not unknown_costs.any_undecided(conn)
    charges = conn.all("SELECT cost_micros, charged_micros, borne_micros FROM calls ORDER BY seq")
    assert charges == [(3, 3, None), (7, 5, 2), (None, 0, 5)]
    total = store.usage(conn, store.span_of(BERLIN, None, None), []).total
    assert (total.cost, total.charged, total.unknown_calls, total.cached_write_tokens) == ("0.00001", "0.000008", 1, 9)


def test_a_row_that_ended_does_not_change(conn: Connection) -> None:
    put(conn, "2026-11-21T00:00:00.000Z", 3)
    with pytest.raises(apsw.ConstraintError):
        conn.run("UPDATE calls SET cost_micros = 0")
    put(conn, "2026-11-21T00:00:01.000Z", None)
    with pytest.raises(apsw.ConstraintError):
        conn.run("UPDATE calls SET cost_micros = 0 WHERE charged_micros IS NULL")
    unknown_costs.decide(conn, 100, conn.column("SELECT reservation FROM calls"))
    with pytest.raises(apsw.ConstraintError):
        conn.run("UPDATE calls SET charged_micros = 4")


@hypothesis_settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31)).map(
                lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000)
            ),
            st.one_of(st.none(), st.integers(0, 10**12)),
            st.sampled_from(["openai:a", "google:b"]),
            st.sampled_from(["r", "s", None]),
        ),
        max_size=12,
        unique_by=lambda row: row[0],
    ),
    st.lists(st.sampled_from(["day", "model", "provider", "run", "phase"]), min_size=1),
)
def test_the_groups_add_up_to_the_total(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[object, ...]], by: list[Grouping]
) -> None:
    with workspace_database(tmp_path_factory.mktemp("books")) as conn, pytest.MonkeyPatch.context() as patched:
        patched.setattr(store, "PART_ROWS", 3)
        for at, cost, model, run in rows:
            moment = at.isoformat(timespec="milliseconds") + "Z"  # type: ignore[attr-defined]
            put(conn, moment, cost, model, run)  # type: ignore[arg-type]
        found = store.usage(conn, store.span_of(BERLIN, None, None), by)
    assert sum(micros_of(item.totals.cost) for item in found.items) == sum(row[1] or 0 for row in rows)  # type: ignore[misc]
    assert micros_of(found.total.cost) == sum(row[1] or 0 for row in rows)  # type: ignore[misc]
    assert sum(item.totals.calls for item in found.items) == found.total.calls == len(rows)


def test_more_groups_than_one_answer_may_have_are_refused(conn: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_GROUPS", 2)
    for run in ("r", "s", "t"):
        put(conn, "2026-11-21T00:00:00.000Z", 1, run=run)
    with pytest.raises(store.TooManyGroups):
        store.usage(conn, store.span_of(BERLIN, None, None), ["run"])
    assert store.usage(conn, store.span_of(BERLIN, None, None), ["day"]).total.calls == 3


async def test_a_report_of_too_many_groups_and_a_read_that_takes_too_long_are_refused(
    app: ASGIApp, ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.kit.sqlite.database.PROGRESS_STEPS", 1)
    body = {"model": "local:lead", "prompt": "Cats sleep. Dogs bark."}
    assert (await ada.post("/api/generation", json=body)).status_code == 200
    with monkeypatch.context() as patched:
        patched.setattr(store, "MAX_GROUPS", 0)
        refused = await ada.get("/api/metering/usage", params={"group_by": "run"})
        assert (refused.status_code, code_of(refused)) == (400, "too-many-groups")
    monkeypatch.setattr("carrel.vault.workspace.MAX_SCAN_SECONDS", -1.0)

    async def of_a_server(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, CLIENT: ClientConnection()}, receive, send)

    async with client_of(of_a_server) as served:
        late = await served.get("/api/metering/usage", headers=ada.headers)
    assert (late.status_code, code_of(late)) == (503, "read-too-long")


async def test_a_user_without_calls_has_used_nothing(client: httpx.AsyncClient, host: Host) -> None:
    client.headers.update(await host.signed_in("ada"))
    usage = (await client.get("/api/metering/usage", params={"group_by": "day,model,provider,run,phase"})).json()
    assert (usage["items"], usage["total"]["cost"], usage["total"]["calls"]) == ([], "0", 0)
    assert (await client.get("/api/metering/calls")).json() == {"items": [], "next_cursor": None}


@pytest.mark.parametrize(
    ("params", "path"),
    [({"from": "2026-13-01"}, "from"), ({"to": "tomorrow"}, "to"), ({"from": "0001-01-01"}, "from"),
     ({"group_by": "day,hour"}, "group_by")],
)  # fmt: skip
async def test_what_is_no_day_or_group_is_400(
    client: httpx.AsyncClient, host: Host, params: dict[str, str], path: str
) -> None:
    client.headers.update(await host.signed_in("ada"))
    answer = await client.get("/api/metering/usage", params=params)
    assert (answer.status_code, code_of(answer)) == (400, "invalid-input")
    assert answer.json()["errors"][0]["path"] == path
