"""systemd is told what the service does, by the protocol of sd_notify(3)."""

import socket
from pathlib import Path

import pytest

from carrel.kit.processes import service_manager


@pytest.mark.parametrize("abstract", [False, True], ids=["a file", "an abstract name"])
def test_it_is_told_in_one_datagram(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, abstract: bool) -> None:
    name = f"\0{tmp_path}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(name)
        manager.settimeout(60)
        monkeypatch.setenv("NOTIFY_SOCKET", name.replace("\0", "@"))
        service_manager.tell("READY=1", "MAINPID=42")
        assert manager.recv(4096) == b"READY=1\nMAINPID=42"


def test_without_a_manager_or_with_one_that_is_gone_nothing_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    service_manager.tell("READY=1")
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nobody"))
    service_manager.tell("READY=1")
