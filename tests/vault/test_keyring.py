"""Keys in memory: locked, compared in constant time, wiped, and never shown."""

import mmap
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.vault.keyring import Keyring, UserUuid, zero
from tests.support.vault import ALICE, BOB, key_of


def test_a_key_is_kept_and_copied() -> None:
    keyring = Keyring()
    keyring.put(ALICE, key_of("a"))
    keyring.put(BOB, key_of("b"))
    assert keyring.copy(ALICE) == key_of("a")
    assert keyring.copy(BOB) == key_of("b")
    assert (ALICE in keyring, len(keyring)) == (True, 2)


def test_only_the_very_key_matches() -> None:
    keyring = Keyring()
    keyring.put(ALICE, key_of("a"))
    assert keyring.matches(ALICE, key_of("a"))
    assert not keyring.matches(ALICE, key_of("b"))
    assert not keyring.matches(ALICE, key_of("a")[:31])
    assert not keyring.matches(ALICE, key_of("a") + b"\0")
    assert not keyring.matches(ALICE, bytearray())
    assert not keyring.matches(BOB, key_of("a"))
    assert not keyring.matches(BOB, bytearray(32))


@pytest.mark.parametrize("length", [0, 31, 33])
def test_what_is_no_key_is_not_kept(length: int) -> None:
    keyring = Keyring()
    with pytest.raises(ValueError, match="32 bytes"):
        keyring.put(ALICE, bytearray(length))
    assert ALICE not in keyring


def test_an_evicted_key_is_zeroed_where_it_stood() -> None:
    keyring = Keyring()
    keyring.put(ALICE, key_of("a"))
    page = keyring.pages[0].memory
    assert page.find(bytes(key_of("a"))) >= 0
    keyring.evict(ALICE)
    assert page[:] == bytes(mmap.PAGESIZE)
    assert keyring.is_wiped()
    assert keyring.copy(ALICE) is None
    assert ALICE not in keyring


def test_a_new_key_overwrites_the_old_one() -> None:
    keyring = Keyring()
    keyring.put(ALICE, key_of("a"))
    keyring.put(ALICE, key_of("b"))
    assert keyring.pages[0].memory.find(bytes(key_of("a"))) < 0
    assert keyring.matches(ALICE, key_of("b"))
    assert len(keyring) == 1


def test_the_self_test_would_see_a_key_that_was_not_wiped() -> None:
    keyring = Keyring()
    keyring.put(ALICE, key_of("a"))
    keyring.evict(ALICE)
    keyring.pages[0].memory[-1:] = b"x"
    assert not keyring.is_wiped()


def test_pages_of_keys_are_locked_and_left_out_of_dumps() -> None:
    keyring = Keyring()
    keyring.put(ALICE, key_of("a"))
    assert keyring.locked
    flags = _flags_of(keyring.pages[0].address)
    assert "lo" in flags
    assert "dd" in flags


def _flags_of(address: int) -> list[str]:
    inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first = line.split()[0]
        if "-" in first and not first.endswith(":"):
            start, _, end = first.partition("-")
            inside = int(start, 16) <= address < int(end, 16)
        elif inside and first == "VmFlags:":
            return line.split()[1:]
    raise AssertionError("no such page")


def test_more_keys_than_fit_on_a_page() -> None:
    keyring = Keyring()
    uuids = [UserUuid(f"user-{number}") for number in range(300)]
    for uuid in uuids:
        keyring.put(uuid, key_of(uuid))
    assert all(keyring.matches(uuid, key_of(uuid)) for uuid in uuids)
    assert len(keyring.pages) == 3
    keyring.clear()
    assert len(keyring) == 0
    assert keyring.is_wiped()
    for uuid in uuids:
        keyring.put(uuid, key_of(uuid))
    assert len(keyring.pages) == 3


def test_the_epoch_only_rises_and_outlives_the_key() -> None:
    keyring = Keyring()
    assert keyring.epoch(ALICE) == 0
    keyring.put(ALICE, key_of("a"))
    keyring.evict(ALICE)
    once = keyring.epoch(ALICE)
    assert once > 0
    keyring.evict(ALICE)
    assert keyring.epoch(ALICE) > once
    assert keyring.epoch(BOB) == 0


def test_a_keyring_shows_no_key() -> None:
    keyring = Keyring()
    keyring.put(ALICE, key_of("a"))
    assert repr(keyring) == "<Keyring of 1 keys>"
    with pytest.raises(TypeError):
        pickle.dumps(keyring)


def test_zero_wipes_in_place() -> None:
    key = key_of("a")
    view = memoryview(key)
    zero(key)
    assert bytes(view) == bytes(32)


@given(st.lists(st.tuples(st.sampled_from(["put", "evict"]), st.integers(0, 5)), max_size=60))
def test_a_keyring_behaves_like_a_dictionary(steps: list[tuple[str, int]]) -> None:
    keyring = Keyring()
    expected: dict[UserUuid, bytearray] = {}
    for turn, (verb, number) in enumerate(steps):
        uuid = UserUuid(str(number))
        if verb == "put":
            expected[uuid] = key_of(f"{uuid} {turn}")
            keyring.put(uuid, expected[uuid])
        else:
            expected.pop(uuid, None)
            keyring.evict(uuid)
    for number in range(6):
        uuid = UserUuid(str(number))
        assert keyring.copy(uuid) == expected.get(uuid)
    assert keyring.is_wiped()
