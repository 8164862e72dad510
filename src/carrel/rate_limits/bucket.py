"""A token bucket: it fills evenly, and after a quiet minute a minute's worth can be taken at once. Pure.

A call may take more than there is, because its tokens are known only afterwards. That leaves a debt, and the next call
waits until it is gone. No debt lasts longer than an hour, because a server may report any number.
"""

from typing import NamedTuple

_MINUTE = 60.0
_LONGEST_DEBT_MINUTES = 60.0


class Bucket(NamedTuple):
    """`level` is the amount at the time `at`, on a monotonic clock. A negative level is a debt."""

    level: float
    at: float


def full(per_minute: int, now: float) -> Bucket:
    """A full bucket."""
    return Bucket(float(per_minute), now)


def filled(bucket: Bucket, per_minute: int, now: float) -> Bucket:
    """The bucket as it is now. It never holds more than a minute's worth, so a smaller limit takes effect at once."""
    passed = max(0.0, now - bucket.at)
    return Bucket(min(float(per_minute), bucket.level + passed * per_minute / _MINUTE), max(bucket.at, now))


def wait_seconds(bucket: Bucket, per_minute: int, amount: float, now: float) -> float:
    """How long until `amount` can be taken. A full bucket admits even more than a minute's worth."""
    missing = min(amount, float(per_minute)) - filled(bucket, per_minute, now).level
    return max(0.0, missing * _MINUTE / per_minute)


def taken(bucket: Bucket, per_minute: int, amount: float, now: float) -> Bucket:
    """The bucket after taking `amount`. A negative amount is put back."""
    found = filled(bucket, per_minute, now)
    least = -_LONGEST_DEBT_MINUTES * per_minute
    return Bucket(max(least, min(float(per_minute), found.level - amount)), found.at)
