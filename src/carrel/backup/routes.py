"""`/admin/backup`, behind the admin secret."""

from typing import Final

from carrel.auth import guard
from carrel.backup.live import BackupInProgress, LiveBackup
from carrel.http.answers.download import StreamedDownload
from carrel.http.answers.response import Response
from carrel.http.requests.auditing import AUDITED
from carrel.http.requests.describe import produces, raises
from carrel.http.requests.routing import Router, post

MEDIA_TYPE: Final = "application/x-tar"


@post("", status_code=200, guards=[guard.admin], opt=raises(BackupInProgress) | produces(MEDIA_TYPE) | AUDITED)
async def make_backup(live_backup: LiveBackup) -> Response[bytes]:
    """Download everything that the service stores, encrypted as on the disk, for `carrel verify` and `restore`."""
    return StreamedDownload(live_backup.pieces, file_name="carrel-backup.tar", media_type=MEDIA_TYPE)


router = Router("/admin/backup", route_handlers=[make_backup], tags=["Admin"])
