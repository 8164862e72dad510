"""The move of a slot: every order of its steps and of crashes between them, and what each rule is there for."""

from collections.abc import Callable
from typing import Any

import pytest

from carrel.cluster import moves, ownership
from carrel.cluster.ownership import Entry, SlotMark
from tests.cluster import move_model
from tests.cluster.walk import Walk, walk


def walked(*, crashes: int = 0, aborts: int = 0, restores: int = 0) -> Walk[move_model.State]:
    first = move_model.first()._replace(crashes=crashes, aborts=aborts, restores=restores)
    return walk(first, move_model.steps, move_model.fault, move_model.is_settled)


FAULTS = ({"crashes": 3}, {"crashes": 2, "aborts": 2}, {"crashes": 1, "aborts": 1, "restores": 1})


@pytest.mark.parametrize("faults", FAULTS, ids=" and ".join)
def test_whatever_happens_one_node_serves_and_no_acknowledged_write_is_lost(faults: dict[str, int]) -> None:
    found = walked(**faults)
    assert found.fault is None, found.way
    # A disk that was put back is of no use to anybody, and its slot waits for the operator.
    assert [state for state in found.stuck if state.restores or "restores" not in faults] == []
    assert found.states > 5_000


def _serves_by_the_map_alone(entry: Entry | None, mark: SlotMark | None, node: str) -> bool:
    return entry is not None and entry.node == node


def _serves_any_copy(entry: Entry | None, mark: SlotMark | None, node: str) -> bool:
    return entry is not None and mark is not None and entry.node == node and mark.state == "owned"


def _serves_by_the_mark_alone(entry: Entry | None, mark: SlotMark | None, node: str) -> bool:
    return mark is not None and mark.state == "owned"


def _takes_while_a_move_is_under_way(entry: Entry | None, mark: SlotMark | None, node: str) -> bool:
    return entry is not None and mark is not None and entry.node == node and mark.state in ("released", "arrived")


def _takes_what_is_incomplete(entry: Entry | None, mark: SlotMark | None, node: str) -> bool:
    return entry is not None and not entry.move and entry.node == node and mark is not None and mark.copy == entry.copy


def _releases_any_copy(entry: Entry, mark: SlotMark | None, move: str, node: str) -> bool:
    return entry.move == move and entry.node == node


def _releases_without_a_mark(entry: Entry, move: str) -> SlotMark:
    return SlotMark(state="owned", copy=entry.copy)


def _gives_what_still_changes(mark: SlotMark | None, move: str) -> bool:
    return mark is not None


def _receives_at_any_time(entry: Entry, mark: SlotMark | None, move: str, node: str) -> bool:
    return not moves.is_arrived(mark, move)


def _receives_again(entry: Entry, mark: SlotMark | None, move: str, node: str) -> bool:
    return entry.move == move and entry.to == node


def _commits_without_comparing(entry: Entry, move: str) -> Entry:
    return Entry(node="b" if move == "m" else "a", copy=move)


def _aborts_without_comparing(entry: Entry, move: str) -> Entry:
    return Entry(node="a" if move == "m" else "b", copy="c" if move == "m" else "m")


def _removes_what_is_in_force(entry: Entry, mark: SlotMark | None, node: str) -> bool:
    return mark is not None and mark.state == "released"


def _discards_what_may_be_committed(entry: Entry, mark: SlotMark | None) -> bool:
    return mark is not None and mark.state in ("incoming", "arrived")


WEAKENED: list[tuple[Any, str, Callable[..., object], dict[str, int]]] = [
    (ownership, "may_serve", _serves_by_the_map_alone, {"crashes": 1}),
    (ownership, "may_serve", _serves_any_copy, {"restores": 1}),
    (ownership, "may_serve", _serves_by_the_mark_alone, {"restores": 1}),
    (ownership, "may_take", _takes_while_a_move_is_under_way, {}),
    (ownership, "may_take", _takes_what_is_incomplete, {"restores": 1}),
    (moves, "may_release", _releases_any_copy, {"restores": 1}),
    (moves, "released", _releases_without_a_mark, {}),
    (moves, "is_released", _gives_what_still_changes, {"aborts": 1}),
    (moves, "may_receive", _receives_at_any_time, {}),
    (moves, "may_receive", _receives_again, {}),
    (moves, "commit", _commits_without_comparing, {"aborts": 1}),
    (moves, "abort", _aborts_without_comparing, {"aborts": 1}),
    (moves, "may_remove", _removes_what_is_in_force, {"aborts": 1}),
    (moves, "may_discard", _discards_what_may_be_committed, {}),
]


@pytest.mark.parametrize(
    ("module", "rule", "weaker", "faults"), WEAKENED, ids=lambda one: getattr(one, "__name__", None)
)
def test_without_one_of_the_rules_something_goes_wrong(
    module: Any, rule: str, weaker: Callable[..., object], faults: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, rule, weaker)
    found = walked(**faults)
    # Two nodes serve, a write is lost, or the slot stays without an owner.
    assert found.fault is not None or [state for state in found.stuck if state.restores == faults.get("restores", 0)]


def test_a_slot_that_nobody_had_yet_is_taken_with_an_empty_disk_and_later_never_again() -> None:
    fresh, held = Entry(node="a", copy=ownership.FIRST_COPY), Entry(node="a", copy="c")
    assert ownership.may_take(fresh, None, "a")
    assert not ownership.may_take(fresh, None, "b")
    assert not ownership.may_take(held, None, "a")
    assert not ownership.may_take(None, None, "a")
