"""The audit files: a chain that nobody changes unseen who has not the service key."""

from pathlib import Path

import pytest

from carrel.accounts import audit
from carrel.accounts.audit import AuditBroken, AuditEntry
from carrel.kit.sqlite.database import Connection
from tests.accounts.conftest import MakeService


async def test_one_changed_byte_one_missing_entry_and_a_cut_end_are_found(
    make_service: MakeService, data: Path
) -> None:
    service = make_service()
    service.open()
    entry = AuditEntry("operator", "00000000", "DELETE /api/users/{uuid}", "…12345678", "0123456789ab")

    def fill(conn: Connection) -> None:
        for _ in range(2_000):
            audit.append(conn, data, entry)

    await service.run(fill)
    assert (await service.run(audit.verify, data))[0] == 2_000
    files = sorted((data / audit.FOLDER).iterdir())
    whole = files[0].read_bytes()

    async def broken() -> bool:
        try:
            await service.run(audit.verify, data)
        except AuditBroken:
            return True
        return False

    lines = whole.splitlines(keepends=True)
    changed = bytearray(whole)
    changed[len(whole) // 2] ^= 1
    without = [b"".join(lines[:at] + lines[at + 1 :]) for at in (0, 7, len(lines) - 1)]
    for other in (bytes(changed), *without, whole[:-9], b""):
        files[0].write_bytes(other)
        assert await broken()
    files[0].write_bytes(whole + b'{"half of an entry')
    assert not await broken(), "the process may have died while it wrote it"
    await service.run(audit.append, data, entry)
    assert (await service.run(audit.verify, data))[0] == 2_001


async def test_old_files_go_and_the_rest_is_still_a_chain(
    make_service: MakeService, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "MOST_BYTES", 1_000)
    monkeypatch.setattr(audit, "MOST_FILES", 3)
    service = make_service()
    service.open()
    entry = AuditEntry("host", "00000000", "POST /api/users", "…1", "r")
    for _ in range(30):
        await service.run(audit.append, data, entry)
    files = sorted((data / audit.FOLDER).iterdir())
    assert len(files) == 3
    count, at = await service.run(audit.verify, data)
    assert (0 < count < 30, bool(at)) == (True, True)
    files[0].unlink()
    with pytest.raises(AuditBroken):
        await service.run(audit.verify, data)
