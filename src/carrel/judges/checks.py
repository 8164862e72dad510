"""The rows of checks: which words of which judge are there, and what they show."""

from collections.abc import Sequence
from typing import NamedTuple

from carrel.errors import CarrelError
from carrel.evaluation.judges import passport
from carrel.evaluation.judges.passport import Passport
from carrel.evaluation.records import Verdict, Word
from carrel.judges import bench
from carrel.judges.bench import TRAPS, VERSION, BenchPair
from carrel.judges.schemas import JudgeCheck, TrapResult
from carrel.keys import store as keys
from carrel.kit.money import text_of
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select, as_json
from carrel.models import fitness
from carrel.providers.base import Parameters
from carrel.providers.hosts import ModelAt
from carrel.runs.model.plan import Presented
from carrel.single_calls.schemas import SingleJudge


class BenchReply(NamedTuple):
    """One word of a judge on a pair, in one order, and what its calls cost (`None`: unknown)."""

    pair: str
    presented: Presented
    word: Word
    cost_micros: int | None


class OpenCheck(NamedTuple):
    """What the pairs of a check that is not finished are drawn from, and which words are there."""

    seed: str
    spoken: set[tuple[str, Presented]]


class _Unfinished(NamedTuple):
    seq: int
    seed: str


class _Check(NamedTuple):
    seq: int
    id: str
    model: str
    host: str | None
    parameters: Parameters
    started_at: str
    finished_at: str | None
    passed: bool | None
    seed: str


_unfinished = Select(_Unfinished)
_checks = Select(_Check)
_words = Select(BenchReply)


def progress(conn: Connection, judge: SingleJudge) -> OpenCheck:
    """The judge's check that is not finished, at the host of its key, or a new one."""
    found = _open(conn, judge, keys.host(conn, judge.model))
    if found is None:
        return OpenCheck(conn.new_id(), set())
    return OpenCheck(found.seed, {(word.pair, word.presented) for word in _said(conn, found.seq)})


def finished(conn: Connection, judge: SingleJudge) -> int:
    """How many checks of the judge are finished."""
    number: int = conn.value(
        f"SELECT count(*) FROM judge_checks WHERE {_OF_JUDGE} AND bench = ? AND finished_at NOT NULL",
        *_values(judge, keys.host(conn, judge.model)),
        VERSION,
    )
    return number


def keep(conn: Connection, judge: SingleJudge, host: str | None, seed: str, word: BenchReply) -> None:
    """Keep a word in the check that is not finished, or as the first of a new one; the last word finishes the check.

    `host` is the host that said it: each has checks of its own.
    """
    found = _open(conn, judge, host)
    if found is None:
        conn.run(
            "INSERT INTO judge_checks (id, model, parameters, host, bench, started_at, seed)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(conn.new_id(), *_values(judge, host), VERSION, conn.now(), seed),
        )
        found = _open(conn, judge, host)
    # If the key was changed to this host in the middle of a check, the host may be in the middle of another one.
    if found is None or found.seed != seed:
        return
    seq = found.seq
    conn.run(
        "INSERT OR IGNORE INTO judge_check_words (judge_check, pair, presented, word, cost_micros)"
        " VALUES (?, ?, ?, ?, ?)",
        *(seq, *word),
    )
    words = _said(conn, seq)
    if len(words) == bench.WORDS:
        passed = _right(bench.drawn(seed), words) >= fitness.PASSING * bench.WORDS
        conn.run("UPDATE judge_checks SET finished_at = ?, passed = ? WHERE seq = ?", conn.now(), passed, seq)


def newest(conn: Connection, *, finished: bool = False) -> dict[ModelAt, JudgeCheck]:
    """The newest check of each model at each host, of all or of those that are finished."""
    which = "WHERE finished_at NOT NULL" if finished else ""
    newest = f"SELECT max(seq) FROM judge_checks {which} GROUP BY model, host"
    rows = _checks.all(conn, f"FROM judge_checks WHERE bench = ? AND seq IN ({newest})", VERSION)
    return {ModelAt(row.model, row.host): _shown(conn, row) for row in rows}


def latest(conn: Connection, judge: SingleJudge) -> JudgeCheck:
    """The newest check of a judge, which has one, whatever host its key has named since."""
    row = _checks.one(
        conn,
        "FROM judge_checks WHERE model = ? AND parameters = ? ORDER BY seq DESC LIMIT 1",
        *(judge.model, as_json(judge.parameters)),
    )
    if row is None:
        raise CarrelError
    return _shown(conn, row)


_OF_JUDGE = "model = ? AND parameters = ? AND host IS ?"


def _values(judge: SingleJudge, host: str | None) -> tuple[str, str, str | None]:
    return judge.model, as_json(judge.parameters), host


def _open(conn: Connection, judge: SingleJudge, host: str | None) -> _Unfinished | None:
    return _unfinished.one(
        conn,
        f"FROM judge_checks WHERE {_OF_JUDGE} AND bench = ? AND finished_at IS NULL",
        *(*_values(judge, host), VERSION),
    )


def _said(conn: Connection, seq: int) -> list[BenchReply]:
    return _words.all(conn, "FROM judge_check_words WHERE judge_check = ? ORDER BY pair, presented", seq)


def _right(pairs: Sequence[BenchPair], words: Sequence[BenchReply]) -> float:
    """How many words are right; a tie is by half, and a malformed one is not."""
    better_is_a = {pair.name: pair.better_is_a for pair in pairs}

    def right(word: BenchReply) -> float:
        is_first = better_is_a[word.pair] == (word.presented == "ab")
        return 0.5 if word.word == "tie" else float(word.word == ("first" if is_first else "second"))

    return sum(map(right, words))


def _shown(conn: Connection, row: _Check) -> JudgeCheck:
    words, pairs = _said(conn, row.seq), bench.drawn(row.seed)
    verdicts = _verdicts(row.model, pairs, words)
    costs = [word.cost_micros for word in words if word.cost_micros is not None]
    return JudgeCheck(
        id=row.id,
        model=row.model,
        host=row.host,
        parameters=row.parameters,
        bench=VERSION,
        started_at=row.started_at,
        finished_at=row.finished_at,
        passed=row.passed,
        asked=len(words),
        of=bench.WORDS,
        right=passport.agreement_with(verdicts, bench.known(pairs)),
        traps=[
            TrapResult(trap=trap, right=passport.agreement_with(verdicts, bench.known(pairs, trap))) for trap in TRAPS
        ],
        passport=_passport(row.model, verdicts),
        cost=text_of(sum(costs)) if len(costs) == len(words) else None,
    )


def _passport(model: str, verdicts: Sequence[Verdict]) -> Passport:
    return passport.passports(verdicts, (), (), ())[model]


def _verdicts(model: str, pairs: Sequence[BenchPair], words: Sequence[BenchReply]) -> list[Verdict]:
    """Both orders of each pair; an order that was not asked for yet is missing."""
    said = {(word.pair, word.presented): word.word for word in words}
    return [
        bench.verdict(pair, model, said.get((pair.name, "ab"), "missing"), said.get((pair.name, "ba"), "missing"))
        for pair in pairs
    ]
