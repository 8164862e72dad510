"""What a verdict of each judge costs, from the calls that compared."""

from carrel.kit.sqlite.database import Connection

ORDERS = 2
"""A verdict takes an answer in each order."""


def by_model(conn: Connection) -> dict[str, int]:
    """Millionths of a dollar for a verdict in both orders, re-asks included, by model. Unbounded: to be scanned.

    Calls of unknown cost are left out; a model of which nothing else is known is not there.
    """
    rows = conn.all(
        "SELECT model, sum(cost_micros), sum(outcome = 'answered') FROM calls"
        " WHERE phase = 'compare' AND cost_micros IS NOT NULL GROUP BY model"
    )
    return {model: round(ORDERS * cost / answered) for model, cost, answered in rows if answered}
