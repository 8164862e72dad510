"""The operator's side: the keys for credits, logs that users shared, metrics, backups, and deleting a user."""

from collections.abc import Iterator
from types import TracebackType
from typing import BinaryIO

import httpx

from carrel_sdk.calls import Calls
from carrel_sdk.errors import NotFound
from carrel_sdk.models import ProviderKey, ReadLog, SafeToRestart, SharedLogSummary, UserUsage, WriteOffs
from carrel_sdk.transfer import SECONDS, save
from carrel_sdk.transport import Request, Transport, segment


class SystemKeys:
    """The routes under `/admin/system-keys`: the operator's own keys, for runs that credits pay for."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def store(self, provider: str, key: str, *, base_url: str | None = None) -> ProviderKey:
        """Store a key, replacing an earlier one of the same provider."""
        body = {"provider": provider, "key": key} | ({} if base_url is None else {"base_url": base_url})
        return self._calls.post("/admin/system-keys", ProviderKey, body)

    def each(self) -> Iterator[ProviderKey]:
        """The stored keys, newest first, without the keys themselves."""
        return self._calls.each("/admin/system-keys", ProviderKey)

    def get(self, provider: str) -> ProviderKey:
        """One stored key."""
        return self._calls.get(f"/admin/system-keys/{segment(provider)}", ProviderKey)

    def delete(self, provider: str) -> None:
        """Remove a key. Runs that credits pay for pause when they need it."""
        self._calls.delete(f"/admin/system-keys/{segment(provider)}")


class SharedLogs:
    """The routes under `/admin/shared-logs`: logs that users shared with the operator, for fourteen days."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def each(self) -> Iterator[SharedLogSummary]:
        """All shared logs, newest first."""
        return self._calls.each("/admin/shared-logs", SharedLogSummary)

    def get(self, share_id: str) -> ReadLog:
        """One shared log with its rows."""
        return self._calls.get(f"/admin/shared-logs/{segment(share_id)}", ReadLog)


class AdministeredUsers:
    """The routes under `/admin/users`: who there are, and what they take. Nothing in them opens a workspace."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def each(self) -> Iterator[UserUsage]:
        """Every user of the service, or of the node that is asked."""
        return self._calls.each("/admin/users", UserUsage)

    def get(self, uuid: str) -> UserUsage:
        """One user."""
        return self._calls.get(f"/admin/users/{segment(uuid)}", UserUsage)

    def suspend(self, uuid: str) -> UserUsage:
        """End the user's sessions, pause the runs, and refuse sign-ins until `reinstate`. Nothing is deleted."""
        return self._calls.post(f"/admin/users/{segment(uuid)}/suspend", UserUsage)

    def reinstate(self, uuid: str) -> UserUsage:
        """End a suspension."""
        return self._calls.post(f"/admin/users/{segment(uuid)}/reinstate", UserUsage)

    def set_quota(self, uuid: str, megabytes: int | None, calls_per_day: int | None = None) -> UserUsage:
        """Limit the room, from the next opening of the workspace on, and the calls on one day; None: as everybody."""
        body = {"workspace_megabytes": megabytes, "calls_per_day": calls_per_day}
        return self._calls.put(f"/admin/users/{segment(uuid)}/quota", UserUsage, body)

    def end_sessions(self, uuid: str) -> None:
        """End every session of the user."""
        self._calls.delete(f"/admin/users/{segment(uuid)}/sessions")


class Admin:
    """The operator's client, which needs the admin secret. It cannot open a workspace. Use it in a `with` block."""

    def __init__(
        self,
        base_url: str,
        admin_secret: str,
        *,
        allow_http: bool = False,
        http: httpx.BaseTransport | None = None,
    ) -> None:
        """`base_url` is without `/api`.

        Raises:
            ValueError: the address is neither HTTPS nor on this machine, or the secret cannot be a header.
        """
        if not admin_secret or not all("!" <= character <= "~" for character in admin_secret):
            raise ValueError("admin_secret must be visible ASCII characters")
        headers = {"X-SVC-Admin-Secret": admin_secret}
        self._transport = Transport(base_url, headers=headers, allow_http=allow_http, http=http)
        self._calls = _ProvenCalls(self._transport, "")
        self.system_keys = SystemKeys(self._calls)
        self.shared_logs = SharedLogs(self._calls)
        self.users = AdministeredUsers(self._calls)

    def __repr__(self) -> str:
        return f"Admin({self._transport.base_url!r})"

    def __enter__(self) -> "Admin":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def delete_user(self, uuid: str) -> bool:
        """Delete the user with everything, for good. False if there was no such user."""
        try:
            self._calls.delete(f"/users/{segment(uuid)}")
        except NotFound:
            return False
        return True

    def backup(self, file: BinaryIO) -> None:
        """Write everything that the service stores to `file`, encrypted as it is there. The service keeps running.

        `carrel verify` tells whether the file is whole, and `carrel restore` makes a data folder of it.

        Raises:
            CarrelUnreachable: it ended in the middle; what is in the file is no backup.
        """
        save(self._calls, Request("POST", "/admin/backup", read_seconds=SECONDS), file)

    def write_offs(self, *, since: str | None = None, until: str | None = None, uuid: str | None = None) -> WriteOffs:
        """What the host bore where credits were to pay, from the day `since` to before `until`; of one user, or all."""
        return self._calls.get("/admin/write-offs", WriteOffs, {"from": since, "to": until, "uuid": uuid})

    def safe_to_restart(self) -> SafeToRestart:
        """Whether a restart would interrupt a run, with the numbers that only the host and the operator are told."""
        return self._calls.get("/health/safe-to-restart", SafeToRestart)

    def metrics(self) -> str:
        """The service's metrics, in Prometheus's text format."""
        return self._calls.get_bytes("/metrics", accept="text/plain").decode()


class _ProvenCalls(Calls):
    """Calls whose transport already sends the secret."""

    def _signed(self, request: Request) -> Request:
        return request
