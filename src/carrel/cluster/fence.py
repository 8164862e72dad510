"""What this process may serve now. Asked when a request begins, and again before each piece of its answer."""

from collections.abc import Callable
from typing import Final

from carrel.accounts.slots import NOBODY, slot_of
from carrel.cluster import lease
from carrel.cluster.refusals import NodeSuspended, SlotMoving, SlotUnavailable, WrongNode
from carrel.errors import CarrelError

_OPEN: Final = ("/api/health", "/api/metrics", "/api/docs", "/api/openapi.json", "/api/receipt-keys")
"""What belongs to the process, and to no user."""
_NOTHING_DONE: Final = frozenset({WrongNode.code, SlotMoving.code, SlotUnavailable.code, NodeSuspended.code})


class Fence:
    """Closed until the node has its lease. Owned by the event loop.

    Unless `is_enforced`, only the slots count: for volumes that a machine loses before another one gets them.
    """

    def __init__(self, *, is_enforced: bool = True, now: Callable[[], float] = lease.boottime) -> None:
        self.deadline = 0.0
        self.serving: frozenset[int] = frozenset()
        self.leaving: frozenset[int] = frozenset()
        """Slots of `serving` that are being released for a move: what has begun may end, and nothing else begins."""
        self.moving: frozenset[int] = frozenset()
        """Slots that were released, or have arrived: in a moment one of the two nodes serves them."""
        self.lacking: frozenset[int] = frozenset()
        """Slots that the map gives to this node, and whose data the disk does not hold."""
        self.refused = self.unanswered = self.misdirected = 0
        self._is_enforced = is_enforced
        self._now = now

    @property
    def is_open(self) -> bool:
        """Whether the node may rely on its lease now."""
        return not self._is_enforced or lease.is_valid(self._now(), self.deadline)

    def refusal(self, path: str) -> CarrelError | None:
        """Why a request may not begin now."""
        if self.is_open or not _is_covered(path):
            return None
        self.refused += 1
        return NodeSuspended()

    def require(self, uuid: str) -> None:
        """Refuse a user whom this node does not serve.

        Raises:
            WrongNode: 421.
            SlotMoving, SlotUnavailable: 503.
        """
        if uuid == NOBODY:
            return
        slot = slot_of(uuid)
        if slot in self.serving and slot not in self.leaving:
            return
        if slot in self.leaving or slot in self.moving:
            raise SlotMoving
        self.misdirected += 1
        raise SlotUnavailable if slot in self.lacking else WrongNode

    def may_answer(self, path: str, user: str, code: str) -> bool:
        """Whether an answer may leave now: what was committed or read is still in force.

        `user` is the one whom it is about, `code` an error's; either may be empty. The refusals of this module may
        always leave, because nothing was done.
        """
        if code in _NOTHING_DONE or not _is_covered(path):
            return True
        if self.is_open and (not user or slot_of(user) in self.serving):
            return True
        self.unanswered += 1
        return False


def _is_covered(path: str) -> bool:
    return path.startswith("/api/") and not path.startswith(_OPEN)
