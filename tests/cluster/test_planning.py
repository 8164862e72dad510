"""Which slots move when a node is drained, or when all are to have as many."""

from collections import Counter

from carrel.cluster import planning
from carrel.cluster.ownership import Entry


def entries(*nodes: str) -> dict[int, Entry]:
    return {slot: Entry(node=node, copy="c") for slot, node in enumerate(nodes)}


def test_a_drained_nodes_slots_go_to_those_that_have_fewest() -> None:
    plan = planning.drained(entries(*"aaaabbbc"), "a", ["b", "c"])
    assert sorted(plan) == [0, 1, 2, 3]
    assert Counter(plan.values()) == {"c": 3, "b": 1}


def test_what_is_moving_already_is_left_alone_and_counted_where_it_goes() -> None:
    moving = entries(*"aab") | {0: Entry(node="a", copy="c", move="m", to="c")}
    assert planning.drained(moving, "a", ["b", "c"]) == {1: "b"}
    assert planning.balanced(moving, ["a", "b", "c"]) == {}


def test_as_few_slots_move_as_possible_until_all_nodes_have_as_many() -> None:
    plan = planning.balanced(entries(*"aaaaaaabbc"), ["a", "b", "c", "d"])
    assert len(plan) == 4
    assert set(plan) <= set(range(7))
    after = Counter(plan.get(slot, entry.node) for slot, entry in entries(*"aaaaaaabbc").items())
    assert sorted(after.values()) == [2, 2, 3, 3]


def test_the_slots_of_a_node_that_does_not_run_stay_where_they_are() -> None:
    assert planning.balanced(entries(*"aaab"), ["b", "c"]) == {}
    assert planning.balanced({}, []) == {}
