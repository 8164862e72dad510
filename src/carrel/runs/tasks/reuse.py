"""Takes the result of a task from an earlier run, where the same was asked of the same model in the same way.

Repeats ask for independent answers to one question, so no result counts twice in a run, not even by way of a third run.
"""

import hashlib
from typing import NamedTuple

import msgspec

from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.providers.base import Citation, FinishReason, Usage
from carrel.runs.model import log, run_hosts
from carrel.runs.model.setup import Setup
from carrel.runs.tasks import answers, inputs, transitions
from carrel.runs.tasks.attempts import GenerateResult


class _Source(NamedTuple):
    """A task with the same question, and the task whose call brought its result."""

    seq: int
    origin: int


class _Answer(NamedTuple):
    text: str
    finish_reason: FinishReason
    citations: list[Citation] | None
    lacks_citations: bool
    thought: str | None


_sources = Select(_Source, origin="coalesce(reused, seq)")
_answers = Select(
    _Answer,
    text="body",
    citations="(SELECT citations FROM generated_citations WHERE generated = seq)",
    lacks_citations="delivered = 0 AND finish_reason = 'stop' AND trim(body) <> ''",
)


def asked(task: inputs.TaskRow, need: inputs.ModelCall, host: str | None) -> bytes:
    """The digest of all that an answer depends on: model and host, parameters, every text, and which repeat it is.

    The marks of fences around the texts are left out, because they differ from run to run.
    """
    parts = (task.kind, need, host, task.repeat, task.judge_repeat)
    return hashlib.sha256(msgspec.json.encode(parts)).digest()


def take(conn: Connection, setup: Setup, task: inputs.TaskRow, digest: bytes, host: str | None) -> bool:
    """Give the task the result of an earlier run, which came from this host. Return whether there is one."""
    source = _sources.one(
        conn,
        "FROM tasks WHERE asked = ? AND kind = ? AND run <> ? AND state = 'succeeded' AND NOT EXISTS"
        " (SELECT 1 FROM tasks AS taken WHERE taken.reused = coalesce(tasks.reused, tasks.seq) AND taken.run = ?3)"
        " ORDER BY seq DESC LIMIT 1",
        *(digest, task.kind, setup.seq),
    )
    if source is None:
        return False
    if task.kind in ("generate", "combine"):
        answer = _answers.one(conn, "FROM generated WHERE task = ?", source.seq)
        if answer is None:
            return False
        made = GenerateResult(
            answer.text,
            answer.finish_reason,
            tuple(answer.citations or ()),
            answer.lacks_citations,
            answer.thought or "",
        )
        answers.put(conn, setup.seq, task.seq, made, Usage(), 0, host)
    else:
        table, columns = ("scores", "fate, marks, said") if task.kind == "score" else ("comparisons", "word, said")
        conn.run(
            f"INSERT INTO {table} (task, {columns}) SELECT ?, {columns} FROM {table} WHERE task = ?",
            *(task.seq, source.seq),
        )
    run_hosts.record(conn, setup, setup.asked(task.candidate, task.judge), host)
    transitions.reuse(conn, setup.seq, task.seq, digest, source.origin)
    log.write(conn, setup.seq, "task-reused", task_key=task.key, state="succeeded")
    return True
