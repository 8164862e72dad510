"""Why an import can be refused, besides faults in single fields."""

from carrel.errors import BadInput, TooLarge


class ImportUnreadable(BadInput):
    """Not a zip, a damaged zip, or a zip with a file whose content does not match its name."""

    code = "import-unreadable"
    detail = "This is no zip, or a damaged one; nothing was changed."


class ImportForeign(BadInput):
    """A zip that is not an export."""

    code = "import-foreign"
    detail = "This zip is not the export of a Carrel workspace, or of a later version; nothing was changed."


class ImportTooLarge(TooLarge):
    """An export, or a zip bomb, that is larger than an import may be."""

    code = "import-too-large"
    detail = "The zip holds more than an import may bring in; nothing was changed."
