"""Written by `sdk/generate_async.py` from `carrel_sdk.catalogue`. Change that, and run it again."""

from collections.abc import AsyncIterator
from urllib.parse import quote

from carrel_sdk.aio.calls import AsyncCalls
from carrel_sdk.catalogue import Model


class AsyncModels:
    """The routes under `/models`."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def each(self) -> AsyncIterator[Model]:
        """Every model, both generators and judges."""
        return self._calls.each("/models", Model)

    async def get(self, model: str) -> Model:
        """One model by its full name, which may hold slashes."""
        return await self._calls.get(f"/models/{quote(model, safe='/:')}", Model)
