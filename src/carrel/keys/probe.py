"""Tests a stored key with one real call that costs nothing."""

import math

import msgspec

from carrel.errors import CarrelError
from carrel.keys.store import KeyNotFound
from carrel.kit.clock import Clock
from carrel.kit.concurrency.attempts import Attempts
from carrel.providers.base import NOT_LISTED, Access, ProviderError
from carrel.providers.registry import Registry

TESTS_PER_MINUTE = 10
"""Far more than a person needs: every test is a request of ours to a provider."""


class TooManyKeyTests(CarrelError):
    """The user has tested keys as often as allowed."""

    status = 429
    code = "too-many-key-tests"
    detail = "Keys were tested too often; see Retry-After."


class KeyTests:
    """How often each user has tested keys lately."""

    def __init__(self, clock: Clock) -> None:
        self._attempts = Attempts(TESTS_PER_MINUTE, clock)

    def admit(self, user: str) -> None:
        """Count a test.

        Raises:
            TooManyKeyTests: the user has to wait.
        """
        wait_seconds = self._attempts.take(user)
        if wait_seconds:
            raise TooManyKeyTests(retry_after_seconds=math.ceil(wait_seconds))


class KeyTest(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one call with the key: the models that it may call, or the code of the error.

    A server without a list is `ok` with the code `models-not-listed`: its models can be called by their names. `said`
    are the provider's own words.
    """

    ok: bool
    latency_ms: int | None = None
    models: list[str] = []
    code: str | None = None
    said: str | None = None


async def probe(registry: Registry, provider: str, access: Access | None) -> KeyTest:
    """Ask the provider which models the key may call.

    Raises:
        KeyNotFound: there is no key.
    """
    remote = registry.remote(provider)
    if remote is None or access is None:
        raise KeyNotFound
    try:
        offer = await remote.offered(access)
    except ProviderError as error:
        return KeyTest(ok=False, code=error.code, said=error.said or None)
    code = None if offer.is_listed else NOT_LISTED
    return KeyTest(ok=True, latency_ms=offer.latency_ms, models=list(offer.models), code=code)
