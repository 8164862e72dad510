"""`carrel cluster`: make a cluster of nodes, change and look at it, and keep the proxy's configuration and map.

Exit codes: 0 done; 1 etcd or a file cannot be used; 2 wrong usage; 5 something is in the way.
"""

import re
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, NoReturn

import click
import msgspec

from carrel.cli.interface import terminal
from carrel.cli.interface.data_folder import env_file_option, json_option
from carrel.cli.interface.etcd import run, settings_with_etcd
from carrel.cli.interface.printing import say
from carrel.cli.interface.refusal import refuse
from carrel.cli.interface.terminal import CommandOutput
from carrel.cli.operators import cluster_adopt, cluster_moves
from carrel.cluster import haproxy, registry, shares
from carrel.cluster.map_agent import HaproxySilent, MapAgent
from carrel.cluster.registry import ClusterRegistry
from carrel.config import ADDRESS, NODE_NAME
from carrel.evaluation.words import counted

_MEMBER: Final = re.compile(f"{NODE_NAME}={ADDRESS}")
_CHANGED: Final = "somebody else has changed the cluster meanwhile; look at carrel cluster status and begin again"


class NodeStatus(msgspec.Struct, frozen=True):
    """A row of `status`."""

    node: str
    address: str
    runs: bool
    slots: int
    leaving: int
    coming: int


@click.group("cluster", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Manage several nodes that share the users. Needs CARREL_ETCD."""


@command.command("init")
@click.argument("members", nargs=-1, required=True, metavar="NAME=ADDRESS...")
@click.option("--existing", metavar="NAME", help="The node whose data folder holds the users that there are already.")
@env_file_option
@json_option
def init(members: tuple[str, ...], existing: str | None, env_file: Path | None, as_json: bool) -> None:
    """Make a cluster of these nodes. ADDRESS is where the proxy reaches the node, such as 10.0.0.7:8400.

    Every node gets the same number of slots. With `--existing`, one node gets all of them, because it has the data.
    """
    named: dict[str, str] = {}
    for member in members:
        name, address = _named(member)
        if name in named:
            refuse(f"{name}: is there twice")
        named[name] = address
    if existing is not None and existing not in named:
        refuse("--existing: must be one of the nodes")
    settings = settings_with_etcd(env_file)
    cluster = secrets.token_hex(16)

    async def work(found: ClusterRegistry) -> bool:
        return await found.create(cluster, named, registry.shared_out(list(named), all_to=existing))

    if not run(settings, work, as_json=as_json):
        terminal.end(terminal.EXIT_CONFLICT, "there is a cluster of this name already", as_json=as_json)
    CommandOutput(as_json, terminal.wide_console()).show(
        cluster, f"a cluster of {counted(len(named), 'node')}: {', '.join(named)}"
    )


@command.command("add")
@click.argument("member", metavar="NAME=ADDRESS")
@env_file_option
def add(member: str, env_file: Path | None) -> None:
    """Make a further node known. It has no slots until it runs and `carrel cluster rebalance` gives it some."""
    name, address = _named(member)

    async def work(found: ClusterRegistry) -> None:
        await found.cluster()
        if not await found.change_member(name, None, address):
            _conflict(f"{name}: is a node of the cluster already")

    _change(env_file, work, f"{name} is a node of the cluster: start it")


@command.command("readdress")
@click.argument("member", metavar="NAME=ADDRESS")
@env_file_option
def readdress(member: str, env_file: Path | None) -> None:
    """Say where the proxy reaches a node from now on."""
    name, address = _named(member)

    async def work(found: ClusterRegistry) -> None:
        if not await found.change_member(name, (await _members(found, name))[name], address):
            _conflict(_CHANGED)

    _change(env_file, work, f"{name} is at {address}")


@command.command("remove")
@click.argument("node")
@env_file_option
def remove(node: str, env_file: Path | None) -> None:
    """Forget a node for good. It must have been drained and stopped."""

    async def work(found: ClusterRegistry) -> None:
        address = (await _members(found, node))[node]
        entries = [entry for entry in (await found.slots()).entries.values() if entry is not None]
        slots = sum(node in (entry.node, entry.to) for entry in entries)
        if slots:
            _conflict(f"{counted(slots, 'slot')} on {node} or on the way to it: carrel cluster drain {node}")
        if node in await found.present():
            _conflict(f"{node} runs: stop it")
        if not await found.change_member(node, address, None):
            _conflict(_CHANGED)

    _change(env_file, work, f"{node} is no node of the cluster any more")


async def _members(found: ClusterRegistry, node: str) -> dict[str, str]:
    await found.cluster()
    members = await found.members()
    if node not in members:
        refuse(f"{node}: is not a node of the cluster; carrel cluster status lists them")
    return members


def _change(env_file: Path | None, work: Callable[[ClusterRegistry], Awaitable[None]], done: str) -> None:
    run(settings_with_etcd(env_file), work, as_json=False)
    say(f"{done}; give HAProxy what carrel cluster haproxy prints now, and reload it")


def _named(member: str) -> tuple[str, str]:
    if _MEMBER.fullmatch(member) is None:
        refuse(f"{member}: must be NAME=HOST:PORT, the name of small letters, digits and hyphens")
    name, _, address = member.partition("=")
    return name, address


def _conflict(words: str) -> NoReturn:
    terminal.end(terminal.EXIT_CONFLICT, words, as_json=False)


@command.command("status")
@env_file_option
@json_option
def status(env_file: Path | None, as_json: bool) -> None:
    """List the nodes, with the number of their slots, and which of them run."""
    settings = settings_with_etcd(env_file)

    async def work(found: ClusterRegistry) -> list[NodeStatus]:
        await found.cluster()
        members, present = await found.members(), await found.present()
        entries = [entry for entry in (await found.slots()).entries.values() if entry is not None]
        slots, leaving = Counter(one.node for one in entries), Counter(one.node for one in entries if one.move)
        coming = Counter(one.to for one in entries if one.move)
        return [
            NodeStatus(name, address, name in present, slots[name], leaving[name], coming[name])
            for name, address in sorted(members.items())
        ]

    nodes = run(settings, work, as_json=as_json)
    CommandOutput(as_json, terminal.wide_console()).show_rows(
        nodes,
        {
            "node": lambda one: one.node,
            "address": lambda one: one.address,
            "runs": lambda one: "yes" if one.runs else "no",
            "slots": lambda one: f"{one.slots:,}",
            "leaving": lambda one: f"{one.leaving:,}",
            "coming": lambda one: f"{one.coming:,}",
        },
    )


@command.command("haproxy")
@click.option("--listen", default="127.0.0.1:8400", show_default=True, help="Where clients reach the proxy.")
@click.option("--certificate", help="Certificate chain and private key in one file, PEM: the proxy speaks HTTPS.")
@click.option("--node-ca", help="The authority that signed the nodes' certificates, PEM: the nodes speak HTTPS.")
@click.option("--map-file", default="/etc/haproxy/carrel.map", show_default=True, help="The map of slots.")
@click.option("--socket", default="/run/haproxy/carrel.sock", show_default=True, help="HAProxy's admin socket.")
@env_file_option
def print_configuration(
    listen: str, certificate: str | None, node_ca: str | None, map_file: str, socket: str, env_file: Path | None
) -> None:
    """Print the configuration of HAProxy for the nodes of this cluster. It changes when nodes come or go."""
    members = run(settings_with_etcd(env_file), shares.look, as_json=False).members
    text = haproxy.configuration(
        members, listen=listen, map_file=map_file, socket=socket, certificate=certificate, node_ca=node_ca
    )
    say(text, end="")


@command.command("map")
@click.option("--haproxy", "socket", type=click.Path(path_type=Path), help="HAProxy's admin socket.")
@click.option("--map-file", type=click.Path(path_type=Path), default=Path("/etc/haproxy/carrel.map"), show_default=True)
@click.option("--once", is_flag=True, help="Write it once, and end.")
@env_file_option
def keep_map(socket: Path | None, map_file: Path, once: bool, env_file: Path | None) -> None:
    """Keep the map of slots that HAProxy reads: in its file, and with `--haproxy` in the running process.

    It runs until it is stopped. Without etcd the last map stays in force.
    """

    async def work(found: ClusterRegistry) -> None:
        agent = MapAgent(found, map_file, socket, lambda words: say(words, stderr=True))
        if once:
            await agent.once()
        else:
            await agent.run()

    try:
        # The map names nodes and no addresses, so whoever faces the internet needs no secret for it.
        run(settings_with_etcd(env_file, needs=()), work, as_json=False)
    except HaproxySilent:
        terminal.end(terminal.EXIT_FAILED, "HAProxy does not answer at its socket", as_json=False)
    except OSError as error:
        terminal.end(terminal.EXIT_FAILED, f"{map_file}: {error.strerror or 'cannot be written'}", as_json=False)
    except KeyboardInterrupt:
        return


for further in (
    cluster_moves.move,
    cluster_moves.drain,
    cluster_moves.rebalance,
    cluster_moves.abort,
    cluster_adopt.adopt,
):
    command.add_command(further)
