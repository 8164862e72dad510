"""The reasons to refuse a file. Carrel then keeps nothing of it and changes nothing else."""

from carrel.errors import BadInput, Conflict, TooLarge, UnsupportedMedia


class TextTooLarge(TooLarge):
    """More text than `CARREL_MAX_BODY_BYTES`."""

    code = "document-text-too-large"
    detail = "The file holds more text than a content may have; split it."


class FormatUnsupported(UnsupportedMedia):
    """Neither its name nor its media type belongs to a format that Carrel can read."""

    code = "document-format-unsupported"
    detail = "Only txt, md, html, csv, pdf, docx, pptx, eml and mbox files can be read."


class FormatMismatch(BadInput):
    """It begins like another format than its name says."""

    code = "document-format-mismatch"
    detail = "The file is not of the format that its name says."


class DocumentEmpty(BadInput):
    """No byte in it."""

    code = "document-empty"
    detail = "The file is empty."


class DocumentBroken(BadInput):
    """Its structure cannot be followed."""

    code = "document-broken"
    detail = "The file is damaged, or not made as its format asks for."


class DocumentEncrypted(BadInput):
    """It opens with a password only."""

    code = "document-encrypted"
    detail = "The file is protected by a password; remove the protection first."


class DocumentWithoutText(BadInput):
    """Scanned pages, or nothing but pictures."""

    code = "document-without-text"
    detail = (
        "No text in the file can be read: its pages are pictures, or its fonts do not name their characters. "
        "Recognise the text first (OCR)."
    )


class DocumentTooComplex(BadInput):
    """Reading it takes more time or memory than a file is given."""

    code = "document-too-complex"
    detail = "Reading the file takes too much time or memory; split it, or save its text as a plain text file."


class TextNotUtf8(BadInput):
    """Text in another encoding, or no text at all."""

    code = "document-not-utf8"
    detail = "The text of the file is neither UTF-8 nor in the encoding that it names; save it as UTF-8 first."


class DocumentInUse(Conflict):
    """Presets or contents use its text; `errors` names their ids."""

    code = "document-in-use"
    detail = "Presets or contents use this document's text; errors names their ids."
