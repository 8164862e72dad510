"""What a verdict of each judge costs, from the calls that compared."""

from carrel.kit.sqlite.database import Connection
from carrel.metering.store import HOST
from carrel.providers.hosts import ModelAt

ORDERS = 2
"""A verdict takes an answer in each order."""


def by_model(conn: Connection) -> dict[ModelAt, int]:
    """Millionths of a dollar for a verdict in both orders, re-asks included, by judge. Unbounded: to be scanned.

    Calls of unknown cost are left out; a model of which nothing else is known is not there.
    """
    rows = conn.all(
        f"SELECT model, {HOST}, sum(cost_micros), sum(outcome = 'answered') FROM calls"
        f" WHERE phase = 'compare' AND cost_micros IS NOT NULL GROUP BY model, {HOST}"
    )
    return {ModelAt(model, host): round(ORDERS * cost / answered) for model, host, cost, answered in rows if answered}
