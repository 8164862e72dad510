"""The calls of etcd, on a real one."""

import asyncio

import pytest

from carrel.cluster.etcd import Etcd, EtcdUnreachable, Put, ValueIs
from tests.support.etcd import EtcdServer
from tests.support.service import free_port

pytestmark = pytest.mark.program("etcd")


async def test_a_value_is_stored_only_if_nobody_was_faster(etcd: Etcd, prefix: str) -> None:
    key = f"{prefix}a"
    assert await etcd.get(key) is None
    assert await etcd.put_if([ValueIs(key, None)], [Put(key, b"1")])
    assert not await etcd.put_if([ValueIs(key, None)], [Put(key, b"2")])
    assert not await etcd.put_if([ValueIs(key, b"0")], [Put(key, b"2")])
    assert await etcd.put_if([ValueIs(key, b"1")], [Put(key, b"\xff")])
    found = await etcd.get(key)
    assert found is not None
    assert found.text == b"\xff"


async def test_values_below_a_prefix_are_those_and_no_others(etcd: Etcd, prefix: str) -> None:
    await etcd.put_if([], [Put(f"{prefix}slots/1", b"a"), Put(f"{prefix}slots/2", b"b"), Put(f"{prefix}slotsx", b"c")])
    found = await etcd.below(f"{prefix}slots/")
    assert {key: value.text for key, value in found.values.items()} == {"1": b"a", "2": b"b"}
    await etcd.put_if([], [Put(f"{prefix}slots/2", b"d")])
    later = await etcd.below(f"{prefix}slots/", changed_after=found.revision)
    assert {key: value.text for key, value in later.values.items()} == {"2": b"d"}


async def test_what_was_stored_with_a_lease_goes_with_it(etcd: Etcd, prefix: str) -> None:
    lease = await etcd.grant(60)
    await etcd.put_if([], [Put(f"{prefix}node", b"", lease)])
    assert await etcd.renew(lease) == 60
    await etcd.revoke(lease)
    assert await etcd.get(f"{prefix}node") is None
    assert await etcd.renew(lease) == 0
    await etcd.revoke(lease)


async def test_changes_are_told_as_they_happen(etcd: Etcd, prefix: str) -> None:
    lease = await etcd.grant(60)
    await etcd.put_if([], [Put(f"{prefix}a", b"1", lease)])
    start = (await etcd.below(prefix)).revision
    watch = etcd.watch(prefix, start, 60.0)
    first = asyncio.ensure_future(anext(watch))
    await etcd.put_if([], [Put(f"{prefix}b", b"2")])
    assert {key: value.text for key, value in (await first).values.items()} == {"b": b"2"}
    await etcd.revoke(lease)
    assert {key: value.text for key, value in (await anext(watch)).values.items()} == {"a": None}
    await watch.aclose()  # type: ignore[attr-defined]  # it is a generator


async def test_a_watch_that_hears_nothing_ends(etcd: Etcd, prefix: str) -> None:
    with pytest.raises(EtcdUnreachable):
        await anext(etcd.watch(prefix, (await etcd.below(prefix)).revision, 0.05))


async def test_the_next_server_is_called_when_one_does_not_answer(server: EtcdServer, prefix: str) -> None:
    etcd = Etcd([f"http://127.0.0.1:{free_port()}", server.url], call_seconds=20.0)
    assert await etcd.put_if([], [Put(f"{prefix}a", b"1")])
    assert await etcd.get(f"{prefix}a") is not None
    await etcd.close()


async def test_without_any_server_the_call_fails(prefix: str) -> None:
    etcd = Etcd([f"http://127.0.0.1:{free_port()}"], call_seconds=20.0)
    with pytest.raises(EtcdUnreachable):
        await etcd.get(f"{prefix}a")
    await etcd.close()
