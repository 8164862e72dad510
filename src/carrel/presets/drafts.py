"""Set-ups that are not finished: kept as they are, because a preset cannot be saved before it is whole.

A draft holds no content: one that a draft names can be deleted, and whoever opens the draft sees that it is gone.
"""

import re
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict

from carrel.errors import BadInput, Conflict, NotFound
from carrel.http.answers.etag import IfMatch, require_unchanged
from carrel.http.requests.schema import In, Name
from carrel.kit.clock import Time
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.kit.sqlite.versions import NO_ROW, VERSION, version_of
from carrel.presets.configuration import Configuration
from carrel.vault.ids import DraftId, PresetId

MAX_DRAFTS: Final = 50
MAX_BYTES: Final = 1024 * 1024

_UUID = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$(?!\n)"

Form = Literal["comparison", "preset"]
"""The page of the app that goes on with a draft: a new comparison, or the form of a preset."""


class TooManyDrafts(Conflict):
    """The user has as many drafts as allowed."""

    code = "too-many-drafts"
    detail = "There are 50 unfinished set-ups already; finish or remove one first."


class DraftIn(In, frozen=True, kw_only=True):
    """An unfinished set-up. Nothing in its `body` is checked; as JSON it may have up to 1 MiB.

    `form` is the page of the app that can go on with it. `preset_id` is the preset that it changes; Carrel keeps null
    if there is no such preset. The client may send back the fields that Carrel keeps, unchanged.
    """

    MAX_ELEMENTS: ClassVar[int] = Configuration.MAX_ELEMENTS

    name: Name
    form: Form
    preset_id: Annotated[PresetId, Meta(pattern=_UUID)] | None = None
    body: dict[str, Any]
    id: DraftId | UnsetType = UNSET
    version: int | UnsetType = UNSET
    updated_at: Time | UnsetType = UNSET


class DraftSummary(msgspec.Struct, frozen=True, kw_only=True):
    """An unfinished set-up without its body."""

    id: DraftId
    name: str
    form: Form
    preset_id: PresetId | None
    version: int
    updated_at: Time


class Draft(DraftSummary, frozen=True, kw_only=True):
    """An unfinished set-up."""

    body: dict[str, Any]


class Drafts(msgspec.Struct, frozen=True):
    """Every unfinished set-up, the last changed one first."""

    items: list[DraftSummary]


_summaries = Select(DraftSummary, version=VERSION)
_drafts = Select(Draft, version=VERSION)
_OF_ID = "FROM preset_drafts WHERE id = ?"


def listed(conn: Connection) -> list[DraftSummary]:
    """Every draft, the last changed one first."""
    return _summaries.all(conn, "FROM preset_drafts ORDER BY updated_at DESC, seq DESC")


def get(conn: Connection, draft_id: DraftId) -> Draft:
    """One draft.

    Raises:
        NotFound: there is no draft with this id.
    """
    draft = _drafts.one(conn, _OF_ID, draft_id)
    if draft is None:
        raise NotFound
    return draft


def put(conn: Connection, draft_id: DraftId, data: DraftIn, if_match: IfMatch) -> Draft:
    """Keep a draft under an id that the client has made, in place of what is kept there.

    Raises:
        BadInput: the id is no UUID, the body is too large, or a read-only field is not as it is stored.
        TooManyDrafts: there are `MAX_DRAFTS` others.
        NotFound: it has read-only fields, and there is no draft with this id.
        PreconditionFailed: it was changed in the meantime.
    """
    if not re.search(_UUID, draft_id):
        raise BadInput.at("draft_id", "must be a UUID, in lower case")
    body = msgspec.json.encode(data.body)
    if len(body) > MAX_BYTES:
        raise BadInput.at("body", f"must have at most {MAX_BYTES:,} bytes as JSON")
    version = version_of(conn, "preset_drafts", "id", draft_id)
    if_match.require(version)
    require_unchanged(data, lambda: get(conn, draft_id))
    if version == NO_ROW and conn.value("SELECT count(*) FROM preset_drafts") >= MAX_DRAFTS:
        raise TooManyDrafts
    conn.run(
        "INSERT INTO preset_drafts (id, name, form, preset_id, updated_at, body)"
        " VALUES (?, ?, ?, (SELECT id FROM presets WHERE id = ?), ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET name = excluded.name, form = excluded.form, preset_id = excluded.preset_id,"
        " updated_at = excluded.updated_at, body = excluded.body, version = version + 1",
        *(draft_id, data.name, data.form, data.preset_id, conn.now(), body.decode()),
    )
    kept = _summaries.one(conn, _OF_ID, draft_id)
    if kept is None:
        raise NotFound
    # The body is known: to read it back would take as long as all the rest.
    return Draft(**asdict(kept), body=data.body)


def delete(conn: Connection, draft_id: DraftId, if_match: IfMatch) -> None:
    """Remove a draft.

    Raises:
        NotFound: there is no draft with this id.
        PreconditionFailed: it was changed in the meantime.
    """
    version = version_of(conn, "preset_drafts", "id", draft_id)
    if version == NO_ROW:
        raise NotFound
    if_match.require(version)
    conn.run("DELETE FROM preset_drafts WHERE id = ?", draft_id)
