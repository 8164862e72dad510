"""Decides when a user may call a provider: the current limits of every user at every provider in this process.

Owned by the event loop. What was learned about a provider is kept in memory only and learned again after a restart.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from carrel.kit.clock import Clock
from carrel.providers.base import ProviderError
from carrel.providers.registry import provider_of
from carrel.rate_limits import adaptive, bucket
from carrel.rate_limits.adaptive import Window
from carrel.rate_limits.bucket import Bucket
from carrel.rate_limits.schemas import RateLimit, RateLimitIn

_FIRST_TOKENS = 1_000.0
"""The assumed tokens of a call as long as no call has ended."""
_LEARNING = 0.2
"""The weight of the latest call in the assumed tokens of the next one."""
_MOST_TOKENS = 2_000_000
"""The most tokens that are assumed for a call, whatever a server reported for the latest one."""
_TOO_FAST = "rate-limited"
DOWN = frozenset({"provider-overloaded", "provider-unreachable"})
"""Failures that say that the provider does not work, if it answers no other call meanwhile."""
_TROUBLES = frozenset({"provider-overloaded", "provider-timeout"})
_MINUTE = 60
_MOST_LANES = 1_000
"""Of one user at one provider. Names of models may be anything."""


class LimitState(NamedTuple):
    """One limit now: `left` of `quota`, per `window_seconds` if it is a rate; more is free in `wait_seconds`."""

    name: str
    unit: str | None
    quota: int
    window_seconds: int | None
    left: int
    wait_seconds: float


@dataclass
class _Lane:
    """One user in one lane of a provider: see `registry.lane_of`.

    There is no `window` until a call has ended. `silent_since` is when the first one failed after the last answer.
    """

    window: Window | None = None
    in_flight: int = 0
    silent_since: float | None = None
    answered_at: float = -math.inf

    def heard(self, now: float) -> None:
        """The provider is there."""
        self.answered_at, self.silent_since = now, None


class _ProviderLimits:
    """One user at one provider. `reserved` are the assumed tokens of all calls in flight."""

    def __init__(self, limits: RateLimitIn, now: float) -> None:
        self.limits = limits
        self.lanes: dict[str, _Lane] = {}
        self.requests = _bucket(None, limits.requests_per_minute, now)
        self.tokens = _bucket(None, limits.tokens_per_minute, now)
        self.reserved = 0.0
        self.expected = _FIRST_TOKENS

    def set(self, limits: RateLimitIn, now: float) -> None:
        """Change the limits. Used tokens stay counted. The window stays, unless more calls at once are allowed."""
        if limits.concurrency > self.limits.concurrency:
            for lane in self.lanes.values():
                if lane.window is not None:
                    lane.window = lane.window._replace(size=float(limits.concurrency))
        self.limits = limits
        self.requests = _bucket(self.requests, limits.requests_per_minute, now)
        self.tokens = _bucket(self.tokens, limits.tokens_per_minute, now)

    @property
    def in_flight(self) -> int:
        """Calls in all lanes."""
        return sum(lane.in_flight for lane in self.lanes.values())

    def lane(self, name: str) -> _Lane:
        """The lane, of which something is to be noted. Of very many, those without a call in flight are forgotten."""
        if name not in self.lanes:
            if len(self.lanes) >= _MOST_LANES:
                self.lanes = {other: lane for other, lane in self.lanes.items() if lane.in_flight}
            self.lanes[name] = _Lane()
        return self.lanes[name]

    def window(self, name: str) -> Window:
        """What is known of the lane."""
        lane = self.lanes.get(name)
        return (lane and lane.window) or adaptive.open_to(self.limits.concurrency)

    def take_tokens(self, amount: float, now: float) -> None:
        """Count tokens that were used. A negative number is put back."""
        if self.tokens is not None and self.limits.tokens_per_minute is not None:
            self.tokens = bucket.taken(self.tokens, self.limits.tokens_per_minute, amount, now)

    def standings(self, lane: str, now: float) -> list[LimitState]:
        """Every limit of the lane now, first those that become free with time."""
        limits = self.limits
        found = []
        if self.requests is not None and limits.requests_per_minute is not None:
            found.append(_standing("requests", None, self.requests, limits.requests_per_minute, 1.0, now))
        if self.tokens is not None and limits.tokens_per_minute is not None:
            found.append(_standing("tokens", "tokens", self.tokens, limits.tokens_per_minute, self.expected, now))
        window, known = self.window(lane), self.lanes.get(lane)
        ours = 0 if known is None else known.in_flight
        allowed = adaptive.allowed(window, limits.concurrency)
        held = adaptive.held_seconds(window, now)
        free = max(0, min(allowed - ours, limits.concurrency - self.in_flight))
        wait = held if free else math.inf
        found.append(LimitState("concurrency", "concurrent-requests", allowed, None, 0 if held else free, wait))
        return found

    def wait_seconds(self, lane: str, now: float) -> float:
        """How long until a call may begin; infinite if another call has to end first."""
        return max(one.wait_seconds for one in self.standings(lane, now))


class Limiter:
    """`defaults` apply where a user has set nothing. A provider without defaults has no limits.

    A *lane* is a provider, or one model of a provider that limits each by itself.

    Listeners are called with the user and the provider when more calls may be possible than before.
    """

    def __init__(self, clock: Clock, defaults: Mapping[str, RateLimitIn]) -> None:
        self._listeners: list[Callable[[str, str], None]] = []
        self._clock = clock
        self._defaults = defaults
        self._own: dict[str, dict[str, RateLimitIn]] = {}
        self._by_provider: dict[tuple[str, str], _ProviderLimits] = {}

    def subscribe(self, listener: Callable[[str, str], None]) -> None:
        """Call `listener` from now on."""
        self._listeners.append(listener)

    # What users set -------------------------------------------------------------------------------------------------

    def learn(self, user: str, own: Mapping[str, RateLimitIn]) -> None:
        """Take over all the limits that the user has set."""
        before = self._own.pop(user, {})
        for provider in {*before, *own}:
            self.set(user, provider, own.get(provider))

    def set(self, user: str, provider: str, limits: RateLimitIn | None) -> None:
        """Apply these limits from now on; `None` means the defaults."""
        mine = self._own.setdefault(user, {})
        if limits is None:
            mine.pop(provider, None)
        else:
            mine[provider] = limits
        found = self._by_provider.get((user, provider))
        if found is not None:
            found.set(limits or self._defaults.get(provider, found.limits), self._clock.monotonic())
        for listener in self._listeners:
            listener(user, provider)

    def forget(self, user: str) -> None:
        """Forget the user's limits, because the key leaves memory. No call is in flight any more."""
        self._own.pop(user, None)
        for key in [key for key in self._by_provider if key[0] == user]:
            del self._by_provider[key]

    # What calls ask and tell ----------------------------------------------------------------------------------------

    def wait_seconds(self, user: str, lane: str) -> float:
        """How long until the user may begin a call in the lane; infinite if another call has to end first."""
        found = self._limits_of(user, lane)
        return 0.0 if found is None else found.wait_seconds(lane, self._clock.monotonic())

    def held_seconds(self, user: str, lane: str) -> float:
        """How long the provider itself refuses this user's calls."""
        found = self._limits_of(user, lane)
        return 0.0 if found is None else adaptive.held_seconds(found.window(lane), self._clock.monotonic())

    def silent_seconds(self, user: str, lane: str, begun: float) -> float | None:
        """How long every call in the lane has failed, because the provider does not work.

        `None` if one was answered since the time `begun` (monotonic), or it never failed so.
        """
        found = self._by_provider.get((user, provider_of(lane)))
        known = None if found is None else found.lanes.get(lane)
        if known is None or known.silent_since is None or known.answered_at > begun:
            return None
        return self._clock.monotonic() - known.silent_since

    def standings(self, user: str, lane: str) -> list[LimitState]:
        """Every limit of the user in the lane, as it is now."""
        found = self._limits_of(user, lane)
        return [] if found is None else found.standings(lane, self._clock.monotonic())

    def take(self, user: str, lane: str) -> None:
        """A call may begin, and is counted as begun."""
        found = self._limits_of(user, lane)
        if found is None:
            return
        now = self._clock.monotonic()
        found.lane(lane).in_flight += 1
        if found.requests is not None and found.limits.requests_per_minute is not None:
            found.requests = bucket.taken(found.requests, found.limits.requests_per_minute, 1.0, now)
        found.reserved += found.expected
        found.take_tokens(found.expected, now)

    def release(self, user: str, lane: str, *, used: bool) -> None:
        """The call is over, or was never made."""
        found = self._by_provider.get((user, provider_of(lane)))
        known = None if found is None else found.lanes.get(lane)
        if found is None or known is None or not known.in_flight:
            # There are no limits, or the user's key has left memory meanwhile.
            return
        now = self._clock.monotonic()
        share = found.reserved / found.in_flight
        known.in_flight -= 1
        found.reserved -= share
        found.take_tokens(-share, now)
        if not used and found.requests is not None and found.limits.requests_per_minute is not None:
            found.requests = bucket.taken(found.requests, found.limits.requests_per_minute, -1.0, now)

    def answered(self, user: str, lane: str, tokens: int | None) -> None:
        """Note that a call in flight was answered; `None`: its tokens are unknown. Call this before the release."""
        found = self._by_provider.get((user, provider_of(lane)))
        if found is None:
            return
        now = self._clock.monotonic()
        known = found.lane(lane)
        known.window = adaptive.answered(found.window(lane), found.limits.concurrency, now)
        known.heard(now)
        found.take_tokens(found.expected if tokens is None else float(tokens), now)
        if tokens is not None:
            found.expected += _LEARNING * (min(tokens, _MOST_TOKENS) - found.expected)

    def failed(self, user: str, lane: str, error: ProviderError, begun: float) -> None:
        """Note that a call that began at `begun` (monotonic) was not answered. Call this before the release."""
        found = self._by_provider.get((user, provider_of(lane)))
        if found is None:
            return
        now, wait = self._clock.monotonic(), error.retry_after_seconds
        known, window = found.lane(lane), found.window(lane)
        if error.code == _TOO_FAST:
            known.window = adaptive.refused(window, found.limits.concurrency, begun, wait, now)
        elif error.code in _TROUBLES:
            known.window = adaptive.troubled(window, wait, now)
        if error.code in DOWN:
            known.silent_since = now if known.silent_since is None else known.silent_since
        elif not error.retryable or error.code == _TOO_FAST:
            # Whoever refuses is there.
            known.heard(now)

    # What is shown --------------------------------------------------------------------------------------------------

    def shown(self, user: str, provider: str) -> RateLimit:
        """A provider's limits and their current state. The provider must have limits."""
        own = self._own.get(user, {}).get(provider)
        limits = own or self._defaults[provider]
        now = self._clock.monotonic()
        found = self._by_provider.get((user, provider)) or _ProviderLimits(limits, now)
        waits = [one.wait_seconds for one in found.standings(provider, now) if one.window_seconds is not None]
        known = [lane.window for lane in found.lanes.values() if lane.window is not None]
        windows = known or [adaptive.open_to(limits.concurrency)]
        return RateLimit(
            provider=provider,
            requests_per_minute=limits.requests_per_minute,
            tokens_per_minute=limits.tokens_per_minute,
            concurrency=limits.concurrency,
            is_default=own is None,
            concurrency_now=min(adaptive.allowed(window, limits.concurrency) for window in windows),
            in_flight=found.in_flight,
            wait_seconds=round(max(min(adaptive.held_seconds(window, now) for window in windows), *waits, 0.0), 3),
        )

    def _limits_of(self, user: str, lane: str) -> _ProviderLimits | None:
        provider = provider_of(lane)
        found = self._by_provider.get((user, provider))
        if found is None:
            limits = self._own.get(user, {}).get(provider) or self._defaults.get(provider)
            if limits is None:
                return None
            found = self._by_provider[user, provider] = _ProviderLimits(limits, self._clock.monotonic())
        return found


def _bucket(before: Bucket | None, per_minute: int | None, now: float) -> Bucket | None:
    if per_minute is None:
        return None
    return bucket.full(per_minute, now) if before is None else bucket.filled(before, per_minute, now)


def _standing(name: str, unit: str | None, at: Bucket, quota: int, amount: float, now: float) -> LimitState:
    left = max(0, int(bucket.filled(at, quota, now).level))
    return LimitState(name, unit, quota, _MINUTE, left, bucket.wait_seconds(at, quota, amount, now))
