"""`carrel cluster move | drain | rebalance | abort`: slots get other nodes, while their users go on.

The command writes what is to be done into the map and follows it; the nodes do it, whether somebody follows or not.

Exit codes: 0 done; 1 etcd or a node cannot do it; 2 wrong usage; 5 another move is in the way.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final, NoReturn

import click

from carrel.accounts.slots import SLOTS
from carrel.cli.interface import terminal
from carrel.cli.interface.data_folder import env_file_option
from carrel.cli.interface.etcd import fail, run, settings_with_etcd
from carrel.cli.interface.printing import say
from carrel.cli.interface.refusal import refuse
from carrel.cluster import moves, planning
from carrel.cluster.etcd import EtcdUnreachable
from carrel.cluster.ownership import Entry
from carrel.cluster.registry import ClusterRegistry, MoveProgress
from carrel.evaluation.words import counted

_LOOK_SECONDS: Final = 0.5

_wait_option = click.option("--no-wait", is_flag=True, help="Do not follow the moves: the nodes do them anyway.")


@click.command("move")
@click.argument("slots", nargs=-1, required=True, metavar="SLOT...")
@click.argument("node")
@_wait_option
@env_file_option
def move(slots: tuple[str, ...], node: str, no_wait: bool, env_file: Path | None) -> None:
    """Move slots to NODE. SLOT is a number, or several as in 0-99.

    The users of a slot are refused for a moment and told to come again; nothing is lost. Given again, the command
    follows what is under way.
    """
    wanted = {slot for text in slots for slot in _slots_of(text)}

    async def work(found: ClusterRegistry) -> None:
        entries = await _entries(found)
        under_way = {slot for slot in wanted if entries[slot].move and entries[slot].to == node}
        plan = {slot: node for slot in wanted - under_way if entries[slot].node != node or entries[slot].move}
        await _begin(found, entries, plan)
        await _follow(found, plan | dict.fromkeys(under_way, node), wait=not no_wait)

    _do(env_file, work)


@click.command("drain")
@click.argument("node")
@_wait_option
@env_file_option
def drain(node: str, no_wait: bool, env_file: Path | None) -> None:
    """Move every slot of NODE to the other nodes that run."""

    async def work(found: ClusterRegistry) -> None:
        entries, running = await _entries(found), await found.peers()
        if node not in await found.members():
            refuse(f"{node}: is not a node of the cluster; carrel cluster status lists them")
        others = [name for name in running if name != node]
        if not others:
            fail("no other node runs and takes slots")
        plan = planning.drained(entries, node, others)
        await _begin(found, entries, plan)
        under_way = {slot: entry.to for slot, entry in entries.items() if entry.node == node and entry.move}
        await _follow(found, under_way | plan, wait=not no_wait)

    _do(env_file, work)


@click.command("rebalance")
@_wait_option
@env_file_option
def rebalance(no_wait: bool, env_file: Path | None) -> None:
    """Give all nodes that run the same number of slots, with as few moves as possible."""

    async def work(found: ClusterRegistry) -> None:
        entries = await _entries(found)
        plan = planning.balanced(entries, await found.peers())
        await _begin(found, entries, plan)
        await _follow(found, plan, wait=not no_wait)

    _do(env_file, work)


@click.command("abort")
@click.argument("slots", nargs=-1, metavar="[SLOT]...")
@env_file_option
def abort(slots: tuple[str, ...], env_file: Path | None) -> None:
    """Give slots that are moving back to the nodes that they are moving from: all of them, or those named.

    What is committed stays moved.
    """
    wanted = {slot for text in slots for slot in _slots_of(text)}

    async def work(found: ClusterRegistry) -> None:
        entries = await _entries(found)
        changes: dict[int, tuple[Entry, Entry]] = {}
        for slot, entry in entries.items():
            aborted = moves.abort(entry, entry.move) if entry.move and (not wanted or slot in wanted) else None
            if aborted is not None:
                changes[slot] = (entry, aborted)
        done = await found.replace(changes)
        say(f"{counted(len(done), 'move')} aborted")
        if len(done) < len(changes):
            say(f"{len(changes) - len(done):,} done meanwhile")

    _do(env_file, work)


def _do(env_file: Path | None, work: Callable[[ClusterRegistry], Awaitable[None]]) -> None:
    try:
        run(settings_with_etcd(env_file), work, as_json=False)
    except KeyboardInterrupt:
        say("the moves go on; carrel cluster status counts them, carrel cluster abort ends them", stderr=True)


def _slots_of(text: str) -> range:
    first, _, last = text.partition("-")
    if not first.isdecimal() or not (last or first).isdecimal():
        refuse(f"{text}: must be a slot such as 7, or several such as 0-99")
    found = range(int(first), int(last or first) + 1)
    if not found or found[-1] >= SLOTS:
        refuse(f"{text}: slots are numbered from 0 to {SLOTS - 1}")
    return found


async def _entries(found: ClusterRegistry) -> dict[int, Entry]:
    await found.cluster()
    entries = {slot: entry for slot, entry in (await found.slots()).entries.items() if entry is not None}
    if len(entries) < SLOTS:
        fail(f"the map lacks {counted(SLOTS - len(entries), 'slot')}; bring etcd back from its snapshot")
    return entries


async def _begin(found: ClusterRegistry, entries: Mapping[int, Entry], plan: Mapping[int, str]) -> None:
    """Write into the map what is to move where; nothing if anything is in the way."""
    members, running = await found.members(), await found.peers()
    for node in sorted({*plan.values(), *(entries[slot].node for slot in plan)}):
        if node not in members:
            refuse(f"{node}: is not a node of the cluster; carrel cluster status lists them")
        if node not in running:
            fail(f"{node} does not run, or has no CARREL_NODE_PEER: it neither gives nor takes slots")
    changes: dict[int, tuple[Entry, Entry]] = {}
    for slot, node in plan.items():
        begun = moves.begin(entries[slot], node, secrets.token_hex(8))
        if begun is None:
            _conflict(f"slot {slot} is moving to {entries[slot].to}; wait, or end that with carrel cluster abort")
        changes[slot] = (entries[slot], begun)
    if len(await found.replace(changes)) < len(changes):
        _conflict("somebody else has changed the map meanwhile; look at carrel cluster status and begin again")


def _conflict(words: str) -> NoReturn:
    terminal.end(terminal.EXIT_CONFLICT, words, as_json=False)


async def _follow(found: ClusterRegistry, plan: Mapping[int, str], *, wait: bool) -> None:
    """Tell how far the moves of these slots to these nodes are, until none is under way. Ends with 1 if some stayed."""
    if not plan:
        say("nothing to move")
        return
    told = ""
    while True:
        try:
            entries = (await found.slots()).entries
            present = {slot: entry for slot in plan if (entry := entries.get(slot)) is not None}
            moving = {slot: entry for slot, entry in present.items() if entry.move}
            progress = await found.progress() if moving else {}
        except EtcdUnreachable:
            await asyncio.sleep(_LOOK_SECONDS)
            continue
        moved = sum(entry.node == plan[slot] and not entry.move for slot, entry in present.items())
        words = f"{moved:,} of {counted(len(plan), 'slot')} moved{_furthest(moving, progress)}"
        if words != told:
            say(words)
            told = words
        if not moving and moved < len(plan):
            fail(f"{len(plan) - moved:,} stayed where they were: their moves were ended; begin again")
        if not moving or not wait:
            return
        await asyncio.sleep(_LOOK_SECONDS)


def _furthest(moving: Mapping[int, Entry], progress: Mapping[int, MoveProgress]) -> str:
    for slot, entry in sorted(moving.items()):
        now = progress.get(slot)
        if now is not None and now.move == entry.move:
            size = f", {now.copied_bytes / 1e6:,.1f} MB" if now.copied_bytes else ""
            return f"; slot {slot}: {now.step}{size}" + (f" ({now.refusal})" if now.refusal else "")
    return ""
