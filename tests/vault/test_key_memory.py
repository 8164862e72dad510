"""Memory in which keys go from one process to the next: shared, without a name, wiped for both."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from carrel.vault import key_memory
from carrel.vault.key_memory import KeyMemory
from carrel.vault.keyring import Keyring
from tests.support.vault import ALICE, BOB, key_of


@pytest.fixture(params=["secret memory", "a kernel without it"])
def memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[KeyMemory]:
    if request.param != "secret memory":
        monkeypatch.setattr(key_memory, "MEMFD_SECRET", 100_000)
    memory = KeyMemory.reserve(300)
    expected = "secretmem" if request.param == "secret memory" else "carrel-keys"
    assert expected in os.readlink(f"/proc/self/fd/{memory.descriptor}")
    yield memory
    memory.close()


def filled() -> Keyring:
    keyring = Keyring()
    keyring.put(ALICE, key_of("a"))
    keyring.put(BOB, key_of("b"))
    return keyring


def test_whoever_has_the_descriptor_gets_the_keys(memory: KeyMemory) -> None:
    assert memory.room >= 300
    memory.fill(filled(), [BOB, ALICE])
    taken, other = Keyring(), KeyMemory(os.dup(memory.descriptor))
    other.take(taken, [BOB, ALICE])
    other.close()
    assert (taken.copy(ALICE), taken.copy(BOB)) == (key_of("a"), key_of("b"))


def test_wiping_leaves_nothing_to_whoever_shares_it(memory: KeyMemory) -> None:
    memory.fill(filled(), [ALICE])
    other = KeyMemory(os.dup(memory.descriptor))
    other.wipe()
    taken = Keyring()
    memory.take(taken, [ALICE])
    assert taken.copy(ALICE) == bytearray(32)


def test_no_started_program_inherits_it(memory: KeyMemory) -> None:
    assert not os.get_inheritable(memory.descriptor)


def test_without_memory_that_can_be_locked_it_is_refused() -> None:
    # Root locks as much as it wants, so another account tries.
    program = (
        "import os, resource\n"
        "from carrel.vault.key_memory import KeyMemory, KeyMemoryRefused\n"
        "resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))\n"
        "os.geteuid() or os.seteuid(65534)\n"
        "try:\n    KeyMemory.reserve(300)\nexcept KeyMemoryRefused:\n    print('refused')\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout == "refused\n"
