"""Finds out how many calls at once a provider accepts: additive increase, multiplicative decrease. Pure.

It works like TCP (V. Jacobson, "Congestion Avoidance and Control", 1988): a round of answers adds one to the window, a
refusal for too many calls halves it. Calls that were in flight when the window was halved tell nothing new if they are
refused, too. So an episode of refusals halves it once.
"""

from typing import NamedTuple

_PAUSE_SECONDS = 30.0
"""How long the window does not grow after an error of the provider."""
_SHORTEST_HOLD_SECONDS = 1.0
_LONGEST_HOLD_SECONDS = 60.0
"""How long no call begins after refusals that name no time: longer after each, as long as nothing is answered."""
_COARSE_SECONDS = 8.0
"""Up to here each hold is twice as long as the one before, and then a quarter longer: the longer a limit lasts, the
more time is lost by a step beyond its end."""


class Window(NamedTuple):
    """`size` calls may be in flight. The times are on a monotonic clock.

    Calls begun before `cut_at` belong to the last episode. Nothing is sent before `held_until`, and the window does not
    grow before `steady_until`. `hold_seconds` is how long the last refusal held, 0 once something is answered.
    """

    size: float
    cut_at: float = float("-inf")
    held_until: float = float("-inf")
    steady_until: float = float("-inf")
    hold_seconds: float = 0.0
    refused_at: float = float("-inf")


def open_to(limit: int) -> Window:
    """The window when nothing is known about the provider: as many calls as the limit allows."""
    return Window(float(limit))


def allowed(window: Window, limit: int) -> int:
    """How many calls may be in flight, at least one."""
    return max(1, min(int(window.size), limit))


def held_seconds(window: Window, now: float) -> float:
    """How long no call may begin."""
    return max(0.0, window.held_until - now)


def answered(window: Window, limit: int, now: float) -> Window:
    """A call was answered: a whole window of answers makes the window larger by one."""
    window = window._replace(hold_seconds=0.0)
    if now < window.steady_until:
        return window
    size = min(window.size, float(limit))
    return window._replace(size=min(float(limit), size + 1.0 / size))


def refused(window: Window, limit: int, begun: float, retry_after_seconds: float | None, now: float) -> Window:
    """A call that began at `begun` was refused with 429."""
    # Calls that were in flight together are refused together.
    is_next = begun > window.refused_at
    growth = 1.0 if not is_next else 2.0 if window.hold_seconds < _COARSE_SECONDS else 1.25
    hold = min(max(_SHORTEST_HOLD_SECONDS, window.hold_seconds * growth), _LONGEST_HOLD_SECONDS)
    seconds = hold if retry_after_seconds is None else retry_after_seconds
    if is_next and window.hold_seconds:
        # Whatever the provider says, it has not helped.
        seconds = max(seconds, hold)
    held = window._replace(
        held_until=max(window.held_until, now + seconds),
        hold_seconds=hold,
        refused_at=now if is_next else window.refused_at,
    )
    if begun < window.cut_at:
        return held
    return held._replace(size=max(1.0, min(window.size, float(limit)) / 2.0), cut_at=now)


def troubled(window: Window, retry_after_seconds: float | None, now: float) -> Window:
    """The provider failed with 5xx, which says nothing about how many calls it accepts normally."""
    steady = window._replace(steady_until=max(window.steady_until, now + _PAUSE_SECONDS))
    if retry_after_seconds is None:
        return steady
    return steady._replace(held_until=max(steady.held_until, now + retry_after_seconds))
