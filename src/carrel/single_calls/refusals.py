"""Why a single call brought no answer, as the caller of Carrel learns it."""

import math
from collections.abc import Sequence

from carrel.errors import CarrelError, Conflict, FieldError, Unavailable
from carrel.providers.base import FORM_REFUSED, ProviderError
from carrel.rate_limits.limiter import LimitState

_LONGEST_HEADER_SECONDS = 86_400


class RateLimited(CarrelError):
    """Another call would break a limit: the user's own or the provider's."""

    status = 429
    code = "rate-limited"
    detail = "A rate limit of yours for this provider, or the provider's own, is reached; see Retry-After."


class ModelCallFailed(Unavailable):
    """The provider did not answer; the same call may succeed later. `errors` names its code."""

    code = "model-call-failed"
    detail = "The model was called and did not answer; another try may help. See errors."


class FormRefused(ModelCallFailed):
    """The server refuses the form in which the reply was asked for; another call asks in a weaker one."""


class ModelCallRefused(Conflict):
    """The provider will not answer such a call. `errors` names its code."""

    code = "model-call-refused"
    detail = "The model cannot be called like this; see errors."


def rate_limited(wait_seconds: float, standings: Sequence[LimitState]) -> RateLimited:
    """Return the error for a call that would have to wait `wait_seconds`, with the present limits."""
    error = RateLimited(retry_after_seconds=_whole(wait_seconds))
    error.headers = headers(standings, wait_seconds)
    return error


def of_provider(path: str, error: ProviderError, standings: Sequence[LimitState]) -> CarrelError:
    """Return the error for a call that the provider did not answer; `path` is where the request names the model."""
    if error.code == "rate-limited":
        return rate_limited(error.retry_after_seconds or 1.0, standings)
    # The codes are Carrel's own words. The provider's stand by themselves, for the person whose key it is.
    code = FieldError(path, f"the call ended with {error.code}")
    faults = (code, FieldError(path, f"the provider says: {error.said}")) if error.said else (code,)
    if not error.retryable:
        return ModelCallRefused(errors=faults)
    if error.code == FORM_REFUSED:
        return FormRefused(errors=faults)
    wait = error.retry_after_seconds
    return ModelCallFailed(errors=faults, retry_after_seconds=None if wait is None else _whole(wait))


def headers(standings: Sequence[LimitState], wait_seconds: float = 0.0) -> tuple[tuple[bytes, bytes], ...]:
    """`RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11): lists of structured fields."""
    if not standings:
        return ()
    policies, states = [], []
    for one in standings:
        unit = "" if one.unit is None else f';qu="{one.unit}"'
        window = "" if one.window_seconds is None else f";w={one.window_seconds}"
        policies.append(f'"{one.name}";q={one.quota}{unit}{window}')
        wait = one.wait_seconds if math.isfinite(one.wait_seconds) else wait_seconds
        reset = f";t={_whole(wait)}" if wait else ""
        states.append(f'"{one.name}";r={0 if one.wait_seconds else one.left}{reset}')
    return (
        (b"ratelimit-policy", ", ".join(policies).encode("ascii")),
        (b"ratelimit", ", ".join(states).encode("ascii")),
    )


def _whole(seconds: float) -> int:
    return max(1, min(math.ceil(seconds), _LONGEST_HEADER_SECONDS))
