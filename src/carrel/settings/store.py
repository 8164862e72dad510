"""The row of a user's settings; without it the defaults apply."""

import re
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from carrel.errors import BadInput, FieldError
from carrel.http.answers.etag import IfMatch
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select, as_json
from carrel.models import listing
from carrel.providers.base import Role
from carrel.providers.registry import Registry
from carrel.settings.schemas import UserSettings

_DEFAULT_VERSION = 0
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}")


class _StoredSettings(NamedTuple):
    value: UserSettings
    version: int


_stored = Select(_StoredSettings)


def get(conn: Connection) -> tuple[UserSettings, int]:
    """The settings and their version; version 0 means the defaults, which were never saved."""
    return _stored.one(conn, "FROM settings") or _StoredSettings(UserSettings(), _DEFAULT_VERSION)


def put(conn: Connection, data: UserSettings, if_match: IfMatch, registry: Registry) -> tuple[UserSettings, int]:
    """Replace them all.

    Raises:
        BadInput: the time zone or a model is not known, or a model cannot do the job that it is set for.
        PreconditionFailed: they were changed in the meantime.
    """
    _check(data, registry)
    if_match.require(get(conn)[1])
    conn.run(
        "INSERT INTO settings (id, value, version, updated_at) VALUES (1, ?1, 1, ?2) "
        "ON CONFLICT (id) DO UPDATE SET value = ?1, version = version + 1, updated_at = ?2",
        *(as_json(data), conn.now()),
    )
    return get(conn)


def _check(data: UserSettings, registry: Registry) -> None:
    faults = [
        *_model_faults("default_candidates", data.default_candidates, "generate", registry),
        *_model_faults("default_judges", data.default_judges, "judge", registry),
    ]
    if data.timezone is not None and not _is_timezone(data.timezone):
        faults.append(FieldError("timezone", "must be the IANA name of a time zone"))
    if faults:
        raise BadInput(errors=tuple(faults))


def _model_faults(field: str, names: list[str], role: Role, registry: Registry) -> list[FieldError]:
    found = ((index, listing.fault(registry, name, role)) for index, name in enumerate(names))
    return [FieldError(f"{field}[{index}]", message) for index, message in found if message is not None]


def _is_timezone(name: str) -> bool:
    if name == "UTC":
        # UTC needs no time zone database, which a minimal machine may lack.
        return True
    if not _ZONE.fullmatch(name):
        return False
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
