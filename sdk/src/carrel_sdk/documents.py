"""Documents: files whose text becomes a content, with the original beside it."""

from collections.abc import Iterator

from carrel_sdk.calls import Calls
from carrel_sdk.models import Document, PdfPage
from carrel_sdk.transport import segment


class Documents:
    """The routes under `/documents`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def upload(self, file_name: str, body: bytes, *, name: str | None = None) -> Document:
        """Make the text of a file an `input_document` called `name`, else like the file, whose ending tells the format.

        Raises:
            CarrelApiError: a code that begins with `document-` says what is wrong with the file.
        """
        return self._calls.post_file("/documents", Document, (file_name, body), {} if name is None else {"name": name})

    def each(self) -> Iterator[Document]:
        """Every document, newest first."""
        return self._calls.each("/documents", Document)

    def get(self, document_id: str) -> Document:
        """One document, without its file."""
        return self._calls.get(_path(document_id), Document)

    def original(self, document_id: str) -> bytes:
        """The file, byte for byte as it was uploaded."""
        return self._calls.get_bytes(f"{_path(document_id)}/original")

    def reread(self, document_id: str) -> Document:
        """Read the original again, with today's reader; another text becomes a new version of the content.

        Raises:
            CarrelApiError: a code that begins with `document-`; the text stays as it is.
        """
        return self._calls.post(f"{_path(document_id)}/reread", Document)

    def page(self, document_id: str, number: int) -> PdfPage:
        """A page of a PDF as it looks, with the text that is read from it; pages count from 1."""
        return self._calls.get(f"{_path(document_id)}/pages/{number}", PdfPage)

    def delete(self, document_id: str) -> None:
        """Delete the original and its text, with all versions of it.

        Raises:
            Conflict: `document-in-use`, `errors` names what uses the text.
        """
        self._calls.delete(_path(document_id))


def _path(document_id: str) -> str:
    return f"/documents/{segment(document_id)}"
