"""etcd as the guide sets it up: it asks who somebody is, and Carrel's user has the keys of its cluster and no more."""

import asyncio
import os
import re
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from carrel.accounts.slots import slot_of
from carrel.cluster.etcd import Etcd, EtcdUnreachable, EtcdUser, Put, UserRejected, ValueIs
from carrel.cluster.refusals import EtcdUserRejected
from carrel.cluster.registry import ClusterRegistry
from tests.cluster.nodes import SERVICE_KEY, node
from tests.cluster.proxied import Proxied
from tests.support.etcd import EtcdServer, etcd_server

pytestmark = [pytest.mark.program("etcd"), pytest.mark.program("etcdctl")]

GUIDE = Path(__file__).parents[2] / "docs/deploying.md"
ROOT = "/carrel/main/"
MINUTE = 60.0


@pytest.fixture(scope="module", params=[False, True], ids=["loopback", "certificates"])
def guarded(request: pytest.FixtureRequest) -> Iterator[tuple[EtcdServer, EtcdUser]]:
    """A server after the guide's commands, and the user that they made."""
    with etcd_server(with_tls=request.param) as server:
        yield server, set_up(server)


def set_up(server: EtcdServer) -> EtcdUser:
    blocks = re.findall(r"^```sh\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    script = next(block for block in blocks if "etcdctl auth enable" in block)
    script = re.sub(r"^apt-get .*\n", "", script, flags=re.MULTILINE).replace("/etc/carrel", str(server.folder))
    environment = {"PATH": os.environ["PATH"], "ETCDCTL_ENDPOINTS": server.url}
    if server.certificate is not None:
        file, key = map(str, server.certificate)
        environment |= {"ETCDCTL_CACERT": file, "ETCDCTL_CERT": file, "ETCDCTL_KEY": key}
    subprocess.run(["sh", "-eu"], input=script, text=True, env=environment, check=True, capture_output=True)
    made = dict(line.split("=", 1) for line in (server.folder / "carrel.env").read_text().splitlines())
    return EtcdUser(made["CARREL_ETCD_USER"], made["CARREL_ETCD_PASSWORD"])


@pytest.fixture
async def etcd(guarded: tuple[EtcdServer, EtcdUser]) -> AsyncIterator[Etcd]:
    server, user = guarded
    etcd = Etcd([server.url], call_seconds=20.0, tls=server.tls, user=user)
    yield etcd
    await etcd.close()


async def test_its_user_does_all_that_nodes_do(etcd: Etcd) -> None:
    lease = await etcd.grant(60)
    assert await etcd.put_if([ValueIs(f"{ROOT}a", None)], [Put(f"{ROOT}a", b"1", lease)])
    revision = (await etcd.below(ROOT)).revision
    watch = etcd.watch(ROOT, revision, 60.0)
    first = asyncio.ensure_future(anext(watch))
    assert await etcd.put_if([], [Put(f"{ROOT}b", b"2")])
    assert {key: value.text for key, value in (await first).values.items()} == {"b": b"2"}
    assert await etcd.renew(lease) == 60
    await etcd.revoke(lease)
    assert await etcd.get(f"{ROOT}a") is None
    # In this order: a stream that is left sends its farewell first, and waits for the answer beyond the test.
    await etcd.close()
    await watch.aclose()  # type: ignore[attr-defined]  # it is a generator


async def test_keys_of_others_are_refused_to_it_and_its_own_to_strangers(
    guarded: tuple[EtcdServer, EtcdUser], etcd: Etcd
) -> None:
    for key in ("/carrel/other/a", "/carrel/mainz/a", "/a"):
        with pytest.raises(UserRejected):
            await etcd.get(key)
        with pytest.raises(UserRejected):
            await etcd.put_if([], [Put(key, b"1")])
    server, user = guarded
    for stranger in (
        None,
        EtcdUser(user.name, "x" * 64),
        EtcdUser("root", user.password),
        EtcdUser("nobody", user.password),
    ):
        other = Etcd([server.url], call_seconds=20.0, tls=server.tls, user=stranger)
        with pytest.raises(UserRejected):
            await other.get(f"{ROOT}a")
        with pytest.raises(UserRejected):
            await other.put_if([], [Put(f"{ROOT}slots/0007", b"{}")])
        registry = ClusterRegistry(other, "main", SERVICE_KEY)
        with pytest.raises(EtcdUserRejected):
            await node(registry, server.folder / "node").node.join(timeout_seconds=0.0)
        await other.close()


async def test_who_shows_no_certificate_is_not_heard(guarded: tuple[EtcdServer, EtcdUser]) -> None:
    server, user = guarded
    tls = None if server.certificate is None else ssl.create_default_context(cafile=server.certificate[0])
    other = Etcd([server.url], call_seconds=20.0, tls=tls, user=user)
    if tls is None:
        assert await other.get(f"{ROOT}a") is None
    else:
        with pytest.raises(EtcdUnreachable) as refused:
            await other.get(f"{ROOT}a")
        assert not isinstance(refused.value, UserRejected)
    await other.close()


@pytest.mark.parametrize("guarded", [False], ids=["loopback"], indirect=True)
async def test_a_server_that_was_restarted_is_told_again_who_asks(
    guarded: tuple[EtcdServer, EtcdUser], etcd: Etcd
) -> None:
    assert await etcd.put_if([], [Put(f"{ROOT}c", b"1")])
    for _ in range(2):
        await asyncio.to_thread(guarded[0].stop)
        await asyncio.to_thread(guarded[0].start)
        found = await asyncio.gather(*(etcd.get(f"{ROOT}c") for _ in range(5)))
        assert [value.text for value in found if value is not None] == [b"1"] * 5


@pytest.mark.program("haproxy")
@pytest.mark.parametrize("guarded", [True], ids=["certificates"], indirect=True)
async def test_a_cluster_works_and_a_wrong_password_is_said(
    guarded: tuple[EtcdServer, EtcdUser], tmp_path: Path
) -> None:
    server, user = guarded
    settings = {"CARREL_CLUSTER": "main", "CARREL_ETCD_USER": user.name, "CARREL_ETCD_PASSWORD": user.password}
    if server.certificate is not None:
        file, key = map(str, server.certificate)
        settings |= {"CARREL_ETCD_CA": file, "CARREL_ETCD_CERT": file, "CARREL_ETCD_KEY": key}
    cluster: Proxied = await asyncio.to_thread(start, tmp_path, server, settings)
    try:
        async with httpx.AsyncClient(base_url=cluster.url, timeout=MINUTE) as client:
            session = await cluster.signed_in(client, "ada")
            to = {"a": "b", "b": "a"}[cluster.node_of("ada")]
            moved = await asyncio.to_thread(cluster.carrel, "cluster", "move", str(slot_of("ada")), to)
            assert "1 of 1 slot moved" in moved
            keep = ("--haproxy", str(cluster.socket), "--map-file", str(cluster.map_file))
            await asyncio.to_thread(cluster.carrel, "cluster", "map", "--once", *keep)
            assert (await client.get("/api/users/me", headers=session)).json()["uuid"] == "ada"
        assert not any(user.password in log for log in cluster.logs())
        wrong = cluster.environment() | {"CARREL_ETCD_PASSWORD": user.password[::-1]}
        said = subprocess.run(cluster.command("cluster", "status"), capture_output=True, text=True, env=wrong)
        assert (said.returncode, EtcdUserRejected.detail in said.stderr) == (1, True)
    finally:
        cluster.stop()


def start(folder: Path, server: EtcdServer, settings: dict[str, str]) -> Proxied:
    cluster = Proxied(folder, server, ("a", "b"), settings)
    cluster.start()
    return cluster
