"""The lease of a node: no order of messages, pauses and take-overs lets two processes acknowledge."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from carrel.cluster import lease
from tests.cluster.walk import walk

TTL, MARGIN, DRIFT = 4, 1, 1
"""In ticks. etcd's clock may run ahead by `DRIFT` over the life of a lease."""


class State(NamedTuple):
    """The first process of a node, its lease in etcd, and a second process that may take over. Times are left."""

    own_left: float = TTL - MARGIN
    lease_left: int = TTL
    flight: str = ""
    """Where the keepalive is: `asked`, or `answered`."""
    age: int = 0
    write: str = ""
    term: int = 1
    successor: str = ""
    """`alive` or `gone`, when there has been one."""
    fault: str = ""


class Step(NamedTuple):
    name: str
    after: State
    is_fault: bool = False


def steps(state: State) -> Iterator[Step]:
    yield from _of_the_lease(state)
    yield from _of_a_write(state)
    yield from _of_a_successor(state)


def _of_the_lease(state: State) -> Iterator[Step]:
    # The process does nothing but this for as long as it is paused.
    yield Step(
        "time passes",
        state._replace(
            own_left=max(0, state.own_left - 1),
            lease_left=max(0, state.lease_left - 1),
            age=min(TTL + 1, state.age + 1) if state.flight else 0,
        ),
    )
    match state.flight:
        case "":
            yield Step("the node asks", state._replace(flight="asked", age=0))
        case "asked" if state.lease_left and state.term == 1:
            for left in (TTL, TTL - DRIFT):
                yield Step(f"etcd renews to {left}", state._replace(flight="answered", lease_left=left))
        case "asked":
            yield Step("etcd says that the lease is gone", state._replace(flight="", age=0, own_left=0))
        case "answered":
            until = lease.deadline(-state.age, TTL, MARGIN)
            yield Step("the node hears", state._replace(flight="", age=0, own_left=max(state.own_left, until)))


def _of_a_write(state: State) -> Iterator[Step]:
    valid = lease.is_valid(0, state.own_left)
    if not state.write and valid:
        yield Step("a write begins", state._replace(write="committed"))
    if state.write == "committed":
        lost = "what was acknowledged is on no disk that counts" if state.successor else ""
        if valid:
            yield Step("the write is acknowledged", state._replace(write="", fault=lost))
        yield Step("the connection is closed", state._replace(write=""))


def _of_a_successor(state: State) -> Iterator[Step]:
    valid = lease.is_valid(0, state.own_left)
    if state.lease_left == 0 and not state.successor:
        yield Step("another process takes over", state._replace(term=2, successor="alive", lease_left=TTL))
    if state.successor == "alive":
        yield Step("the other process ends", state._replace(successor="gone", lease_left=0))
    may_resume = not valid and lease.after_loss("1", str(state.term)) == "resume"
    if may_resume and state.lease_left == 0 and state.successor != "alive":
        lost = "it serves without what the other process acknowledged" if state.successor else ""
        yield Step("the node resumes", state._replace(lease_left=TTL, own_left=TTL - MARGIN, fault=lost))


def test_only_one_process_acknowledges_whatever_is_late_or_paused() -> None:
    found = walk(State(), steps, lambda state: state.fault or None)
    assert found.fault is None, found.way
    assert found.states > 300


@pytest.mark.parametrize(
    ("rule", "weaker"),
    [
        ("deadline", lambda sent, ttl, margin: ttl - margin),
        ("deadline", lambda sent, ttl, margin: sent + ttl),
        ("is_valid", lambda now, deadline: True),
        ("after_loss", lambda own_term, term: "resume"),
    ],
    ids=["counted from the answer", "without a margin", "never looked at again", "whatever the term"],
)
def test_without_one_of_the_rules_something_is_lost(
    rule: str, weaker: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, rule, weaker)
    assert walk(State(), steps, lambda state: state.fault or None).fault is not None


def test_the_clock_of_the_lease_counts_on() -> None:
    assert 0 < lease.boottime() <= lease.boottime()
