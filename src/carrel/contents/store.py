"""The rows of contents. Tags, links and the full-text index follow a row by triggers (`0002_contents.sql`)."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

import msgspec
from msgspec.structs import asdict

from carrel.config import Settings
from carrel.contents import criteria, links
from carrel.contents.budget import Budget
from carrel.contents.resolve import ResolvedText, ResultTooLarge, SourceContent, resolve
from carrel.contents.schemas import (
    CONTENT_TYPES,
    Content,
    ContentChange,
    ContentCounts,
    ContentIn,
    ContentSummary,
    ContentType,
    Resolution,
)
from carrel.errors import BadInput, Conflict, FieldError, NotFound
from carrel.http.answers.etag import IfMatch, require_unchanged
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select, as_json, columns_of, fields_of, insert, update
from carrel.kit.structs import narrowed
from carrel.vault.ids import ContentId

SHORT_BYTES = 256 * 1024
"""The longest body that is read on the event loop."""

_PREVIEW_CHARACTERS = 200
_NAMED_USERS = 100
_COPY = "Copy of "
_LONG_IN_JSON: Final = bytes({*range(0x20)} - {8, 9, 10, 12, 13})

CONTENTS: Final = Select(Content)
SUMMARIES: Final = Select(ContentSummary, table="contents")
VERSIONED: Final = tuple(name for name in fields_of(Content) if name not in ("id", "type", "created_at"))
"""The fields of a content of which every version has its own. They are columns of both tables."""

_SHORT = Select(Content, body=f"CASE WHEN body_bytes <= {SHORT_BYTES} THEN body END")
_SOURCES = Select(SourceContent, size="body_bytes")
_KEPT = ", ".join((*VERSIONED, "body_bytes", "body_preview"))


class ContentInUse(Conflict):
    """Presets or other contents hold it; `errors` names their ids."""

    code = "content-in-use"
    detail = "Presets or other contents use this content; errors names their ids."


def get(conn: Connection, content_id: ContentId) -> Content:
    """One content.

    Raises:
        NotFound: there is no content with this id.
    """
    found = CONTENTS.one(conn, "FROM contents WHERE id = ?", content_id)
    if found is None:
        raise NotFound
    return found


def get_short(conn: Connection, content_id: ContentId) -> Content | None:
    """The content, or `None` if its body is too long to be read on the event loop.

    Raises:
        NotFound: there is no content with this id.
    """
    found = _SHORT.one(conn, "FROM contents WHERE id = ?", content_id)
    if found is None:
        raise NotFound
    body: str | None = found.body
    return None if body is None else found


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
    columns = _columns(data, settings)
    links.check(conn, data.variables)
    return _insert(conn, data, columns)


def put_output(conn: Connection, *, name: str, description: str, tags: list[str], body: str) -> ContentId:
    """Save a result as an `output_document`. Braces in it are its own: it declares no variables."""
    data = ContentIn(name=name, type="output_document", body=body, description=description, tags=tags)
    return _insert(conn, data, _measures(body)).id


def replace(
    conn: Connection, content_id: ContentId, data: ContentChange, if_match: IfMatch, settings: Settings
) -> Content:
    """Save a new version; the one before it is kept.

    Raises:
        NotFound: there is no content with this id.
        PreconditionFailed: it was changed in the meantime.
        BadInput: as `create`, or the type or a read-only field is another one, or a variable leads back to here.
    """
    columns = _columns(data, settings)
    links.check(conn, data.variables, content_id)
    present = conn.one("SELECT version, type FROM contents WHERE id = ?", content_id)
    if present is None:
        raise NotFound
    version, kind = present
    if kind != data.type:
        # What uses a content relies on its type.
        raise BadInput.at("type", "cannot be changed; make a new content")
    if_match.require(version)
    require_unchanged(data, lambda: get(conn, content_id))
    conn.run(
        f"INSERT INTO content_versions (content_seq, {_KEPT}) SELECT seq, {_KEPT} FROM contents WHERE id = ?",
        content_id,
    )
    changed = columns_of(narrowed(ContentIn, data)) | columns | {"version": version + 1, "updated_at": conn.now()}
    update(conn, "contents", changed, "id = ?", content_id)
    return get(conn, content_id)


def link(conn: Connection, content_id: ContentId, variables: Mapping[str, ContentId | None]) -> None:
    """Say what the variables of a content that was just made stand for; no version of its own.

    Whoever calls has seen to it that each is there, and that none leads back.
    """
    conn.run("UPDATE contents SET variables = ? WHERE id = ?", as_json(variables), content_id)


def duplicate(conn: Connection, content_id: ContentId, settings: Settings) -> Content:
    """A copy of the present version, with a name that says so.

    Raises:
        NotFound: there is no content with this id.
    """
    original = get(conn, content_id)
    name = (_COPY + original.name)[: settings.max_name_characters]
    return create(conn, narrowed(ContentIn, original, name=name), settings)


def delete(conn: Connection, content_id: ContentId, if_match: IfMatch) -> None:
    """Remove a content with all its versions.

    Raises:
        NotFound: there is no content with this id.
        PreconditionFailed: it was changed in the meantime.
        ContentInUse: a preset or another content holds it.
    """
    version: int | None = conn.value("SELECT version FROM contents WHERE id = ?", content_id)
    if version is None:
        raise NotFound
    if_match.require(version)
    users = _users(conn, content_id)
    if users:
        raise ContentInUse(errors=users)
    conn.run("DELETE FROM contents WHERE id = ?", content_id)


def source(conn: Connection, content_id: ContentId) -> SourceContent:
    """What the resolver needs of a content.

    Raises:
        NotFound: there is no content with this id.
    """
    found = _SOURCES.one(conn, "FROM contents WHERE id = ?", content_id)
    if found is None:
        raise NotFound
    return found


def resolved(
    conn: Connection,
    content_id: ContentId,
    given: Mapping[str, str],
    settings: Settings,
    budget: Budget | None = None,
    fields: Collection[str] = (),
) -> ResolvedText:
    """The content's body with its placeholders replaced: by `given` texts first, then by what its variables link to.

    `budget` is that of a request that resolves further texts. `fields` are names that a run fills for each input.

    Raises:
        NotFound: there is no content with this id.
        BadInput: a given name is reserved; or one of the resolver's own errors.
    """
    links.check_names(given)
    return resolve(
        source(conn, content_id),
        given,
        lambda linked: source(conn, linked),
        max_bytes=settings.max_resolve_bytes,
        max_depth=settings.max_resolve_depth,
        budget=budget or Budget(settings.max_resolve_bytes),
        fields=fields,
    )


def shown(conn: Connection, content_id: ContentId, given: Mapping[str, str], settings: Settings) -> bytes:
    """The resolved content as it is sent, a `Resolution` in JSON.

    Raises:
        NotFound, BadInput: as `resolved` says; also if the text has so many control characters that JSON, which takes
            six bytes for each, is more than twice as long as a result may be.
    """
    found = resolved(conn, content_id, given, settings)
    size = 0
    # The same long piece may stand in the result many times.
    for piece, times in Counter(found.pieces).items():
        plain = piece.encode()
        size += times * (6 * len(plain) - 5 * len(plain.translate(None, _LONG_IN_JSON)))
    if size > 2 * settings.max_resolve_bytes:
        raise ResultTooLarge
    begin, end = msgspec.json.encode(Resolution("", found.unresolved, found.used)).split(b'""', 1)
    # Piece by piece: nothing else runs while a text is encoded, and 8 MB for control characters take 16 ms.
    body = b"".join(msgspec.json.encode(piece)[1:-1] for piece in found.pieces)
    return b'%b"%b"%b' % (begin, body, end)


def _insert(conn: Connection, data: ContentIn, columns: dict[str, object]) -> Content:
    content_id, now = ContentId(conn.new_id()), conn.now()
    made = Content(id=content_id, version=1, created_at=now, updated_at=now, **asdict(data))
    insert(conn, "contents", columns_of(made) | columns)
    return made


def _columns(data: ContentIn, settings: Settings) -> dict[str, object]:
    """The columns that follow from the body."""
    understood = as_json(criteria.parse(data.body, settings.max_criteria_bytes)) if data.type == "criteria" else None
    return _measures(data.body) | {"criteria": understood}


def _measures(body: str) -> dict[str, object]:
    return {"body_bytes": len(body.encode()), "body_preview": body[:_PREVIEW_CHARACTERS]}


def _users(conn: Connection, content_id: ContentId) -> tuple[FieldError, ...]:
    presets = conn.column(
        "SELECT presets.id FROM preset_contents JOIN presets ON presets.seq = preset_contents.preset_seq "
        "WHERE preset_contents.content_id = ? ORDER BY presets.seq LIMIT ?",
        *(content_id, _NAMED_USERS),
    )
    contents = conn.column(
        "SELECT DISTINCT contents.id FROM content_links JOIN contents ON contents.seq = content_links.content_seq "
        "WHERE content_links.linked_id = ? ORDER BY contents.seq LIMIT ?",
        *(content_id, _NAMED_USERS),
    )
    return (*(FieldError("presets", one) for one in presets), *(FieldError("contents", one) for one in contents))
