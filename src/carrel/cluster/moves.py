"""The move of a slot from one node to another: rules on its entry in the map and on the marks of two disks. Pure.

1. The operator's command writes `begin` into the map.
2. The target marks `incoming`, and copies the files for the first time, while the source still serves.
3. The source ends the work of the slot's users and marks its copy `released`: nothing writes to it any more.
4. The target copies what has changed, and marks `arrived`.
5. The target writes `commit` into the map. From then on it may take the slot, and no other node may.
6. The source removes its copy.

Every step may be repeated. The map changes by compare-and-swap only: a change holds if the entry is still the one that
it was made from. Until the commit, `abort` gives the slot back to the source, and the target discards its copy.
`tests/cluster/test_moves.py` walks every order of these steps with crashes between them, and shows for each rule what
goes wrong without it.
"""

import msgspec

from carrel.cluster.ownership import Entry, SlotMark


def begin(entry: Entry, to: str, move: str) -> Entry | None:
    """The entry of a slot that begins to move; `None` if it is there already, or another move is under way.

    `move` is a fresh random id.
    """
    if entry.move or entry.node == to:
        return None
    return msgspec.structs.replace(entry, move=move, to=to)


def commit(entry: Entry, move: str) -> Entry | None:
    """The entry after the move; `None` if that move is not under way. Both nodes have said that their step is done."""
    if entry.move != move:
        return None
    return Entry(node=entry.to, copy=move)


def abort(entry: Entry, move: str) -> Entry | None:
    """The entry with the source's copy in force as before; `None` if that move is not under way."""
    if entry.move != move:
        return None
    return Entry(node=entry.node, copy=entry.copy)


def may_release(entry: Entry, mark: SlotMark | None, move: str, node: str) -> bool:
    """Whether the source may release its copy for this move. `entry` was read a moment ago, from etcd.

    A disk that does not hold the whole copy in force has nothing to give away.
    """
    is_whole = mark is not None and mark.copy == entry.copy and mark.state != "incoming"
    return entry.move == move and entry.node == node and is_whole


def released(entry: Entry, move: str) -> SlotMark:
    """The source's mark when nothing writes to its copy any more."""
    return SlotMark(state="released", copy=entry.copy, move=move)


def is_released(mark: SlotMark | None, move: str) -> bool:
    """Whether the source's files may be copied for this move: they no longer change."""
    return mark is not None and mark.state == "released" and mark.move == move


def may_receive(entry: Entry, mark: SlotMark | None, move: str, node: str) -> bool:
    """Whether the target may empty its folder and fill it. `entry` was read a moment ago, from etcd.

    Not if the copy has arrived: another command may commit it at any time.
    """
    return entry.move == move and entry.to == node and not is_arrived(mark, move)


def incoming(move: str) -> SlotMark:
    """The target's mark while its folder is being filled."""
    return SlotMark(state="incoming", copy=move)


def arrived(move: str) -> SlotMark:
    """The target's mark when every file is there and durable."""
    return SlotMark(state="arrived", copy=move)


def is_arrived(mark: SlotMark | None, move: str) -> bool:
    """Whether the target has the whole copy."""
    return mark is not None and mark.state == "arrived" and mark.copy == move


def may_remove(entry: Entry, mark: SlotMark | None, node: str) -> bool:
    """Whether the source may remove its copy: another node has a later one in force. `entry` was read a moment ago."""
    return mark is not None and mark.state == "released" and entry.node != node and entry.copy != mark.copy


def may_discard(entry: Entry, mark: SlotMark | None) -> bool:
    """Whether a copy that was brought here may go: its move was aborted, and nobody can commit it any more.

    `entry` was read a moment ago.
    """
    return mark is not None and mark.state in ("incoming", "arrived") and mark.copy not in (entry.copy, entry.move)
