"""A time limit on a whole call: an HTTP client's time-outs are per step, so a slow answer could last for ever."""

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T | None:
    """What `call` returns, or None if it takes longer than `seconds`.

    It runs in a thread, which is left to end by itself when it is late. `call` must not raise and not return None.
    """
    results: list[T] = []
    done = threading.Event()

    def run() -> None:
        try:
            results.append(call())
        finally:
            done.set()

    threading.Thread(target=run, name="carrel-sdk-call", daemon=True).start()
    if not done.wait(seconds):
        return None
    return results[0]
