"""Who pays for calls of unknown cost: the host up to a bound for each UTC day, then the user."""

from pathlib import Path

import pytest

from carrel.kit.sqlite.database import Connection
from carrel.metering import calls, unknown_costs
from carrel.metering.calls import CallEnd, Hold, Terms
from tests.support.clock import FakeClock
from tests.support.workspace import workspace_database

LOST = ("one", "two", "three")


def lose(conn: Connection, reservation: str, held: int) -> None:
    """A call that was killed."""
    terms = Terms("price", held, Hold(reservation, held))
    calls.begin(
        conn,
        run_id="run",
        task_key="k",
        attempt=1,
        model="openai:gpt-5-mini",
        host=None,
        free=False,
        phase="score",
        terms=terms,
    )
    calls.abandon(conn, "run")


@pytest.mark.parametrize(
    ("most", "charges"), [(0, [5, 5, 5]), (4, [1, 5, 1]), (5, [0, 5, 0]), (7, [0, 3, 0]), (10, [0, 0, 0])]
)
def test_the_host_bears_unknown_costs_up_to_a_bound_for_each_day(tmp_path: Path, most: int, charges: list[int]) -> None:
    with workspace_database(tmp_path) as conn:
        lose(conn, "one", 5)
        lose(conn, "two", 5)
        first = conn.now()[:10]
        assert isinstance(conn.clock, FakeClock)
        conn.clock.advance(86_400)
        lose(conn, "three", 5)
        assert calls.charged(conn, ["one", "none"]) == {"one": None}
        assert unknown_costs.decide(conn, most, LOST)
        assert list(calls.charged(conn, ["one", "two", "three"]).values()) == charges
        borne = {day: micros for day, _, micros in unknown_costs.borne(conn)}
        assert borne.get(first, 0) == min(most, 10)
        assert max(borne.values(), default=0) <= most
        assert not unknown_costs.decide(conn, most, LOST), "there is nothing more to decide"


def test_what_a_call_cost_above_its_hold_is_borne_and_counts_towards_the_bound(tmp_path: Path) -> None:
    with workspace_database(tmp_path) as conn:
        terms = Terms("price", 5, Hold("dear", 5))
        dear = calls.begin(
            conn, run_id="run", task_key="k", attempt=1, model="openai:gpt-5-mini", host=None, free=False, terms=terms
        )
        calls.end(conn, dear, CallEnd(outcome="answered", cost_micros=9, credit_micros=9))
        assert not unknown_costs.decide(conn, 100, ["dear"])
        assert calls.charged(conn, ["dear"]) == {"dear": 5}
        lose(conn, "lost", 5)
        assert unknown_costs.decide(conn, 6, ["lost"]), "four were borne before"
        assert calls.charged(conn, ["lost"]) == {"lost": 3}


def test_a_call_whose_reservation_was_never_made_costs_nobody_anything(tmp_path: Path) -> None:
    with workspace_database(tmp_path) as conn:
        lose(conn, "none", 5)
        assert not unknown_costs.decide(conn, 0, ["other"])
        assert calls.charged(conn, ["none"]) == {"none": None}, "somebody may be about to make it"
        assert not unknown_costs.decide(conn, 0, ["other"], are_all=True)
        assert calls.charged(conn, ["none"]) == {"none": 0}
        assert unknown_costs.borne(conn) == []
