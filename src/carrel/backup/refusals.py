"""Why a backup cannot be made or used. Each text is one line for the operator and names no user."""


class BackupRefused(Exception):
    """A backup cannot be made, or must not be used."""


class NotABackup(BackupRefused):
    """The file is something else, such as a photo or another program's archive."""

    def __init__(self) -> None:
        super().__init__("this is not a backup of Carrel")


class BackupTruncated(BackupRefused):
    """The file ends too early, for example after an interrupted download."""

    def __init__(self) -> None:
        super().__init__("this backup was cut short: its end is missing")


class BackupDamaged(BackupRefused):
    """The file is whole, but some of its bytes have changed since it was made."""

    def __init__(self) -> None:
        super().__init__("this backup is damaged: some of its bytes have changed")


class UnknownFormat(BackupRefused):
    """The service key fits, but another version of Carrel made the backup."""

    def __init__(self) -> None:
        super().__init__("this version of Carrel does not know the format of this backup: use the version that made it")


class WrongServiceKey(BackupRefused):
    """The backup is whole, or the data folder is, but belongs to another service key."""

    def __init__(self) -> None:
        super().__init__("CARREL_SERVICE_KEY does not fit: this data belongs to another service key")


class NothingToBackUp(BackupRefused):
    """There is no service in the folder."""

    def __init__(self) -> None:
        super().__init__("there is no data of a service in this folder")
