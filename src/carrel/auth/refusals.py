"""How a sign-in, a rekey or a session is refused."""

from carrel.errors import Conflict, Unauthorized


class TokenRevoked(Unauthorized):
    """Signed by us and not expired, but a sign-out, a rekey, a deletion or the restoring of a backup ended it."""

    code = "session-token-revoked"
    detail = "The session was ended; log in again on the host site."


class NotProvisioned(Unauthorized):
    """There is no user with this uuid. Only the host's server sees this code."""

    code = "user-not-provisioned"
    detail = "There is no user with this uuid; create the user first."


class OldKeyRequired(Conflict):
    """A rekey needs the old key: none was sent and none is in memory."""

    code = "old-key-required"
    detail = "No key is in memory; send old_db_key_hex."


class WorkspaceAbsent(Conflict):
    """A rekey before the first login: there is no database yet."""

    code = "workspace-absent"
    detail = "The user has never logged in; there is no database to re-encrypt."
