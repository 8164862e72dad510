"""The labels of a run that a user may still change: its name, its tags and its pin. All else is a snapshot."""

from carrel.errors import NotFound
from carrel.http.answers.etag import IfMatch, require_unchanged
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import as_json
from carrel.runs.model.schemas import Run, RunChange
from carrel.runs.model.setup import RunId
from carrel.runs.progress import store


def put(conn: Connection, run_id: RunId, data: RunChange, if_match: IfMatch) -> Run:
    """Replace name, tags and pin, in any state.

    Raises:
        BadInput: another field is not as it is stored.
        NotFound: there is no such run.
        PreconditionFailed: it was changed in the meantime.
    """
    row = conn.one("SELECT seq, version FROM runs WHERE id = ?", run_id)
    if row is None:
        raise NotFound
    seq, version = row
    if_match.require(version)
    require_unchanged(data, lambda: store.get(conn, run_id))
    tags = list(dict.fromkeys(data.tags))
    conn.run(
        "UPDATE runs SET name = ?, tags = ?, pinned = ? WHERE seq = ?",
        *(data.name, as_json(tags), data.pinned, seq),
    )
    conn.run("DELETE FROM run_tags WHERE run = ?", seq)
    for tag in tags:
        conn.run("INSERT INTO run_tags (tag, run) VALUES (?, ?)", tag, seq)
    return store.get(conn, run_id)
