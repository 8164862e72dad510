"""The states of a run and all allowed transitions between them. Pure."""

from collections.abc import Collection
from typing import Literal, get_args

from carrel.errors import Conflict, FieldError

State = Literal["pending", "running", "paused", "completed", "completed_with_errors", "failed", "cancelled"]
PauseReason = Literal[
    "user",
    "budget",
    "credits",
    "unknown-costs",
    "provider",
    "quota",
    "key-absent",
    "service-stopped",
    "service-restarted",
    "membership",
]
TaskState = Literal["pending", "running", "succeeded", "failed", "skipped", "cancelled"]

STATES: tuple[State, ...] = get_args(State)
ACTIVE: frozenset[State] = frozenset({"running", "paused"})
"""The run was started and has not ended: it may have calls in flight."""
FINISHED: frozenset[State] = frozenset({"completed", "completed_with_errors"})
"""The run has a result."""
ENDED: frozenset[State] = FINISHED | {"failed", "cancelled"}
"""The run stays as it is, unless the user asks for another round or for what failed again."""

Transition = Literal["start", "pause", "resume", "cancel", "retry", "reevaluate", "delete"]
"""The transitions for which a user asks. The engine ends a run by itself."""

_FROM: dict[Transition, frozenset[State]] = {
    "start": frozenset({"pending"}),
    "pause": frozenset({"running"}),
    "resume": frozenset({"paused"}),
    "cancel": ACTIVE | {"pending"},
    "retry": frozenset({"completed_with_errors", "failed"}),
    "reevaluate": ENDED,
    "delete": ENDED | {"pending", "paused"},
}
_BECOMES: dict[Transition, str] = {
    "start": "running",
    "pause": "paused",
    "resume": "running",
    "cancel": "cancelled",
    "retry": "running",
    "reevaluate": "running",
    "delete": "deleted",
}

SKIPPABLE: frozenset[TaskState] = frozenset({"pending", "running", "failed"})


class RunStateConflict(Conflict):
    """The run's state does not allow this; `errors` names the present state and the wanted transition."""

    code = "run-state"
    detail = "The run's state does not allow this."

    def __init__(self, present: State, wanted: str) -> None:
        super().__init__(
            detail=f"A run that is {present} cannot become {wanted}.",
            errors=(FieldError("state", f"is {present}"), FieldError("wanted", wanted)),
        )


class NothingToRetry(Conflict):
    """No task of the run failed: those without a result were skipped."""

    code = "nothing-to-retry"
    detail = "No task of this run failed."


class TaskStateConflict(Conflict):
    """The task's state does not allow skipping it."""

    code = "task-state"
    detail = "Only a task that is pending, running or failed can be skipped."


def allows(transition: Transition, present: State) -> bool:
    """Whether this state allows the transition."""
    return present in _FROM[transition]


def require(transition: Transition, present: State) -> None:
    """Go on only if the state `present` allows `transition`.

    Raises:
        RunStateConflict: it is not.
    """
    if not allows(transition, present):
        raise RunStateConflict(present, _BECOMES[transition])


def in_sql(wanted: Collection[State]) -> str:
    """These states as a list in SQL, for `state IN (…)`."""
    return ", ".join(f"'{state}'" for state in STATES if state in wanted)


def continues_at_login(reason: PauseReason, *, resume_after_restart: bool) -> bool:
    """Whether a paused run continues by itself when its user signs in."""
    if reason in ("key-absent", "provider", "quota"):
        return True
    return reason in ("service-stopped", "service-restarted") and resume_after_restart
