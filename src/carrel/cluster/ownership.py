"""Who may serve a slot: what the map in etcd says, and what the mark on the disk says, must agree. Pure.

The map names one node for each slot, and the *copy* of the slot's data that is in force. A copy has the id of the move
that brought it to its disk. The mark lies beside the data and names the copy that the disk holds. So a disk that was
emptied, or that was put back from an older state, is never taken for the one that the map means.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from carrel.config import NODE_NAME

FIRST_COPY: Final = "new"
"""The copy of a slot that no node has had since `carrel cluster init`: only then may a disk without a mark be taken."""


NodeName = Annotated[str, Meta(pattern=rf"\A{NODE_NAME}\Z")]
"""What is read from etcd is checked against these patterns: anybody may have written it."""
Id = Annotated[str, Meta(pattern=r"\A[0-9a-z-]{1,64}\Z")]
"""Of a copy or a move."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A slot in the map: the node whose `copy` is in force, and while it moves, the id of the move and its target."""

    node: NodeName
    copy: Id
    move: Id = ""
    to: NodeName = ""


class SlotMark(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a node's disk says about a slot.

    `owned`: the node serves this copy, or served it when it ended. `released`: nothing writes to this copy any more,
    for the move `move`. `incoming`: the move `copy` is filling the folder. `arrived`: it is complete.
    """

    state: Literal["owned", "released", "incoming", "arrived"]
    copy: str
    move: str = ""


def may_serve(entry: Entry | None, mark: SlotMark | None, node: str) -> bool:
    """Whether `node` may answer requests of this slot's users. A slot that is to move is served until its release."""
    return (
        entry is not None
        and mark is not None
        and entry.node == node
        and mark.state == "owned"
        and mark.copy == entry.copy
    )


def may_take(entry: Entry | None, mark: SlotMark | None, node: str) -> bool:
    """Whether `node` may write the mark `owned` for the copy that `entry` names. `entry` was just read from etcd.

    A copy that has arrived is taken after the commit of its move. One that was released is taken back after the move
    was aborted. A slot without any mark is taken only if no node has had it yet.
    """
    if entry is None or entry.node != node or entry.move:
        return False
    if mark is None:
        return entry.copy == FIRST_COPY
    return mark.copy == entry.copy and mark.state in ("released", "arrived")


def taken(entry: Entry, fresh: str = FIRST_COPY) -> SlotMark:
    """The mark of a node that serves the slot from now on. The first copy gets the id `fresh`."""
    return SlotMark(state="owned", copy=fresh if entry.copy == FIRST_COPY else entry.copy)


def claimed(entry: Entry, mark: SlotMark | None, node: str) -> Entry | None:
    """The entry that names the first copy by the id that its mark has; `None` if there is nothing to claim.

    The mark comes first: after a crash between the two, the node claims what it marked.
    """
    is_first = entry.node == node and entry.copy == FIRST_COPY and not entry.move
    if not is_first or mark is None or mark.state != "owned":
        return None
    return msgspec.structs.replace(entry, copy=mark.copy)
