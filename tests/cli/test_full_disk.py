"""`carrel serve` on a full disk: after a crash it starts and lets users delete, or says that it may be tried again."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.service import Service
from tests.support.small_disk import SmallDisk, small_disk

KEY = hashlib.sha256(b"ada").hexdigest()


class OnDisk(Service):
    """Its data are on the disk, which is `disk` in its folder, and its log is not."""

    @property
    def data_dir(self) -> Path:
        return self.folder / "disk" / "data"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path) as disk:
        yield disk


@pytest.fixture
def service(disk: SmallDisk, tmp_path: Path) -> Iterator[Service]:
    service = OnDisk(tmp_path)
    yield service
    if service.process is not None and service.process.poll() is None:
        service.kill()


@contextmanager
def signed_in(service: Service) -> Iterator[httpx.Client]:
    plugin = {"X-SVC-Plugin-Secret": service.plugin_secret}
    body = {"uuid": "ada", "db_key_hex": KEY}
    with httpx.Client(base_url=f"{service.url}/api", timeout=60) as client:
        client.post("/users", json={"uuid": "ada", "membership": "paid"}, headers=plugin)
        token = client.post("/auth/login", json=body, headers=plugin).raise_for_status().json()["session_token"]
        client.headers["X-SVC-Session-Token"] = token
        yield client


def test_after_a_crash_on_a_full_disk_users_read_and_delete(disk: SmallDisk, service: Service) -> None:
    service.start()
    with signed_in(service) as client:
        note = {"name": "A note", "type": "fragment", "body": "kept"}
        path = f"/contents/{client.post('/contents', json=note).raise_for_status().json()['id']}"
        disk.fill()
        service.kill()
        disk.fill()
        service.start()
    with signed_in(service) as client:
        # The start and the sign-in have given up room and taken back most of it.
        disk.fill()
        assert client.get(path).json()["body"] == "kept"
        assert client.post("/contents", json=note).status_code == 507
        assert client.delete(path).status_code == 204
    assert service.stop() == 0


def test_where_there_is_no_room_to_start_it_may_be_tried_again(disk: SmallDisk, service: Service) -> None:
    disk.fill()
    with pytest.raises(AssertionError, match=f"ended with 75:\ncarrel: no space is left in {service.data_dir}\n"):
        service.start()
    disk.clear()
    service.start()
    assert service.stop() == 0
