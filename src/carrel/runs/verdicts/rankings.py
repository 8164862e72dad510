"""The rankings of a run's rounds, each as it was when its round ended."""

import msgspec

from carrel.evaluation.ranking.ranking import Ranking
from carrel.kit.sqlite.database import Connection
from carrel.runs.verdicts.judgement import Ending

_ranking = msgspec.json.Decoder(Ranking)


def put(conn: Connection, run: int, round_number: int, ending: Ending) -> None:
    """Store how a round ended."""
    conn.run(
        "INSERT INTO run_rankings (run, round, ranking, verdict) VALUES (?, ?, ?, ?)",
        *(run, round_number, msgspec.json.encode(ending.ranking).decode(), ending.verdict),
    )


def remove(conn: Connection, run: int, round_number: int) -> None:
    """Forget how a round ended, because it goes on."""
    conn.run("DELETE FROM run_rankings WHERE run = ? AND round = ?", run, round_number)


def get(conn: Connection, run: int, round_number: int) -> Ranking | None:
    """The ranking of a round; `None` if the round has not ended."""
    stored = conn.value("SELECT ranking FROM run_rankings WHERE run = ? AND round = ?", run, round_number)
    return None if stored is None else _ranking.decode(stored)


def newest(conn: Connection, run: int) -> Ranking | None:
    """The ranking of the last round that ended."""
    stored = conn.value("SELECT ranking FROM run_rankings WHERE run = ? ORDER BY round DESC LIMIT 1", run)
    return None if stored is None else _ranking.decode(stored)
