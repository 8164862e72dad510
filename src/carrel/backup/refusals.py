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


class ClusterBackupUnfinished(BackupRefused):
    """A folder without the manifest that is written when every slot is there."""

    def __init__(self) -> None:
        super().__init__("this is not a finished backup of a cluster: carrel admin backup --all-nodes goes on with it")


class ClusterBackupDamaged(BackupRefused):
    """The manifest of the cluster's backup was changed, or belongs to another service key."""

    def __init__(self) -> None:
        super().__init__("cluster.json has changed, or CARREL_SERVICE_KEY is not the key of this cluster")


class PartForeign(BackupRefused):
    """A file in the folder is not the one that its name or the manifest says."""

    def __init__(self, file: str) -> None:
        super().__init__(f"{file} is not the part of this backup that its name says")


class SchemasDiffer(BackupRefused):
    """Nodes run versions that store data in different ways."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(
            f"{one} and {other} come from versions with different schemas: upgrade all nodes, and begin in a new folder"
        )
