"""A node's lease in etcd, and the moment up to which the node may rely on it. Pure.

While its lease lives, nobody else becomes this node. The lease ends `ttl` seconds after etcd has heard of the node for
the last time. The node cannot know that moment. It knows when it *sent* the message, which was earlier, on a clock that
nobody sets and that counts the machine's sleep, too. So it stops before the lease can have ended.
"""

import time
from typing import Final, Literal

MARGIN_SECONDS: Final = 1.0
"""For the difference between the clocks of two machines over the life of a lease, and for an answer on its way."""


def boottime() -> float:
    """Seconds since the machine started, its sleep included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def deadline(sent: float, ttl_seconds: float, margin_seconds: float = MARGIN_SECONDS) -> float:
    """Until when the node may act on a lease whose last keepalive was sent at `sent` and was answered."""
    return sent + ttl_seconds - margin_seconds


def is_valid(now: float, deadline: float) -> bool:
    """Whether a request may begin at `now`, and whether what was committed may be acknowledged at `now`."""
    return now < deadline


def after_loss(own_term: str, term: str) -> Literal["resume", "end"]:
    """What a node does whose lease has ended. `term` is the one that etcd has now.

    The term changes with every process that becomes the node. As long as it is the own one, nobody else was this node,
    so the node takes a new lease and goes on with its keys. Otherwise another process has the disk, and this one ends.
    """
    return "resume" if term == own_term else "end"
