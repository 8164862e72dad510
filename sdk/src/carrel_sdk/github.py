"""Repositories on GitHub: connections, and the files in them. The service never returns a stored token."""

from collections.abc import Iterator, Sequence

import msgspec

from carrel_sdk.calls import Calls
from carrel_sdk.models import ConnectionChange, ConnectionTest, ExportedTo, GithubConnection, ImportOutcome, Tree
from carrel_sdk.transport import segment

GITHUB = "https://api.github.com"


class Github:
    """The routes under `/github-connections`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def connect(
        self, name: str, repository: str, token: str, *, branch: str | None = None, base_url: str = GITHUB
    ) -> GithubConnection:
        """Store a connection to a repository (`owner/name`)."""
        body = {"name": name, "repository": repository, "token": token, "branch": branch, "base_url": base_url}
        return self._calls.post("/github-connections", GithubConnection, body)

    def each(self) -> Iterator[GithubConnection]:
        """The connections, newest first."""
        return self._calls.each("/github-connections", GithubConnection)

    def get(self, connection_id: str) -> GithubConnection:
        """One connection."""
        return self._calls.get(_path(connection_id), GithubConnection)

    def save(self, connection: GithubConnection, *, token: str | None = None) -> GithubConnection:
        """Store a changed connection, only if nobody has changed it since. Without a token the stored one stays.

        Raises:
            VersionMismatch: somebody did.
        """
        written = msgspec.convert(connection, ConnectionChange, from_attributes=True)
        written.token = token
        return self._calls.put(_path(connection.id), GithubConnection, written, if_match=connection.etag or None)

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
    ) -> ImportOutcome:
        """Make contents of files, as they are at a commit or else now."""
        body = {"paths": list(paths), "type": type, "tags": list(tags), "commit": commit}
        return self._calls.post(f"{_path(connection_id)}/import", ImportOutcome, body)

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
