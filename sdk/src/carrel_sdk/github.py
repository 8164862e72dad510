"""Repositories on GitHub: connections, and the files in them. The service never returns a stored token."""

from collections.abc import Iterator, Sequence

import msgspec

from carrel_sdk.calls import Calls
from carrel_sdk.transport import segment

GITHUB = "https://api.github.com"


class LastConnectionTest(msgspec.Struct, frozen=True):
    """The outcome of the last test of a connection."""

    ok: bool
    at: str


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    """A stored connection as it is shown."""

    id: str
    name: str
    repository: str
    base_url: str
    hint: str
    version: int
    created_at: str
    updated_at: str
    branch: str | None = None
    last_test: LastConnectionTest | None = None
    etag: str = ""


class ConnectionTest(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one real, free call with the token."""

    ok: bool
    latency_ms: int | None = None
    default_branch: str | None = None
    private: bool | None = None
    can_write: bool | None = None
    code: str | None = None


class TreeEntry(msgspec.Struct, frozen=True):
    """A `file`, a `folder`, or something `other`, with a file's size."""

    path: str
    kind: str
    bytes: int | None = None


class Tree(msgspec.Struct, frozen=True):
    """What is in one folder at a commit."""

    commit: str
    path: str
    entries: list[TreeEntry]
    truncated: bool = False


class Taken(msgspec.Struct, frozen=True):
    """A file that became a content."""

    path: str
    content_id: str
    name: str


class Left(msgspec.Struct, frozen=True):
    """A file that did not become a content, and why."""

    path: str
    code: str


class Imported(msgspec.Struct, frozen=True):
    """The result for each file."""

    commit: str
    imported: list[Taken]
    refused: list[Left]


class ExportedTo(msgspec.Struct, frozen=True):
    """The branch's newest commit. It is not `changed` if all files were there already."""

    commit: str
    branch: str
    new_branch: bool
    changed: bool
    files: list[str]


class Github:
    """The routes under `/github-connections`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def connect(
        self, name: str, repository: str, token: str, *, branch: str | None = None, base_url: str = GITHUB
    ) -> Connection:
        """Store a connection to a repository (`owner/name`)."""
        body = {"name": name, "repository": repository, "token": token, "branch": branch, "base_url": base_url}
        return self._calls.post("/github-connections", Connection, body)

    def each(self) -> Iterator[Connection]:
        """The connections, newest first."""
        return self._calls.each("/github-connections", Connection)

    def get(self, connection_id: str) -> Connection:
        """One connection."""
        return self._calls.get(_path(connection_id), Connection)

    def save(self, connection: Connection, *, token: str | None = None) -> Connection:
        """Store a changed connection, only if nobody has changed it since. Without a token the stored one stays.

        Raises:
            VersionMismatch: somebody did.
        """
        body = {
            "name": connection.name,
            "repository": connection.repository,
            "branch": connection.branch,
            "base_url": connection.base_url,
            "token": token,
        }
        return self._calls.put(_path(connection.id), Connection, body, if_match=connection.etag or None)

    def delete(self, connection_id: str) -> None:
        """Delete a connection with its token."""
        self._calls.delete(_path(connection_id))

    def test(self, connection_id: str) -> ConnectionTest:
        """Make one real, free call with the token."""
        return self._calls.post(f"{_path(connection_id)}/test", ConnectionTest)

    def tree(self, connection_id: str, path: str = "", *, commit: str | None = None) -> Tree:
        """The entries of one folder, at a commit or else now."""
        return self._calls.get(f"{_path(connection_id)}/tree", Tree, {"path": path or None, "commit": commit})

    def import_files(
        self,
        connection_id: str,
        paths: Sequence[str],
        *,
        type: str = "input_document",  # noqa: A002  # what the field is called
        tags: Sequence[str] = (),
        commit: str | None = None,
    ) -> Imported:
        """Make contents of files, as they are at a commit or else now."""
        body = {"paths": list(paths), "type": type, "tags": list(tags), "commit": commit}
        return self._calls.post(f"{_path(connection_id)}/import", Imported, body)

    def export_contents(
        self, connection_id: str, ids: Sequence[str], *, path: str = "", branch: str | None = None, message: str = ""
    ) -> ExportedTo:
        """Put contents into a folder of a branch as one commit."""
        return self._export(connection_id, {"contents": list(ids), "path": path, "branch": branch}, message)

    def export_run(
        self,
        connection_id: str,
        run_id: str,
        *,
        answers: str = "best",
        path: str = "",
        branch: str | None = None,
        message: str = "",
    ) -> ExportedTo:
        """Put the `best` or `all` answers of a run into a folder of a branch as one commit."""
        return self._export(connection_id, {"run": run_id, "answers": answers, "path": path, "branch": branch}, message)

    def _export(self, connection_id: str, body: dict[str, object], message: str) -> ExportedTo:
        if message:
            body["message"] = message
        return self._calls.post(f"{_path(connection_id)}/export", ExportedTo, body)


def _path(connection_id: str) -> str:
    return f"/github-connections/{segment(connection_id)}"
