"""What an import can be refused with, beside faults of single fields."""

from carrel.errors import BadInput, TooLarge


class ImportUnreadable(BadInput):
    """No zip, a damaged one, or one with a file in it that is not what its name says."""

    code = "import-unreadable"
    detail = "This is no zip, or a damaged one; nothing was changed."


class ImportForeign(BadInput):
    """A zip of something else."""

    code = "import-foreign"
    detail = "This zip is not the export of a Carrel workspace, or of a later version; nothing was changed."


class ImportTooLarge(TooLarge):
    """A good export, or a bomb, beyond what one import may bring."""

    code = "import-too-large"
    detail = "The zip holds more than an import may bring in; nothing was changed."
