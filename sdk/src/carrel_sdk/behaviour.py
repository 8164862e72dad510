"""What structs of `models` can do: the program that writes those puts these classes before their fields."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from carrel_sdk.models import RunState

FINISHED: Final["frozenset[RunState]"] = frozenset({"completed", "completed_with_errors"})
"""The run has a result."""
ENDED: Final["frozenset[RunState]"] = frozenset({*FINISHED, "failed", "cancelled"})
"""A run leaves these states only by a new round."""


class Hidden:
    """Neither `repr` nor rich's printer shows a field of a struct that holds a secret."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(hidden)"

    def __rich_repr__(self) -> list[tuple[str, str]]:
        return []


class RunStates:
    """What the state of a run means."""

    __slots__ = ()
    state: "RunState"
    pause_reason: str | None

    @property
    def ended(self) -> bool:
        """Nothing more happens to it, unless somebody asks for a new round."""
        return self.state in ENDED

    @property
    def halted(self) -> bool:
        """Nothing happens to it by itself: it has ended, or it is paused and waits for somebody.

        A run that pauses because a provider answers nothing goes on by itself.
        """
        return self.ended or (self.state == "paused" and self.pause_reason != "provider")

    @property
    def has_result(self) -> bool:
        """It ended with a ranking; some of its tasks may have failed."""
        return self.state in FINISHED


class TasksDone:
    """How far a run is."""

    __slots__ = ()
    succeeded: int
    failed: int
    skipped: int
    cancelled: int

    @property
    def done(self) -> int:
        """How many tasks have ended."""
        return self.succeeded + self.failed + self.skipped + self.cancelled
