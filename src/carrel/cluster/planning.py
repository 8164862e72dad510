"""Which slots go where when a node is to be empty, or when all nodes are to have as many. Pure."""

from collections.abc import Iterable, Mapping

from carrel.cluster.ownership import Entry


def drained(entries: Mapping[int, Entry], node: str, others: Iterable[str]) -> dict[int, str]:
    """A target for each slot of `node`: always the one of the others that has the fewest then."""
    counts = _counts(entries, others)
    plan: dict[int, str] = {}
    for slot, entry in sorted(entries.items()):
        if entry.node == node and not entry.move:
            plan[slot] = min(counts, key=lambda name: (counts[name], name))
            counts[plan[slot]] += 1
    return plan


def balanced(entries: Mapping[int, Entry], nodes: Iterable[str]) -> dict[int, str]:
    """The fewest moves after which no node has more than one slot more than another."""
    counts = _counts(entries, nodes)
    free: dict[str, list[int]] = {name: [] for name in counts}
    for slot, entry in sorted(entries.items(), reverse=True):
        if entry.node in counts and not entry.move:
            free[entry.node].append(slot)
    plan: dict[int, str] = {}
    while counts:
        most = max((name for name in counts if free[name]), key=lambda name: (counts[name], name), default="")
        fewest = min(counts, key=lambda name: (counts[name], name))
        if not most or counts[most] - counts[fewest] <= 1:
            break
        plan[free[most].pop()] = fewest
        counts[most] -= 1
        counts[fewest] += 1
    return dict(sorted(plan.items()))


def _counts(entries: Mapping[int, Entry], nodes: Iterable[str]) -> dict[str, int]:
    """How many slots each node will have when the moves under way are done."""
    there = [entry.to or entry.node for entry in entries.values()]
    return {name: there.count(name) for name in sorted(nodes)}
