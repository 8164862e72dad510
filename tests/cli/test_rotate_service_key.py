"""`carrel rotate-service-key`: the configuration follows the data folder, also when the command is killed."""

import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from dotenv.main import dotenv_values

from carrel.accounts.rotation import Rotation
from carrel.cli.main import main
from carrel.vault.data_folder import DataFolder
from tests.crash.rotation_operations import NEW, OLD, USERS, prepare, whole
from tests.support import soak
from tests.support.disk import Disk, failing
from tests.support.soak import Figure

PLUGIN = "plugin-secret-0123456789-abcdefghijklmn"
SEED = int(os.environ.get("CARREL_SEED", "1"))


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("before") / "data"
    with failing(Disk()):
        prepare(data)
    return data


@pytest.fixture
def folder(before: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a configuration and the data folder of it."""
    configure(before, tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in ("CARREL_SERVICE_KEY", "CARREL_OLD_SERVICE_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def configure(before: Path, folder: Path) -> None:
    shutil.rmtree(folder / "data", ignore_errors=True)
    shutil.copytree(before, folder / "data")
    text = f"# Ours\nCARREL_PLUGIN_SECRET={PLUGIN}\nexport CARREL_SERVICE_KEY={OLD.hex()}\nCARREL_DATA_DIR=data\n"
    (folder / ".env").write_text(text)
    (folder / ".env").chmod(0o600)


def rotate(*arguments: str, **environ: str) -> Result:
    return CliRunner().invoke(main, ["rotate-service-key", *arguments], env=environ)


def key_in(folder: Path) -> bytes:
    return bytes.fromhex(dotenv_values(folder / ".env")["CARREL_SERVICE_KEY"] or "")


def test_the_key_is_made_put_in_place_and_the_old_one_removed(folder: Path) -> None:
    done = rotate("--json")
    assert (done.exit_code, done.stdout) == (0, f'{{"users":{len(USERS)}}}\n')
    lines = (folder / ".env").read_text().splitlines()
    assert (lines[0], lines[-1]) == ("# Ours", "CARREL_DATA_DIR=data")
    assert len(lines) == 4
    assert stat.S_IMODE((folder / ".env").stat().st_mode) == 0o600
    assert key_in(folder) != OLD
    assert key_in(folder).hex() not in done.output
    whole(folder / "data", key_in(folder))
    assert rotate().exit_code == 0, "again, to yet another key"
    whole(folder / "data", key_in(folder))


def test_a_command_that_died_goes_on_with_the_same_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Rotation, "run", dies)
        assert rotate().exit_code != 0
    made = key_in(folder)
    assert dotenv_values(folder / ".env")["CARREL_OLD_SERVICE_KEY"] == OLD.hex()
    assert rotate().exit_code == 0
    assert key_in(folder) == made
    assert "CARREL_OLD_SERVICE_KEY" not in (folder / ".env").read_text()
    whole(folder / "data", made)


def test_keys_from_the_environment_are_the_operators_to_change(folder: Path) -> None:
    (folder / ".env").write_text(f"CARREL_PLUGIN_SECRET={PLUGIN}\nCARREL_DATA_DIR=data\n")
    refused = rotate(CARREL_SERVICE_KEY=OLD.hex())
    assert refused.exit_code == 2
    assert "CARREL_OLD_SERVICE_KEY to the old one" in refused.output
    done = rotate(CARREL_SERVICE_KEY=NEW.hex(), CARREL_OLD_SERVICE_KEY=OLD.hex())
    assert done.exit_code == 0
    assert "Remove CARREL_OLD_SERVICE_KEY" in done.output
    whole(folder / "data")


def test_a_running_service_and_another_key_change_nothing(folder: Path) -> None:
    with DataFolder(folder / "data"):
        assert "stop it first" in rotate().output
    assert key_in(folder) == OLD
    wrong = (folder / ".env").read_text().replace(OLD.hex(), NEW.hex())
    (folder / ".env").write_text(wrong)
    refused = rotate()
    assert (refused.exit_code, "not the key" in refused.output) == (1, True)
    assert (folder / ".env").read_text() == wrong


@pytest.mark.soak(campaign="rotation")
def test_the_command_killed_at_random_instants_loses_nothing(before: Path, folder: Path, figure: Figure) -> None:
    command = [str(Path(sys.executable).with_name("carrel")), "rotate-service-key"]
    environ = {"PATH": os.environ["PATH"]}
    instants, killed, seconds = random.Random(SEED), 0, 0.0
    attempts = count()
    while killed < soak.size(100):
        if next(attempts) % 20 == 0:
            # A machine is not equally busy all the time.
            configure(before, folder)
            began = time.monotonic()
            subprocess.run(command, cwd=folder, env=environ, check=True, capture_output=True)
            seconds = time.monotonic() - began
        configure(before, folder)
        process = subprocess.Popen(command, cwd=folder, env=environ, stdout=subprocess.DEVNULL)
        time.sleep(instants.uniform(seconds / 3, seconds))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        if key_in(folder) == OLD:
            continue
        subprocess.run(command, cwd=folder, env=environ, check=True, capture_output=True)
        whole(folder / "data", key_in(folder))
    figure("the command, SIGKILL at a random instant", kills=killed, lost=0)
