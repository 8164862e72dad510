"""The rows of contents. Tags, links and the full-text index follow a row by triggers (`0002_contents.sql`)."""

from collections.abc import Mapping

import msgspec

from carrel.config import Settings
from carrel.contents import criteria, links
from carrel.contents.resolve import Resolved, Source, resolve
from carrel.contents.schemas import CONTENT_TYPES, Content, ContentChange, ContentCounts, ContentIn, ContentType
from carrel.errors import BadInput, Conflict, FieldError, NotFound
from carrel.kit.http.etag import IfMatch
from carrel.kit.http.read_only import require_unchanged
from carrel.kit.sqlite.database import Connection, Row
from carrel.kit.sqlite.json_text import as_json
from carrel.vault.ids import ContentId

SHORT_BYTES = 256 * 1024
"""The longest body that is read on the event loop."""

_PREVIEW_CHARACTERS = 200
_NAMED_USERS = 100
_COPY = "Copy of "

_COLUMNS = "id, name, type, body, variables, description, tags, version, created_at, updated_at"
_variables = msgspec.json.Decoder(dict[str, ContentId | None])
_tags = msgspec.json.Decoder(list[str])


class ContentInUse(Conflict):
    """Presets or other contents hold it; `errors` names their ids."""

    code = "content-in-use"
    detail = "Presets or other contents use this content; errors names their ids."


def get(conn: Connection, content_id: ContentId) -> Content:
    """One content.

    Raises:
        NotFound: there is none with this id.
    """
    return content_of(conn.one(f"SELECT {_COLUMNS} FROM contents WHERE id = ?", content_id))


def get_short(conn: Connection, content_id: ContentId) -> Content | None:
    """The content, or `None` if its body is too long to be read on the event loop.

    Raises:
        NotFound: there is none with this id.
    """
    row = conn.one(_GET_SHORT, content_id)
    return None if row is not None and row[3] is None else content_of(row)


_GET_SHORT = (
    f"SELECT {_COLUMNS.replace('body', f'CASE WHEN body_bytes <= {SHORT_BYTES} THEN body END')} "
    "FROM contents WHERE id = ?"
)


def counts(conn: Connection) -> ContentCounts:
    """How many contents there are of each type; types without any are 0."""
    found: dict[ContentType, int] = dict(conn.all("SELECT type, count(*) FROM contents GROUP BY type"))
    by_type = {kind: found.get(kind, 0) for kind in CONTENT_TYPES}
    return ContentCounts(sum(by_type.values()), by_type)


def create(conn: Connection, data: ContentIn, settings: Settings) -> Content:
    """Save a new content.

    Raises:
        BadInput: the criteria cannot be understood, or a variable is reserved or links to nothing.
    """
    understood = _criteria(data.type, data.body, settings)
    links.check(conn, data.variables)
    content_id, now = ContentId(conn.new_id()), conn.now()
    conn.run(
        f"INSERT INTO contents ({_COLUMNS}, body_bytes, body_preview, criteria) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?)",
        *(content_id, data.name, data.type, data.body, as_json(data.variables), data.description, as_json(data.tags)),
        *(now, now, len(data.body.encode()), data.body[:_PREVIEW_CHARACTERS], understood),
    )
    # As it was just written, and without another turn for the interpreter's lock.
    return Content(
        content_id, data.name, data.type, data.body, data.variables, data.description, data.tags, 1, now, now
    )


def put_output(conn: Connection, *, name: str, description: str, tags: list[str], body: str) -> ContentId:
    """Save a result as an `output_document`. Braces in it are its own: it declares no variables."""
    content_id, now = ContentId(conn.new_id()), conn.now()
    conn.run(
        f"INSERT INTO contents ({_COLUMNS}, body_bytes, body_preview) "
        "VALUES (?, ?, 'output_document', ?, '{}', ?, ?, 1, ?, ?, ?, ?)",
        *(content_id, name, body, description, as_json(tags), now, now, len(body.encode()), body[:_PREVIEW_CHARACTERS]),
    )
    return content_id


def replace(
    conn: Connection, content_id: ContentId, data: ContentChange, if_match: IfMatch, settings: Settings
) -> Content:
    """Save a new version; the one before it is kept.

    Raises:
        NotFound: there is none with this id.
        PreconditionFailed: it was changed in the meantime.
        BadInput: as `create`, or the type or a read-only field is another one, or a variable leads back to here.
    """
    understood = _criteria(data.type, data.body, settings)
    links.check(conn, data.variables, content_id)
    present = conn.one("SELECT version, type FROM contents WHERE id = ?", content_id)
    if present is None:
        raise NotFound
    if present[1] != data.type:
        # What uses a content relies on its type.
        raise BadInput.at("type", "cannot be changed; make a new content")
    if_match.require(present[0])
    require_unchanged(data, lambda: get(conn, content_id))
    conn.run(
        "INSERT INTO content_versions (content_seq, version, name, description, tags, variables, updated_at,"
        " body_bytes, body_preview, body) "
        "SELECT seq, version, name, description, tags, variables, updated_at, body_bytes, body_preview, body "
        "FROM contents WHERE id = ?",
        content_id,
    )
    conn.run(
        "UPDATE contents SET name = ?, body = ?, variables = ?, description = ?, tags = ?, version = version + 1,"
        " updated_at = ?, body_bytes = ?, body_preview = ?, criteria = ? WHERE id = ?",
        *(data.name, data.body, as_json(data.variables), data.description, as_json(data.tags), conn.now()),
        *(len(data.body.encode()), data.body[:_PREVIEW_CHARACTERS], understood, content_id),
    )
    return get(conn, content_id)


def link(conn: Connection, content_id: ContentId, variables: Mapping[str, ContentId | None]) -> None:
    """Say what the variables of a content that was just made stand for; no version of its own.

    Whoever calls has seen to it that each is there, and that none leads back.
    """
    conn.run("UPDATE contents SET variables = ? WHERE id = ?", as_json(variables), content_id)


def duplicate(conn: Connection, content_id: ContentId, settings: Settings) -> Content:
    """A copy of the present version, with a name that says so.

    Raises:
        NotFound: there is none with this id.
    """
    original = get(conn, content_id)
    name = (_COPY + original.name)[: settings.max_name_characters]
    copy = ContentIn(
        name=name,
        type=original.type,
        body=original.body,
        variables=original.variables,
        description=original.description,
        tags=original.tags,
    )
    return create(conn, copy, settings)


def delete(conn: Connection, content_id: ContentId, if_match: IfMatch) -> None:
    """Remove a content with all its versions.

    Raises:
        NotFound: there is none with this id.
        PreconditionFailed: it was changed in the meantime.
        ContentInUse: a preset or another content holds it.
    """
    present = conn.one("SELECT version FROM contents WHERE id = ?", content_id)
    if present is None:
        raise NotFound
    if_match.require(present[0])
    users = _users(conn, content_id)
    if users:
        raise ContentInUse(errors=users)
    conn.run("DELETE FROM contents WHERE id = ?", content_id)


def source(conn: Connection, content_id: ContentId) -> Source:
    """What the resolver needs of a content.

    Raises:
        NotFound: there is none with this id.
    """
    row = conn.one("SELECT body, variables FROM contents WHERE id = ?", content_id)
    if row is None:
        raise NotFound
    return Source(content_id, row[0], _variables.decode(row[1]))


def resolved(conn: Connection, content_id: ContentId, given: Mapping[str, str], settings: Settings) -> Resolved:
    """The content's body with its placeholders replaced: by `given` texts first, then by what its variables link to.

    Raises:
        NotFound: there is none with this id.
        BadInput: a given name is reserved; or one of the resolver's own errors.
    """
    links.check_names(given)
    return resolve(
        source(conn, content_id),
        given,
        lambda linked: source(conn, linked),
        max_bytes=settings.max_resolve_bytes,
        max_depth=settings.max_resolve_depth,
    )


def content_of(row: Row | None) -> Content:
    """A row of the columns of `Content`, its variables and tags as JSON.

    Raises:
        NotFound: there is no row.
    """
    if row is None:
        raise NotFound
    content_id, name, kind, body, variables, description, tags, version, created_at, updated_at = row
    return Content(
        content_id,
        name,
        kind,
        body,
        _variables.decode(variables),
        description,
        _tags.decode(tags),
        version,
        created_at,
        updated_at,
    )


def _criteria(kind: ContentType, body: str, settings: Settings) -> str | None:
    return as_json(criteria.parse(body, settings.max_criteria_bytes)) if kind == "criteria" else None


def _users(conn: Connection, content_id: ContentId) -> tuple[FieldError, ...]:
    presets = conn.all(
        "SELECT presets.id FROM preset_contents JOIN presets ON presets.seq = preset_contents.preset_seq "
        "WHERE preset_contents.content_id = ? ORDER BY presets.seq LIMIT ?",
        *(content_id, _NAMED_USERS),
    )
    contents = conn.all(
        "SELECT DISTINCT contents.id FROM content_links JOIN contents ON contents.seq = content_links.content_seq "
        "WHERE content_links.linked_id = ? ORDER BY contents.seq LIMIT ?",
        *(content_id, _NAMED_USERS),
    )
    return (*(FieldError("presets", row[0]) for row in presets), *(FieldError("contents", row[0]) for row in contents))
