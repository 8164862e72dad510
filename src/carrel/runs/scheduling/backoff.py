"""How long a task waits before the next attempt. Pure.

Exponential backoff with full jitter (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015): the
wait is random between zero and a bound that doubles, so that calls that failed together come back one by one.
"""

import hashlib

_FIRST_SECONDS = 1.0
_LONGEST_SECONDS = 60.0
_ALL = 1 << 64


def wait_seconds(call_id: str, failures: int, retry_after_seconds: float | None) -> float:
    """The wait after the call `call_id`, which was the task's failure of this number, counted from 1.

    The task waits all the time for which the provider asked, and the jitter comes on top. The jitter follows from the
    call's id, which is random, so a transaction that has to run again gets the same wait.
    """
    bound = min(_LONGEST_SECONDS, _FIRST_SECONDS * 2.0 ** min(failures - 1, 16))
    lot = int.from_bytes(hashlib.sha256(call_id.encode()).digest()[:8], "big") / _ALL
    return (retry_after_seconds or 0.0) + lot * bound
