"""Two nodes, two moves of one slot, and everything that can happen in between: a model that is walked in full.

It calls the product's own rules. Messages stay in flight for ever, so each may arrive late or twice. A node reads the
map at one moment and acts at a later one, and what it believes of the map may be as old as one likes.
"""

from collections.abc import Iterator
from typing import NamedTuple

from carrel.cluster import moves, ownership
from carrel.cluster.ownership import Entry, SlotMark

NODES = ("a", "b")
WRITES = 1
"""So many writes are acknowledged, at any moment; each has a bit in the data of a disk."""


class Op(NamedTuple):
    """What a node is doing with the slot; one thing at a time. `seen` is the entry that it read when it began."""

    kind: str
    move: str
    seen: Entry
    step: int = 0


class Node(NamedTuple):
    mark: SlotMark | None
    data: int
    op: Op | None = None


class Mover(NamedTuple):
    """The operator's command. After a crash it is started again, and knows no more than what the map says."""

    move: str
    to: str
    step: str = "idle"


class State(NamedTuple):
    entry: Entry
    a: Node
    b: Node
    movers: tuple[Mover, Mover]
    messages: frozenset[tuple[str, str]]
    past: frozenset[Entry]
    """Every entry that the map has had."""
    acknowledged: int = 0
    crashes: int = 1
    aborts: int = 1
    restores: int = 1

    def node(self, name: str) -> Node:
        return self.a if name == "a" else self.b

    def with_node(self, name: str, node: Node) -> "State":
        return self._replace(a=node) if name == "a" else self._replace(b=node)

    def with_entry(self, entry: Entry) -> "State":
        return self._replace(entry=entry, past=self.past | {entry})

    def telling(self, *message: str) -> "State":
        return self._replace(messages=self.messages | {(message[0], message[1])})


class Step(NamedTuple):
    """A step that may come next. Faults happen, and nobody can count on one."""

    name: str
    after: State
    is_fault: bool = False


def first() -> State:
    """The slot is with `a`. The disk of `b` is empty."""
    entry = Entry(node="a", copy="c")
    return State(
        entry,
        Node(SlotMark(state="owned", copy="c"), 0),
        Node(None, 0),
        (Mover("m", "b"), Mover("n", "a")),
        frozenset(),
        frozenset({entry}),
    )


def serves(state: State, name: str) -> bool:
    """Whether the node may serve the slot now, if it believes an entry that the map has, or had."""
    node = state.node(name)
    is_draining = node.op is not None and node.op.kind == "release" and node.op.step > 0
    return not is_draining and any(ownership.may_serve(entry, node.mark, name) for entry in state.past)


def fault(state: State) -> str | None:
    """What must never be: two nodes serve, or one that lacks an acknowledged write."""
    serving = [name for name in NODES if serves(state, name)]
    if len(serving) > 1:
        return "two nodes serve the slot"
    if any(state.node(name).data != (1 << state.acknowledged) - 1 for name in serving):
        return "an acknowledged write is lost"
    return None


def is_settled(state: State) -> bool:
    """The slot moves no more, and its node serves it."""
    name = state.entry.node
    return not state.entry.move and ownership.may_serve(state.entry, state.node(name).mark, name)


def steps(state: State) -> Iterator[Step]:
    for name in NODES:
        yield from _node_steps(state, name, state.node(name))
    for number, mover in enumerate(state.movers):
        for what, after, changed in _mover_steps(state, mover):
            movers = (changed, after.movers[1]) if number == 0 else (after.movers[0], changed)
            yield Step(f"{mover.move}: {what}", after._replace(movers=movers), what == "crash")
    if state.aborts:
        for kind, move in state.messages:
            aborted = moves.abort(state.entry, move) if kind == "release" else None
            if aborted is not None:
                yield Step(f"abort {move}", state.with_entry(aborted)._replace(aborts=state.aborts - 1), is_fault=True)


def _mover_steps(state: State, mover: Mover) -> Iterator[tuple[str, State, Mover]]:
    match mover.step:
        case "idle":
            begun = moves.begin(state.entry, mover.to, mover.move)
            if begun is not None:
                yield (
                    "begin",
                    state.with_entry(begun).telling("release", mover.move),
                    mover._replace(step="releasing"),
                )
        case "releasing":
            if ("released", mover.move) in state.messages:
                yield "receive", state.telling("receive", mover.move), mover._replace(step="receiving")
        case "receiving":
            if ("arrived", mover.move) in state.messages:
                committed = moves.commit(state.entry, mover.move)
                if committed is not None:
                    yield "commit", state.with_entry(committed), mover._replace(step="done")
    if state.crashes and mover.step == "receiving":
        yield "crash", state._replace(crashes=state.crashes - 1), mover._replace(step="releasing")


def _node_steps(state: State, name: str, node: Node) -> Iterator[Step]:
    def changed(**fields: object) -> State:
        return state.with_node(name, node._replace(**fields))  # type: ignore[arg-type]  # fields of Node

    if serves(state, name) and state.acknowledged < WRITES:
        after = changed(data=node.data | 1 << state.acknowledged)
        yield Step(f"{name}: write", after._replace(acknowledged=state.acknowledged + 1))
    if state.crashes and node.op is not None:
        restarted = changed(op=None)
        yield Step(f"{name}: crash", restarted._replace(crashes=state.crashes - 1), is_fault=True)
    if state.restores and name == "b":
        # A copy of the disk from before: the slot was here once, and has been elsewhere since.
        older = changed(op=None, mark=SlotMark(state="owned", copy="old"), data=0)
        yield Step(f"{name}: an older disk", older._replace(restores=state.restores - 1), is_fault=True)
    if node.op is not None:
        yield from _op_steps(state, name, node, node.op)
        return
    for kind, move in state.messages:
        if kind in ("release", "receive"):
            yield Step(f"{name}: hears {kind} {move}", changed(op=Op(kind, move, state.entry)))
    if ownership.may_take(state.entry, node.mark, name):
        yield Step(f"{name}: begins to take", changed(op=Op("take", "", state.entry)))
    if moves.may_remove(state.entry, node.mark, name):
        yield Step(f"{name}: begins to remove", changed(op=Op("remove", "", state.entry)))
    if moves.may_discard(state.entry, node.mark):
        yield Step(f"{name}: begins to discard", changed(op=Op("remove", "", state.entry)))


def _op_steps(state: State, name: str, node: Node, op: Op) -> Iterator[Step]:
    def done(**fields: object) -> State:
        return state.with_node(name, node._replace(op=None, **fields))  # type: ignore[arg-type]  # fields of Node

    match op.kind, op.step:
        case "take", _:
            yield Step(f"{name}: takes", done(mark=ownership.taken(op.seen)))
        case "remove", _:
            yield Step(f"{name}: removes", done(mark=None, data=0))
        case "release", _:
            yield from _release_steps(state, name, node, op)
        case "receive", _:
            yield from _receive_steps(state, name, node, op)


def _release_steps(state: State, name: str, node: Node, op: Op) -> Iterator[Step]:
    def done(*message: str, **fields: object) -> State:
        after = state.with_node(name, node._replace(op=None, **fields))  # type: ignore[arg-type]  # fields of Node
        return after.telling(*message) if message else after

    def on(step: int, **fields: object) -> State:
        return state.with_node(name, node._replace(op=op._replace(step=step), **fields))  # type: ignore[arg-type]

    match op.step:
        case 0:
            if moves.is_released(node.mark, op.move):
                yield Step(f"{name}: has released", done("released", op.move))
            elif moves.may_release(op.seen, node.mark, op.move, name):
                yield Step(f"{name}: drains", on(1))
            else:
                yield Step(f"{name}: refuses to release", done())
        case 1:
            yield Step(f"{name}: releases", done("released", op.move, mark=moves.released(op.seen, op.move)))


def _receive_steps(state: State, name: str, node: Node, op: Op) -> Iterator[Step]:
    def done(*message: str, **fields: object) -> State:
        after = state.with_node(name, node._replace(op=None, **fields))  # type: ignore[arg-type]  # fields of Node
        return after.telling(*message) if message else after

    def on(step: int, **fields: object) -> State:
        return state.with_node(name, node._replace(op=op._replace(step=step), **fields))  # type: ignore[arg-type]

    match op.step:
        case 0:
            if moves.may_receive(op.seen, node.mark, op.move, name):
                yield Step(f"{name}: empties its folder", on(1, mark=moves.incoming(op.move), data=0))
            elif moves.is_arrived(node.mark, op.move):
                yield Step(f"{name}: has received", done("arrived", op.move))
            else:
                yield Step(f"{name}: refuses to receive", done())
        case 1:
            source = state.node("b" if name == "a" else "a")
            if moves.is_released(source.mark, op.move):
                yield Step(f"{name}: copies", on(2, data=source.data))
            else:
                yield Step(f"{name}: gets nothing", done())
        case 2:
            yield Step(f"{name}: marks arrived", done("arrived", op.move, mark=moves.arrived(op.move)))
