"""Row 13: two nodes against one with the same share of a core each, what the proxy costs, and a node that is killed."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil

from benchmarks import load, rows
from benchmarks.load import Request
from benchmarks.rows import Figure, Server
from tests.cluster.proxied import Proxied, proxied
from tests.support.etcd import etcd_server

SHARE: float = 0.35
"""Of the servers' core, for each node: two of them leave some of it to nobody."""
_PERIOD = 100_000
"""Of the scheduler, in microseconds."""
_GROUPS = Path("/sys/fs/cgroup")
_CONNECTIONS = 8


def nodes(folder: Path, reads: int = 6_000, writes: int = 1_600, kills: int = 5) -> list[Figure]:
    """Requests of users of one node, then of both; the same through the proxy; SIGKILL to the first sign-in."""
    names = ("a", "b")
    with etcd_server() as etcd, proxied(folder, etcd, names, {"CARREL_FREE_PLAN": "full"}) as cluster:
        servers = [_server(cluster, name) for name in names]
        for server in servers:
            psutil.Process(server.pid).cpu_affinity([rows.SERVER_CORE])
        users = [_users_of(cluster, name) for name in names]
        read = [rows.own_read(server, reader) for server, (reader, _) in zip(servers, users, strict=True)]
        write = [
            rows.content_request(rows.sign_in(server, writer))
            for server, (_, writer) in zip(servers, users, strict=True)
        ]
        hop = _hop(cluster, read[0], reads)
        with ExitStack() as limits:
            for server in servers:
                limits.enter_context(limited(server.pid, f"carrel-bench-{server.pid}"))
            gains = {
                what: _gain(servers, asked, count)
                for what, asked, count in (("reads", read, reads), ("writes", write, writes))
            }
        slowest = max(_back_after(cluster, users[0][0]) for _ in range(kills))
    return [
        *(
            rows.at_least("13", f"two nodes over one, {what} per second, {SHARE:.0%} of a core each", gain, 1.8)
            for what, gain in gains.items()
        ),
        rows.at_most("13", "HAProxy's CPU for a request, microseconds", hop, 80),
        rows.at_most("13", f"{kills} SIGKILLs to a node: to the first sign-in through the proxy, worst, s", slowest, 2),
    ]


def _server(cluster: Proxied, name: str) -> Server:
    node = cluster.nodes[name]
    return Server(node.port, node.pid, node.plugin_secret)


def _users_of(cluster: Proxied, name: str) -> tuple[str, str]:
    """Two users whom the node serves."""
    first, second, *_ = [uuid for uuid in map("user{}".format, range(100)) if cluster.node_of(uuid) == name]
    return first, second


def _gain(servers: list[Server], asked: list[Request], count: int) -> float:
    """How much more two nodes do in a second than one of them alone."""
    (alone,) = load.side_by_side([(servers[0], asked[0])], requests=count, connections=_CONNECTIONS)
    both = load.side_by_side(list(zip(servers, asked, strict=True)), requests=count, connections=_CONNECTIONS)
    return sum(one.per_second for one in both) / alone.per_second


def _hop(cluster: Proxied, request: Request, count: int) -> float:
    assert cluster.proxy is not None
    through = load.run(cluster.port, cluster.proxy.pid, load.always(request), requests=count, connections=_CONNECTIONS)
    return 1000 * through.cpu_ms


def _back_after(cluster: Proxied, uuid: str) -> float:
    """Kill the user's node, start it as a service manager does, and sign in as soon as that succeeds."""
    node = cluster.nodes[cluster.node_of(uuid)]
    front = Server(cluster.port, 0, node.plugin_secret)
    node.kill()
    began = time.perf_counter()
    node.start()
    while True:
        try:
            load.call(front.port, rows.login_request(front, uuid))
            return time.perf_counter() - began
        except (RuntimeError, EOFError):
            if time.perf_counter() - began > 60:
                raise
            time.sleep(0.01)


@contextmanager
def limited(pid: int, name: str) -> Iterator[None]:
    """The process gets `SHARE` of a core at most. Takes root, and a kernel that limits groups of processes."""
    first = (_GROUPS / "cpu") if (_GROUPS / "cpu").is_dir() else _GROUPS
    group = first / name
    group.mkdir()
    quota = int(SHARE * _PERIOD)
    try:
        if first == _GROUPS:
            (group / "cpu.max").write_text(f"{quota} {_PERIOD}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(_PERIOD))
            (group / "cpu.cfs_quota_us").write_text(str(quota))
        (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        (first / "cgroup.procs").write_text(str(pid))
        group.rmdir()
