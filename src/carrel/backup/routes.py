"""`/admin/backup`, behind the admin secret."""

from typing import Final

from litestar import Router, post
from litestar.di import NamedDependency

from carrel.auth import guard
from carrel.backup.live import BackupInProgress, LiveBackup
from carrel.kit.http.answer import Answer
from carrel.kit.http.describe import produces, raises
from carrel.kit.http.download import Streamed

MEDIA_TYPE: Final = "application/x-tar"


@post("", status_code=200, guards=[guard.admin], opt=raises(BackupInProgress) | produces(MEDIA_TYPE))
async def make_backup(live_backup: NamedDependency[LiveBackup]) -> Answer[bytes]:
    """Download everything that the service stores, encrypted as on the disk, for `carrel verify` and `restore`."""
    return Streamed(live_backup.pieces, file_name="carrel-backup.tar", media_type=MEDIA_TYPE)


router = Router("/admin/backup", route_handlers=[make_backup], tags=["Admin"])
