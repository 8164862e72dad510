"""What goes over the wire about rate limits."""

from typing import Annotated

import msgspec
from msgspec import Meta

from carrel.http.requests.schema import In

Requests = Annotated[int, Meta(ge=1, le=1_000_000)]
Tokens = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Concurrency = Annotated[int, Meta(ge=1, le=2_000)]


class RateLimitIn(In, frozen=True):
    """How fast one provider may be called. Null or a missing field means no limit; `concurrency` is calls at once."""

    requests_per_minute: Requests | None = None
    tokens_per_minute: Tokens | None = None
    concurrency: Concurrency = 64


class RateLimit(msgspec.Struct, frozen=True, kw_only=True):
    """How fast a provider may be called; `is_default` until the user sets other limits.

    `concurrency_now` is how many calls at once the provider has accepted: it is halved when the provider refuses calls
    as too many, and grows again up to `concurrency`. `in_flight` counts the current calls; `wait_seconds` is how long
    no call may begin.
    """

    provider: str
    requests_per_minute: int | None
    tokens_per_minute: int | None
    concurrency: int
    is_default: bool
    concurrency_now: int
    in_flight: int
    wait_seconds: float


class RateLimits(msgspec.Struct, frozen=True):
    """Every provider, by name."""

    items: list[RateLimit]
