"""One process per data folder."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from carrel.errors import CarrelError, Unavailable
from carrel.vault.data_folder import DataFolder, FolderTaken

HOLDER = """
import sys, time
from pathlib import Path
from carrel.vault.data_folder import DataFolder, FolderTaken
try:
    DataFolder(Path(sys.argv[1])).lock()
except FolderTaken:
    print("taken", flush=True)
    sys.exit(2)
print("locked", flush=True)
sys.stdin.read()
"""


def holder(folder: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def first_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_second_process_is_refused_until_the_first_is_gone_however_it_went(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with holder(folder) as first:
        assert first_line(first) == "locked"
        with pytest.raises(FolderTaken):
            DataFolder(folder).lock()
        with holder(folder) as second:
            assert first_line(second) == "taken"
            assert second.wait() == 2
        first.send_signal(signal.SIGKILL)
    with DataFolder(folder), holder(folder) as third:
        assert first_line(third) == "taken"
    with holder(folder) as fourth:
        assert first_line(fourth) == "locked"


def test_the_same_process_cannot_take_it_twice(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    with folder:
        with pytest.raises(FolderTaken):
            folder.lock()
        with pytest.raises(FolderTaken):
            DataFolder(tmp_path).lock()
    with DataFolder(tmp_path):
        pass


def test_a_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.lock()
    program = "import sys; print('started', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, close_fds=False
    ) as child:
        assert first_line(child) == "started"
        folder.unlock()
        with DataFolder(tmp_path):
            pass


def test_the_folder_is_made_and_closed_to_other_accounts(tmp_path: Path) -> None:
    path = tmp_path / "some" / "where" / "data"
    with DataFolder(path):
        assert path.stat().st_mode & 0o777 == 0o700
        assert [file.stat().st_mode & 0o777 for file in path.iterdir()] == [0o600]
    path.chmod(0o755)
    with DataFolder(path):
        assert path.stat().st_mode & 0o777 == 0o700


def test_a_file_in_its_place_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder")
    with pytest.raises(Unavailable):
        DataFolder(tmp_path / "data").lock()


def test_a_lock_that_fails_leaves_no_descriptor_open(tmp_path: Path) -> None:
    with DataFolder(tmp_path):
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(10):
            with pytest.raises(CarrelError):
                DataFolder(tmp_path).lock()
        assert len(os.listdir("/proc/self/fd")) == before
