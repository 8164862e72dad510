"""The largest data that the limits allow, written as rows while the user is signed out.

What a run of 250,000 calls leaves behind takes hours over HTTP and seconds as rows. The rows are those that the service
writes: it makes the run and plans its tasks, and its own functions rank the result.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from carrel.accounts.accounts import Accounts
from carrel.kit.clock import SystemClock
from carrel.kit.ids import uuid7_factory
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection
from carrel.runs.engine import commands
from carrel.runs.model import setup as setups
from carrel.runs.model.setup import Setup
from carrel.runs.tasks import phases
from carrel.runs.verdicts import evidence, judgement
from tests.campaigns.user import Json, User
from tests.support.service import Service

AT = "2026-11-01T10:00:00.000Z"


class Shape(NamedTuple):
    """A run whose answers exist already: how many documents, candidates, judges and criteria, and how long its texts.

    `said` are the characters of what a judge says of one answer or pair; `scores` and `compares` are the phases.
    """

    documents: int = 20
    candidates: int = 4
    judges: int = 1
    criteria: int = 1
    answer: int = 100
    said: int = 0
    scores: bool = False
    compares: bool = True

    @property
    def calls(self) -> int:
        """How many calls the run plans."""
        pairs = self.candidates * (self.candidates - 1) // 2
        answers = self.documents * self.candidates
        scored = answers * self.judges if self.scores else 0
        return answers + scored + (self.documents * pairs * self.judges * 2 if self.compares else 0)


@contextmanager
def signed_out(running: Service, user: User) -> Iterator[Connection]:
    """The user's workspace, open for a transaction while the service does not have its key; then sign in again."""
    left = user.client.post("/api/auth/logout", json={"uuid": user.uuid}, headers=user.plugin)
    assert left.status_code == 204, left.text
    clock = SystemClock()
    new_id = uuid7_factory(clock)
    accounts = Accounts(running.data_dir, bytes.fromhex(running.service_key), clock=clock, new_id=new_id)
    path = accounts.workspace_path(user.uuid)
    conn = database.connect(path, bytes.fromhex(user.key), clock=clock, new_id=new_id, alone=True)
    try:
        conn.execute("PRAGMA synchronous = OFF").fetchall()
        with database.transaction(conn):
            yield conn
    finally:
        database.close(conn)
        accounts.close()
        user.sign_in()


def configuration(user: User, shape: Shape) -> Json:
    """What a run of this shape is made from."""
    documents = [user.content("input_document", f"River number {number} rose.") for number in range(shape.documents)]
    answers = [
        user.content("output_document", f"{number} " + "The river rose. " * (shape.answer // 16))
        for number in range(shape.candidates)
    ]
    names = ["Coverage", "Readability", "Conciseness", "Brevity"]
    criteria = "\n".join(
        f"- name: {names[0]} {number}" if number else f"- name: {names[0]}" for number in range(shape.criteria)
    )
    judges = [{"model": "local:reader", "weight": number + 1} for number in range(shape.judges)]
    found: Json = {
        "inputs": documents,
        "generation": {
            "candidates": [
                {"label": f"c{number}", "existing": dict.fromkeys(documents, answer)}
                for number, answer in enumerate(answers)
            ]
        },
    }
    if shape.scores:
        found["scoring"] = {"judges": judges, "criteria": user.content("criteria", criteria)}
    if shape.compares:
        found["comparison"] = {"judges": judges}
    return found


def finished_run(running: Service, user: User, shape: Shape, made_from: Json | None = None) -> str:
    """A run of this shape, or of another configuration without comparisons, that has ended; its id."""
    made = user.post("/runs", {"name": "n" * 200, "configuration": made_from or configuration(user, shape)})
    with signed_out(running, user) as conn:
        commands.start(conn, made["id"])
        seq = conn.value("SELECT seq FROM runs WHERE id = ?", made["id"])
        setup = _setup(conn, seq)
        _answer(conn, seq)
        _judge(conn, seq, shape)
        stage = phases.first(setup)
        while (following := phases.following(setup, stage)) is not None:
            phases.enter(conn, setup, following, phases.choose(conn, setup, following))
            stage = following
            setup = _setup(conn, seq)
            _judge(conn, seq, shape)
        _meter(conn, made["id"], seq)
        ending = judgement.conclude(judgement.pack(evidence.collect(conn, setup)))
        phases.finish(conn, setup, ending)
    return str(made["id"])


def copied(conn: Connection, run_id: str, times: int) -> None:
    """Further runs like this one, without their answers: their documents, candidates, judges, tasks and rankings."""
    seq = conn.value("SELECT seq FROM runs WHERE id = ?", run_id)
    for number in range(times):
        _copy(conn, "runs", "seq", seq, {"seq": "NULL", "id": f"'copy-{number}'"})
        made = conn.value("SELECT max(seq) FROM runs")
        for table in _PARTS:
            _copy(conn, table, "run", seq, {"run": f"{made}", **({"seq": "NULL"} if table == "tasks" else {})})


def metered(conn: Connection, run_id: str) -> None:
    """Calls of the copies of this run, as it has."""
    columns: list[str] = conn.column("SELECT name FROM pragma_table_info('calls')")
    changed = {"seq": "NULL", "id": "lower(hex(randomblob(16)))", "run_id": "copied.id"}
    changed["outcome"] = "'running'"
    changed["started_at"] = "strftime('%Y-%m-%dT%H:%M:%fZ', 1780000000 + copied.seq * 3600, 'unixepoch')"
    values = ", ".join(changed.get(name, f"calls.{name}") for name in columns)
    conn.run(
        f"INSERT INTO calls ({', '.join(columns)}) SELECT {values} FROM calls, runs AS copied"
        " WHERE run_id = ? AND copied.id LIKE 'copy-%'",
        run_id,
    )
    conn.run("UPDATE calls SET outcome = 'answered' WHERE outcome = 'running'")


_PARTS = ("run_snapshots", "run_documents", "run_candidates", "run_rounds", "run_judges", "run_rankings", "tasks")


def _copy(conn: Connection, table: str, column: str, seq: int, changed: dict[str, str]) -> None:
    columns: list[str] = conn.column("SELECT name FROM pragma_table_info(?)", table)
    values = ", ".join(changed.get(name, name) for name in columns)
    conn.run(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM {table} WHERE {column} = ?", seq)


def _setup(conn: Connection, seq: int) -> Setup:
    found = setups.load(conn, seq)
    assert found is not None
    return found


def _answer(conn: Connection, run: int) -> None:
    conn.run(
        "INSERT INTO generated (id, task, run, document, candidate, repeat, finish_reason, delivered, words,"
        " input_tokens, output_tokens, cost_micros, created_at, body)"
        " SELECT 'g' || tasks.seq, tasks.seq, tasks.run, tasks.document, tasks.candidate, repeat, 'stop', 1,"
        f" 3 + tasks.seq % 97, 0, 0, 0, '{AT}', body FROM tasks JOIN run_existing AS e ON e.run = tasks.run"
        " AND e.document = tasks.document AND e.candidate = tasks.candidate JOIN run_texts ON run_texts.seq = text"
        " WHERE tasks.run = ? AND kind = 'generate'",
        run,
    )
    _succeed(conn, run, "generate")


def _judge(conn: Connection, run: int, shape: Shape) -> None:
    said = "because " * (shape.said // 8)
    criteria = [
        row[0]
        for row in conn.all(
            "SELECT json_extract(value, '$.name') FROM run_rounds, json_each(criteria) WHERE run = ?", run
        )
    ]
    marks = ", ".join(f"'{name}', 1 + abs(random() % 5)" for name in criteria)
    conn.run(
        f"INSERT INTO scores (task, fate, marks, said) SELECT seq, 'given', json_object({marks}), ? FROM tasks"
        " WHERE run = ? AND kind = 'score' AND state = 'pending'",
        *(said, run),
    )
    _succeed(conn, run, "score")
    # The candidate with the lower number wins more often, so that there is something to find.
    conn.run(
        "INSERT INTO comparisons (task, word, said) SELECT seq, CASE abs(random() % 10) WHEN 0 THEN 'tie'"
        " WHEN 1 THEN iif(presented = 'ab', 'second', 'first') WHEN 2 THEN 'first' WHEN 3 THEN 'second'"
        " ELSE iif(presented = 'ab', 'first', 'second') END, ? FROM tasks"
        " WHERE run = ? AND kind = 'compare' AND state = 'pending'",
        *(said, run),
    )
    _succeed(conn, run, "compare")


def _succeed(conn: Connection, run: int, kind: str) -> None:
    conn.run(
        f"UPDATE tasks SET state = 'succeeded', attempts = 1, cost_micros = 7, started_at = '{AT}',"
        f" finished_at = '{AT}' WHERE run = ? AND kind = ? AND state = 'pending'",
        *(run, kind),
    )


def _meter(conn: Connection, run_id: str, run: int) -> None:
    conn.run(
        "INSERT INTO calls (id, run_id, task_key, attempt, provider, model, outcome, input_tokens, cached_tokens,"
        " output_tokens, cost_micros, latency_ms, started_at, finished_at, phase, written_tokens, price_id)"
        " SELECT lower(hex(randomblob(16))), ?, key, 1, 'local', 'local:reader', 'running', 100, 0, 10, 7, 3,"
        " strftime('%Y-%m-%dT%H:%M:%fZ', 1780000000 + seq % 20000000, 'unixepoch'),"
        f" '{AT}', kind, 0, 'p' FROM tasks WHERE run = ?",
        *(run_id, run),
    )
    conn.run("UPDATE calls SET outcome = 'answered' WHERE outcome = 'running'")
    for event in ("attempt-failed", "task-succeeded"):
        conn.run(
            "INSERT INTO run_log (run, at, level, event, task_key, state, model, attempt, latency_ms, input_tokens,"
            f" output_tokens) SELECT run, '{AT}', 'info', ?, key, 'succeeded', 'local:reader', 1, 3, 100, 10"
            " FROM tasks WHERE run = ?",
            *(event, run),
        )
