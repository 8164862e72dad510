"""A token bucket: so much a minute, evenly, and after a quiet minute a minute's worth at once. Pure.

Whoever takes more than there is leaves a debt, which is waited off before the next one goes: a call's tokens are known
only afterwards. No debt takes longer than an hour: a server may say any number.
"""

from typing import NamedTuple

_MINUTE = 60.0
_LONGEST_DEBT_MINUTES = 60.0


class Bucket(NamedTuple):
    """`level` is what was there `at` that time, on a monotonic clock; negative is a debt."""

    level: float
    at: float


def full(per_minute: int, now: float) -> Bucket:
    """One that nobody has taken from for a minute."""
    return Bucket(float(per_minute), now)


def filled(bucket: Bucket, per_minute: int, now: float) -> Bucket:
    """The same now. It never holds more than a minute's worth, so a smaller limit takes effect at once."""
    passed = max(0.0, now - bucket.at)
    return Bucket(min(float(per_minute), bucket.level + passed * per_minute / _MINUTE), max(bucket.at, now))


def wait_seconds(bucket: Bucket, per_minute: int, amount: float, now: float) -> float:
    """How long until `amount` is there. More than a minute's worth is let through a full bucket."""
    missing = min(amount, float(per_minute)) - filled(bucket, per_minute, now).level
    return max(0.0, missing * _MINUTE / per_minute)


def taken(bucket: Bucket, per_minute: int, amount: float, now: float) -> Bucket:
    """After taking `amount`; a negative one puts back."""
    found = filled(bucket, per_minute, now)
    least = -_LONGEST_DEBT_MINUTES * per_minute
    return Bucket(max(least, min(float(per_minute), found.level - amount)), found.at)
