"""Takes uploaded files: how long each may take, and which process reads them."""

from contextlib import aclosing
from typing import Final

from carrel.config import Settings
from carrel.documents import upload
from carrel.documents.extract import Extract, page_of, text_of
from carrel.documents.refusals import DocumentTooComplex
from carrel.documents.schemas import DocumentUpload, PdfPage
from carrel.http.request import Request
from carrel.kit.plain_text import is_text
from carrel.kit.processes.jobs import WorkerError
from carrel.kit.processes.pool import WorkerPool
from carrel.uploads.memory import UploadReservation, brisk
from carrel.vault.keyring import UserUuid

READING_SECONDS: Final = 60.0
"""On the clock of the wall, where others have the processor, too. `max_reading_seconds` counts the file's own time."""


MAX_IMAGE_BYTES: Final = 5_000_000
"""Of a page; a photograph of one takes less."""


class Intake:
    """`readers` are workers of their own: a file that takes all of its time must not delay the models of runs."""

    def __init__(self, readers: WorkerPool, settings: Settings) -> None:
        self._readers = readers
        self._settings = settings

    async def read(self, request: Request, place: UploadReservation) -> DocumentUpload:
        """The file that a request brings.

        Raises:
            Busy: the uploads of all users take all the memory for uploads.
            CarrelError: see `upload.read`; `Malformed` also when nothing came for half a minute.
        """
        kind = request.header(b"content-type") or ""
        async with aclosing(brisk(request)) as stream:
            return await upload.read(stream, kind, self._settings, place.take)

    async def extract(self, uuid: UserUuid, file: DocumentUpload) -> Extract:
        """The text of a user's file. A worker reads one file at a time, and users take turns.

        Raises:
            CarrelError: one of this package's refusals.
        """
        most = self._settings.max_body_bytes
        try:
            body = memoryview(file.body)
            found = await self._readers.run(uuid, text_of, file.format, body, most, timeout_seconds=READING_SECONDS)
        except WorkerError:
            # Reading took too long, or the system ended the process because it took too much memory.
            raise DocumentTooComplex from None
        # `text_of` promises this, but a file that took its process over need not keep the promise.
        if not is_text(found.text) or not found.text.strip() or len(found.text.encode()) > most:
            raise DocumentTooComplex
        return found

    async def page(self, uuid: UserUuid, file: DocumentUpload, number: int) -> PdfPage:
        """A page of a user's file.

        Raises:
            CarrelError: one of this package's refusals, or `NotFound`.
        """
        try:
            body = memoryview(file.body)
            found = await self._readers.run(uuid, page_of, file.format, body, number, timeout_seconds=READING_SECONDS)
        except WorkerError:
            raise DocumentTooComplex from None
        if not is_text(found.text) or len(found.image) > MAX_IMAGE_BYTES:
            raise DocumentTooComplex
        return found

    async def stop(self) -> None:
        """End the processes that read."""
        await self._readers.close()
