"""The rows of documents. The text of each is a row of `contents`, made and deleted together with it."""

from carrel.documents.extract import Extract
from carrel.documents.refusals import DocumentInUse
from carrel.documents.schemas import Document, DocumentId, DocumentUpload
from carrel.errors import FieldError, NotFound
from carrel.http.answers.etag import IfMatch
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging, fetch
from carrel.kit.sqlite.rows import Select, as_json

PIECE_BYTES = 1024 * 1024

_PREVIEW_CHARACTERS = 200
_NAMED_USERS = 100
_VERSIONED = "version, name, description, tags, variables, updated_at, body_bytes, body_preview, body"
_documents = Select(
    Document,
    id="documents.id",
    name="contents.name",
    text_bytes="contents.body_bytes",
    version="contents.version",
    created_at="documents.created_at",
)
_FROM = "FROM documents JOIN contents ON contents.id = content_id"


def put(conn: Connection, upload: DocumentUpload, extract: Extract) -> Document:
    """Keep the original, and its text as an `input_document`, in this transaction."""
    text = extract.text
    document_id, content_id, now = conn.new_id(), conn.new_id(), conn.now()
    conn.run(
        "INSERT INTO contents (id, name, type, body, variables, description, tags, version, created_at, updated_at,"
        " body_bytes, body_preview) VALUES (?, ?, 'input_document', ?, '{}', '', '[]', 1, ?, ?, ?, ?)",
        *(content_id, upload.name, text, now, now, len(text.encode()), text[:_PREVIEW_CHARACTERS]),
    )
    conn.run(
        "INSERT INTO documents (id, content_id, file_name, format, bytes, remarks, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        *(document_id, content_id, upload.file_name, upload.format, len(upload.body), as_json(extract.remarks), now),
    )
    seq = conn.last_insert_rowid()
    with memoryview(upload.body) as body:
        for ordinal, start in enumerate(range(0, len(body), PIECE_BYTES)):
            conn.run(
                "INSERT INTO document_pieces (document, ordinal, body) VALUES (?, ?, ?)",
                *(seq, ordinal, body[start : start + PIECE_BYTES]),
            )
    return get(conn, DocumentId(document_id))


def reread(conn: Connection, document_id: DocumentId, extract: Extract) -> Document:
    """Save what the original says now as a new version of its text, unless it is the same; the one before is kept.

    Raises:
        NotFound: there is no document with this id.
    """
    content_id = get(conn, document_id).content_id
    conn.run("UPDATE documents SET remarks = ? WHERE id = ?", as_json(extract.remarks), document_id)
    text = extract.text
    if conn.value("SELECT body FROM contents WHERE id = ?", content_id) != text:
        conn.run(
            f"INSERT INTO content_versions (content_seq, {_VERSIONED}) SELECT seq, {_VERSIONED} FROM contents"
            " WHERE id = ?",
            content_id,
        )
        conn.run(
            "UPDATE contents SET body = ?, body_bytes = ?, body_preview = ?, version = version + 1, updated_at = ?"
            " WHERE id = ?",
            *(text, len(text.encode()), text[:_PREVIEW_CHARACTERS], conn.now(), content_id),
        )
    return get(conn, document_id)


def page(conn: Connection, paging: Paging) -> Page[Document]:
    """The documents, newest first."""
    return fetch(conn, paging, _documents, _FROM, seq="documents.seq")


def get(conn: Connection, document_id: DocumentId) -> Document:
    """One document.

    Raises:
        NotFound: there is no document with this id.
    """
    found = _documents.one(conn, f"{_FROM} WHERE documents.id = ?", document_id)
    if found is None:
        raise NotFound
    return found


def piece(conn: Connection, document_id: DocumentId, ordinal: int) -> bytes:
    """A piece of the original: a megabyte, the last one less. Call it with `scan`.

    Raises:
        NotFound: it was deleted.
    """
    body: bytes | None = conn.value(
        "SELECT body FROM document_pieces JOIN documents ON seq = document WHERE id = ? AND ordinal = ?",
        *(document_id, ordinal),
    )
    if body is None:
        raise NotFound
    return body


def delete(conn: Connection, document_id: DocumentId, if_match: IfMatch) -> None:
    """Remove the original, its text and every version of it.

    Raises:
        NotFound: there is no document with this id.
        PreconditionFailed: `if_match` names no version of it.
        DocumentInUse: a preset or a content uses its text.
    """
    document = get(conn, document_id)
    if_match.require(document.version)
    users = conn.all(
        "SELECT 'presets', presets.id FROM preset_contents JOIN presets ON seq = preset_seq WHERE content_id = ?1"
        " UNION SELECT 'contents', contents.id FROM content_links JOIN contents ON seq = content_seq"
        " WHERE linked_id = ?1 ORDER BY 1 DESC, 2 LIMIT ?2",
        *(document.content_id, _NAMED_USERS),
    )
    if users:
        raise DocumentInUse(errors=tuple(FieldError(*user) for user in users))
    conn.run("DELETE FROM contents WHERE id = ?", document.content_id)
