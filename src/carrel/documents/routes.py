"""`/documents`: users upload files; Carrel saves their text as contents and keeps the originals."""

import hashlib
from functools import partial
from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.documents import refusals, store
from carrel.documents.intake import Intake
from carrel.documents.schemas import FORM, Document, DocumentId, DocumentUpload, PdfPage
from carrel.errors import Malformed
from carrel.http.answers.download import Download
from carrel.http.answers.etag import IfMatch, etag
from carrel.http.answers.response import Response, tagged
from carrel.http.request import Request
from carrel.http.requests.body import MULTIPART
from carrel.http.requests.describe import produces, raises, versioned
from carrel.http.requests.idempotency import Once
from carrel.http.requests.routing import Path, Router, delete, get, post
from carrel.kit.sqlite.paging import Page, Paging
from carrel.uploads.form import UploadTooLarge
from carrel.uploads.memory import UploadMemory, UploadReservation, UploadsBusy
from carrel.vault.workspace import Workspace

_BYTES = "application/octet-stream"
_HARMLESS = ((b"content-security-policy", b"default-src 'none'; sandbox"), (b"referrer-policy", b"no-referrer"))
_REFUSALS = (
    *(UploadTooLarge, refusals.TextTooLarge, refusals.FormatUnsupported, refusals.FormatMismatch),
    *(refusals.DocumentEmpty, refusals.DocumentBroken, refusals.DocumentEncrypted, refusals.DocumentWithoutText),
    *(refusals.DocumentTooComplex, refusals.TextNotUtf8, Malformed, UploadsBusy),
)


@post("", guards=[guard.full], opt=scopes.WRITE | {MULTIPART: FORM} | raises(*_REFUSALS), max_body_bytes=None)
async def upload_document(
    request: Request,
    workspace: Workspace,
    intake: Intake,
    room: UploadMemory,
    once: Once,
) -> Response[Document]:
    """Read the text of a file and save it as an `input_document`; the original is kept beside it."""
    with room.place(workspace.uuid) as place:
        upload = await intake.read(request, place)
        extract = await intake.extract(workspace.uuid, upload)
        write = partial(Workspace.write, workspace)
        # The boundary of a form differs between two equal uploads.
        return await once.over(_digest(upload))(workspace.uuid, write, store.put, upload, extract)


@get("", guards=[guard.session], opt=scopes.READ)
async def list_documents(workspace: Workspace, paging: Paging) -> Page[Document]:
    """The uploaded files, newest first."""
    return workspace.read(store.page, paging)


@get("/{document_id:str}", guards=[guard.session], opt=scopes.READ)
async def read_document(document_id: DocumentId, workspace: Workspace) -> Response[Document]:
    """One file's metadata; its text is the content that it names."""
    return tagged(workspace.read(store.get, document_id))


@get("/{document_id:str}/original", guards=[guard.session], opt=scopes.READ | produces(_BYTES) | versioned())
async def download_original(document_id: DocumentId, workspace: Workspace) -> Response[bytes]:
    """The file, byte for byte as it was uploaded."""
    document = workspace.read(store.get, document_id)

    async def piece(ordinal: int) -> bytes:
        return await workspace.scan(store.piece, document_id, ordinal)

    return Download(
        piece,
        document.bytes,
        file_name=document.file_name or "document",
        media_type=_BYTES,
        etag=etag(document.version, "original"),
        headers=_HARMLESS,
    )


@post("/{document_id:str}/reread", guards=[guard.full], opt=scopes.WRITE | raises(*_REFUSALS), status_code=200)
async def reread_document(
    document_id: DocumentId, workspace: Workspace, intake: Intake, room: UploadMemory
) -> Response[Document]:
    """Read the original again; another text than before becomes a new version of the content."""
    with room.place(workspace.uuid) as place:
        upload = await _original(document_id, workspace, place)
        extract = await intake.extract(workspace.uuid, upload)
        return tagged(await workspace.write(store.reread, document_id, extract))


@get(
    "/{document_id:str}/pages/{number:int}",
    guards=[guard.full],
    opt=scopes.READ | raises(refusals.DocumentBroken, refusals.DocumentTooComplex, UploadsBusy),
)
async def read_page(
    document_id: DocumentId,
    number: Annotated[int, Path(ge=1, le=10_000)],
    workspace: Workspace,
    intake: Intake,
    room: UploadMemory,
) -> PdfPage:
    """A page of a PDF as it looks, beside the text that is read from it."""
    with room.place(workspace.uuid) as place:
        return await intake.page(workspace.uuid, await _original(document_id, workspace, place), number)


@delete("/{document_id:str}", guards=[guard.session], opt=scopes.WRITE | raises(refusals.DocumentInUse))
async def delete_document(document_id: DocumentId, workspace: Workspace, if_match: IfMatch) -> None:
    """Remove the original and its text with all its versions, unless a preset or a content uses the text."""
    await workspace.write(store.delete, document_id, if_match)


async def _original(document_id: DocumentId, workspace: Workspace, place: UploadReservation) -> DocumentUpload:
    document = workspace.read(store.get, document_id)
    place.take(document.bytes)
    body = bytearray()
    while len(body) < document.bytes:
        body += await workspace.scan(store.piece, document_id, len(body) // store.PIECE_BYTES)
    return DocumentUpload(document.name, document.file_name, document.format, body)


def _digest(upload: DocumentUpload) -> bytes:
    digest = hashlib.sha256(upload.body)
    digest.update(f"\0{upload.name}\0{upload.file_name}\0{upload.format}".encode())
    return digest.digest()


router = Router(
    "/documents",
    route_handlers=[
        upload_document,
        list_documents,
        read_document,
        download_original,
        reread_document,
        read_page,
        delete_document,
    ],
    tags=["Documents"],
)
