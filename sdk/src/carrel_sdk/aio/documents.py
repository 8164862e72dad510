"""Written by `sdk/generate.py` from `carrel_sdk.documents`. Change that, and run it again."""

from collections.abc import AsyncIterator

from carrel_sdk.aio.calls import AsyncCalls
from carrel_sdk.documents import _path
from carrel_sdk.models import Document, PdfPage


class AsyncDocuments:
    """The routes under `/documents`."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def upload(self, file_name: str, body: bytes, *, name: str | None = None) -> Document:
        """Make the text of a file an `input_document` called `name`, else like the file, whose ending tells the format.

        Raises:
            CarrelApiError: a code that begins with `document-` says what is wrong with the file.
        """
        return await self._calls.post_file(
            "/documents", Document, (file_name, body), {} if name is None else {"name": name}
        )

    def each(self) -> AsyncIterator[Document]:
        """Every document, newest first."""
        return self._calls.each("/documents", Document)

    async def get(self, document_id: str) -> Document:
        """One document, without its file."""
        return await self._calls.get(_path(document_id), Document)

    async def original(self, document_id: str) -> bytes:
        """The file, byte for byte as it was uploaded."""
        return await self._calls.get_bytes(f"{_path(document_id)}/original")

    async def reread(self, document_id: str) -> Document:
        """Read the original again, with today's reader; another text becomes a new version of the content.

        Raises:
            CarrelApiError: a code that begins with `document-`; the text stays as it is.
        """
        return await self._calls.post(f"{_path(document_id)}/reread", Document)

    async def page(self, document_id: str, number: int) -> PdfPage:
        """A page of a PDF as it looks, with the text that is read from it; pages count from 1."""
        return await self._calls.get(f"{_path(document_id)}/pages/{number}", PdfPage)

    async def delete(self, document_id: str) -> None:
        """Delete the original and its text, with all versions of it.

        Raises:
            Conflict: `document-in-use`, `errors` names what uses the text.
        """
        await self._calls.delete(_path(document_id))
