"""A hostile process of the service's account opens memory from before the start on: it never reads a key or a text.

It has no privileges, and the kernel of the machine may allow processes of one account to trace each other. The long
form is a campaign of `make soak`.
"""

import os
import secrets
import signal
import sys
from collections import Counter
from pathlib import Path

import httpx
import psutil
import pytest

from carrel.kit.processes import private_memory
from tests.support.processes import at_work, ended
from tests.support.same_account import Loot, launch_without_privileges, thief, unreadable_python
from tests.support.service import Service
from tests.support.soak import Figure, size

TRIES = 100
CARREL = str(Path(sys.executable).with_name("carrel"))
WITHOUT_A_CHILD = "import sys; from carrel.cli.main import main; sys.argv[0] = 'carrel'; main()"
"""The program as it would be if it hardened itself only when it is about to hold keys."""


class KeptSecrets(Service):
    """A service whose secrets are in files: the variables of a program can be read while it starts."""

    def environment(self) -> dict[str, str]:
        folder = self.folder / "secrets"
        folder.mkdir(exist_ok=True)
        variables = super().environment()
        for name in ("CARREL_PLUGIN_SECRET", "CARREL_ADMIN_SECRET", "CARREL_SERVICE_KEY"):
            (folder / name).write_text(variables.pop(name))
        return variables | {"CARREL_SECRETS_DIR": str(folder)}


def robbed(folder: Path, program: list[str]) -> Loot:
    """A user signs in, and has files read by a worker and by the one that takes its place. The thief is there."""
    folder.mkdir()
    service = KeptSecrets(folder, program=program, launch=launch_without_privileges)
    key, canaries = secrets.token_bytes(32), [secrets.token_hex(16) for _ in range(2)]
    with thief() as robber:
        service.start()
        try:
            with httpx.Client(base_url=f"{service.url}/api", timeout=60) as client:
                _use(client, service, key, canaries)
                wanted = {
                    "user's key": key,
                    "plugin secret": service.plugin_secret.encode(),
                    "admin secret": service.admin_secret.encode(),
                    "service key": bytes.fromhex(service.service_key),
                    **{f"text {number}": canary.encode() for number, canary in enumerate(canaries)},
                }
                return robber.search(wanted)
        finally:
            service.stop()


def _use(client: httpx.Client, service: Service, key: bytes, canaries: list[str]) -> None:
    plugin = {"X-SVC-Plugin-Secret": service.plugin_secret}
    client.post("/users", json={"uuid": "ada", "membership": "paid"}, headers=plugin).raise_for_status()
    signed_in = client.post("/auth/login", json={"uuid": "ada", "db_key_hex": key.hex()}, headers=plugin)
    session = {"X-SVC-Session-Token": signed_in.raise_for_status().json()["session_token"]}
    for canary in canaries:
        for worker in psutil.Process(service.pid).children():
            os.kill(at_work(worker.pid), signal.SIGKILL)
            assert ended(worker.pid, within_seconds=60)
        file = {"file": ("ships.txt", f"A keeper writes {canary} down.\n".encode(), "text/plain")}
        client.post("/documents", files=file, headers=session).raise_for_status()


def test_no_key_and_no_text_is_read_through_what_was_opened_early(tmp_path: Path) -> None:
    assert robbed(tmp_path / "service", [CARREL]).found == {}


def test_the_thief_would_find_them(tmp_path: Path) -> None:
    loot = robbed(tmp_path / "service", [sys.executable, "-c", WITHOUT_A_CHILD])
    are_found = {"user's key", "plugin secret", "service key"} <= loot.found.keys()
    assert are_found == private_memory.is_open_at_start()


def test_nothing_is_opened_at_all_where_the_account_cannot_read_the_file_of_python(tmp_path: Path) -> None:
    loot = robbed(tmp_path / "service", [str(unreadable_python(tmp_path)), CARREL])
    # What it opened were the programs before: their memory is gone.
    assert (loot.bytes, loot.found) == (0, {})


@pytest.mark.soak(campaign="thief")
def test_no_key_and_no_text_in_any_of_many_tries(tmp_path: Path, figure: Figure) -> None:
    found: Counter[str] = Counter()
    opened = 0
    for number in range(size(TRIES)):
        loot = robbed(tmp_path / str(number), [CARREL])
        opened += loot.opened
        found.update(loot.found)
    figure("a thief of the account reads memory", tries=size(TRIES), opened=opened, secrets_found=found.total())
    assert found == {}
