"""The hosts at which the candidates and judges of a run answer. A judge is named by its model and its host.

A run expects the hosts of the keys that are stored when it is made and when it is started. Each answer writes down
where it came from, because a key may have been changed since. Whoever answered at several hosts has all of them.
"""

from typing import NamedTuple

from carrel.keys import store as keys
from carrel.kit.sqlite.database import Connection
from carrel.providers import families, hosts
from carrel.providers.hosts import ModelAt
from carrel.providers.registry import name_of, needs_key, provider_of
from carrel.runs.model import rounds
from carrel.runs.model.setup import RunCandidate, RunJudge, Setup

_ANSWERED = "(malformed > 0 OR (state = 'succeeded' AND (attempts > 0 OR reused IS NOT NULL)))"


class _Row(NamedTuple):
    """The row of a candidate or judge, and its tasks: tables with conditions that take the values of `key`."""

    table: str
    where: str
    tasks: str
    key: tuple[int, ...]


def of(conn: Connection, run_id: str) -> dict[str, str]:
    """The hosts of a run's models, in all rounds, that answer elsewhere than at their providers' own hosts."""
    found: dict[str, set[str | None]] = {}
    for model, host in conn.all(
        "SELECT model, host FROM run_candidates JOIN runs ON seq = run WHERE id = ?1 AND model IS NOT NULL"
        " UNION SELECT model, host FROM run_judges JOIN runs ON seq = run WHERE id = ?1 ORDER BY model",
        run_id,
    ):
        found.setdefault(model, set()).add(host)
    everywhere = {model: hosts.joined(provider_of(model), some) for model, some in found.items()}
    return {model: host for model, host in everywhere.items() if host is not None}


def expect(conn: Connection, setup: Setup) -> None:
    """Expect the hosts of the user's keys for the round's judges, and in the first round for the candidates.

    Where credits pay, only the answers tell: the operator's keys are not in the workspace.
    """
    everyone: list[RunCandidate | RunJudge] = [*setup.round.judges]
    if setup.round.number == 1:
        everyone += setup.candidates
    for one in everyone:
        if one.model is not None and needs_key(one.model):
            _put(conn, setup, one, None if setup.billing == "credits" else keys.host(conn, one.model))
    _name_judges(conn, setup)


def record(conn: Connection, setup: Setup, one: RunCandidate | RunJudge, host: str | None) -> None:
    """Write down that an answer came from this host, before its task counts as done."""
    provider, row = provider_of(one.model or ""), _row(setup, one)
    before: str | None = conn.value(f"SELECT host FROM {row.table} WHERE {row.where}", *row.key)
    if before == host or {*hosts.listed(provider, host)} <= {*hosts.listed(provider, before)}:
        return
    if conn.one(f"SELECT 1 FROM tasks WHERE {row.tasks} AND {_ANSWERED} LIMIT 1", *row.key) is not None:
        host = hosts.joined(provider, (before, host))
    _put(conn, setup, one, host)
    _name_judges(conn, setup)


def _put(conn: Connection, setup: Setup, one: RunCandidate | RunJudge, host: str | None) -> None:
    row, model = _row(setup, one), one.model or ""
    family = families.family_of(provider_of(model), name_of(model), host)
    conn.run(f"UPDATE {row.table} SET host = ?, family = ? WHERE {row.where}", host, family, *row.key)


def _name_judges(conn: Connection, setup: Setup) -> None:
    """Name the judges of the round by their models and hosts."""
    where, key = "run = ? AND round = ?", (setup.seq, setup.round.number)
    judges = conn.all(f"SELECT name, model, host FROM run_judges WHERE {where} ORDER BY ordinal", *key)
    names = rounds.names([str(ModelAt(model, host)) for _, model, host in judges])
    for ordinal, (name, (before, _, _)) in enumerate(zip(names, judges, strict=True), start=1):
        if name != before:
            conn.run(f"UPDATE run_judges SET name = ? WHERE {where} AND ordinal = ?", name, *key, ordinal)


def _row(setup: Setup, one: RunCandidate | RunJudge) -> _Row:
    if isinstance(one, RunCandidate):
        tasks = "run = ? AND candidate = ? AND judge IS NULL"
        return _Row("run_candidates", "run = ? AND ordinal = ?", tasks, (setup.seq, one.ordinal))
    key = (setup.seq, one.ordinal, setup.round.number)
    return _Row("run_judges", "run = ? AND ordinal = ? AND round = ?", "run = ? AND judge = ? AND round = ?", key)
