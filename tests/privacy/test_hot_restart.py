"""After a hot restart the process that went has no key left, and no other place but the one that came has any.

Only root may read the memory of the service.
"""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.host import key_of
from tests.support.memory import handed_memory, traces
from tests.support.replaceable import Adopted, Replaceable, ask_for_successor, replaceable
from tests.support.steady_load import sign_in

OBEDIENT = Path(__file__).parents[1] / "crash" / "replaced_service.py"
USER = "ada"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Replaceable]:
    """When it has handed everything over, the old process stops just before its end, so that it can be searched.

    It has no secret memory, which a search could not read: what it has instead must leave no trace either.
    """
    orders = tmp_path / "orders"
    orders.write_text("stop after Successor.release")
    orders.with_name("no-secret-memory").touch()
    with replaceable(tmp_path / "service", [sys.executable, str(OBEDIENT), str(orders)]) as service:
        yield service


def test_keys_leave_the_process_that_went_and_are_in_no_other_place(service: Replaceable) -> None:
    key = bytes.fromhex(key_of(USER))
    spellings = {"raw": key, "digits": key.hex().encode()}
    session = sign_in(service, USER)
    assert traces(service.pid, spellings) != {}
    ask_for_successor(service)
    old, new = service.process, Adopted(int(service.told("MAINPID=")))
    assert old is not None
    service.await_log('"event":"listening"', 2)
    with httpx.Client(base_url=f"{service.url}/api", timeout=60) as client:
        assert client.get("/users/me", headers=session).status_code == 200
        assert traces(old.pid, spellings) == {}
        assert set(traces(new.pid, spellings)) == {"raw"}
        for pid in (old.pid, new.pid):
            assert handed_memory(pid) == []
            for name in ("environ", "cmdline"):
                content = Path(f"/proc/{pid}/{name}").read_bytes()
                assert not any(spelling in content for spelling in spellings.values())
        wrong = {"uuid": USER, "db_key_hex": key_of(USER, "wrong")}
        plugin = {"X-SVC-Plugin-Secret": service.plugin_secret}
        assert client.post("/auth/login", json=wrong, headers=plugin).status_code == 401
    assert traces(new.pid, spellings) == {}
    for file in service.folder.rglob("*"):
        assert not file.is_file() or not any(spelling in file.read_bytes() for spelling in spellings.values())
    old.send_signal(signal.SIGCONT)
    assert old.wait(60) == 0
    service.process = new
    assert service.stop() == 0
