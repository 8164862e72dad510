"""What a provider on another machine can do besides answering."""

from typing import Protocol

from carrel.providers.base import Access, ModelInfo, ModelRequest, Offer, Provider
from carrel.providers.batch_client import BatchClient


class Remote(Provider, Protocol):
    """A provider on another machine that is called with a key, and whose models are not known in advance."""

    def named(self, name: str) -> ModelInfo | None:
        """The model of that name, which nobody has verified; `None` if no model can have that name."""
        ...

    def check(self, request: ModelRequest, host: str | None) -> None:
        """Do nothing if the protocol of the model at this host has words for all that was set.

        Raises:
            ProviderError: as a call would, if it has not.
        """
        ...

    async def ready(self) -> None:
        """Do now what the first call would otherwise have to wait for."""
        ...

    def batch_client(self, access: Access) -> BatchClient | None:
        """The provider's batches for this key; `None` if it has none.

        Raises:
            ProviderError: the provider's address is not allowed.
        """
        ...

    async def offered(self, access: Access, *, timeout_seconds: float = 15.0) -> Offer:
        """The models that this key may call, by one call that is free.

        Raises:
            ProviderError: no answer; the code says why.
        """
        ...
