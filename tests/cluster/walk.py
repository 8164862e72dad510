"""Walks every state of a model, breadth first, and tells the shortest way to a fault."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, NamedTuple, Protocol, TypeVar

S = TypeVar("S", bound=Hashable)
S_co = TypeVar("S_co", bound=Hashable, covariant=True)


class AnyStep(Protocol[S_co]):
    """A step of a model: its name, the state after it, and whether it is a fault that nobody can count on."""

    @property
    def name(self) -> str: ...
    @property
    def after(self) -> S_co: ...
    @property
    def is_fault(self) -> bool: ...


class Walk(NamedTuple, Generic[S]):
    """How many states there are, the shortest way to a fault, and the states from which there is no way on."""

    states: int
    fault: str | None
    way: list[str]
    stuck: list[S]


def walk(
    first: S,
    steps: Callable[[S], Iterable[AnyStep[S]]],
    fault: Callable[[S], str | None],
    is_settled: Callable[[S], bool] | None = None,
) -> Walk[S]:
    """Every state that can be reached; with `is_settled`, also those from which only faults lead to the goal."""
    came: dict[S, tuple[S, str] | None] = {first: None}
    before: dict[S, list[S]] = {}
    waiting = deque([first])
    while waiting:
        state = waiting.popleft()
        found = fault(state)
        if found is not None:
            return Walk(len(came), found, _way(came, state), [])
        for step in steps(state):
            if not step.is_fault:
                before.setdefault(step.after, []).append(state)
            if step.after not in came:
                came[step.after] = (state, step.name)
                waiting.append(step.after)
    return Walk(len(came), None, [], [] if is_settled is None else _stuck(came, before, is_settled))


def _way(came: dict[S, tuple[S, str] | None], state: S) -> list[str]:
    way: list[str] = []
    link = came[state]
    while link is not None:
        state, name = link
        way.append(name)
        link = came[state]
    return way[::-1]


def _stuck(came: Iterable[S], before: dict[S, list[S]], is_settled: Callable[[S], bool]) -> list[S]:
    good = {state for state in came if is_settled(state)}
    waiting = list(good)
    while waiting:
        for earlier in before.get(waiting.pop(), ()):
            if earlier not in good:
                good.add(earlier)
                waiting.append(earlier)
    return [state for state in came if state not in good]
