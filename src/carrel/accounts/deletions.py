"""Deletions in `service.db`: a journal while they are under way; later the record that revokes old tokens."""

from carrel.kit.sqlite.database import Connection


def begin(conn: Connection, owner: str, valid_from: int) -> None:
    """Record that the service is about to remove this folder, and the second at which its sessions end."""
    conn.run(
        "INSERT INTO deletion (owner, valid_from, done) VALUES (?, ?, 0) ON CONFLICT (owner) DO UPDATE SET "
        "valid_from = max(valid_from, excluded.valid_from), done = 0",
        owner,
        valid_from,
    )


def finish(conn: Connection, owner: str) -> None:
    """Record that the folder is gone, and remove what the user shared with the operator.

    What the host bore of the user's calls stays in the sums of all deleted users.
    """
    conn.run(
        "INSERT INTO write_off SELECT '', day, calls, amount_micros FROM write_off WHERE owner = ?"
        " ON CONFLICT (owner, day) DO UPDATE SET"
        " calls = calls + excluded.calls, amount_micros = amount_micros + excluded.amount_micros",
        owner,
    )
    conn.run("DELETE FROM write_off WHERE owner = ?", owner)
    conn.run("DELETE FROM holder WHERE owner = ?", owner)
    conn.run("DELETE FROM shared_log WHERE owner = ?", owner)
    conn.run("DELETE FROM webhook WHERE owner = ?", owner)
    conn.run("DELETE FROM roster WHERE owner = ?", owner)
    conn.run("UPDATE deletion SET done = 1 WHERE owner = ?", owner)


def take_back(conn: Connection, owner: str) -> None:
    """Record that the removal failed before it changed anything."""
    conn.run("UPDATE deletion SET done = 1 WHERE owner = ?", owner)


def unfinished(conn: Connection) -> list[str]:
    """The folders whose removal a crash interrupted."""
    return conn.column("SELECT owner FROM deletion WHERE done = 0")


def is_unfinished(conn: Connection, owner: str) -> bool:
    """Whether a removal of this folder was begun and has not ended."""
    return conn.one("SELECT 1 FROM deletion WHERE owner = ? AND done = 0", owner) is not None


def valid_from(conn: Connection, owner: str) -> int:
    """The epoch second before which sessions of an earlier user in this folder were issued; 0 if there was none."""
    return conn.value("SELECT valid_from FROM deletion WHERE owner = ?", owner) or 0


def forget_all(conn: Connection) -> None:
    """Drop every record. The caller has ended all sessions; here those of later seconds end as well.

    A user who was created again may have got tokens that begin a little ahead of the clock.
    """
    conn.run("UPDATE issuance SET ended = max(ended, (SELECT coalesce(max(valid_from), 0) FROM deletion))")
    conn.run("DELETE FROM deletion")
