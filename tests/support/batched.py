"""The run engine against strict servers of both batch interfaces."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from carrel.keys import store as keys
from carrel.keys.store import ProviderKeyIn
from carrel.kit.clock import SystemClock
from carrel.providers.catalogue import KNOWN
from carrel.providers.connections.network import Network
from carrel.providers.http_provider import HttpProvider
from carrel.providers.remote import Remote
from tests.support.engine import EngineHarness, engine_harness
from tests.support.models import TestModels
from tests.support.own_hosts import own_hosts
from tests.support.strict_anthropic_batches import AnthropicBatches
from tests.support.strict_openai_batches import OpenAiBatches
from tests.support.strict_servers import KEY, StrictServer, serving

GPT, CLAUDE = "gpt-4o-mini", "claude-3-5-haiku-latest"
MODELS = (f"openai:{GPT}", f"anthropic:{CLAUDE}")
"""Their prices are known."""


class Elsewhere(NamedTuple):
    """A host, and the base URL that names it."""

    host: str

    @property
    def base_url(self) -> str:
        """For a key of OpenAI."""
        return f"http://{self.host}/v1"


class Servers(NamedTuple):
    """Both providers."""

    openai: OpenAiBatches
    anthropic: AnthropicBatches

    @property
    def twice(self) -> list[str]:
        """The calls that were sent in more than one batch."""
        return [*self.openai.shelf.twice, *self.anthropic.shelf.twice]

    @property
    def elsewhere(self) -> "Elsewhere":
        """The first server at another host."""
        return Elsewhere(f"127.0.0.1:{self.openai.port}")

    @property
    def batches(self) -> int:
        """How many batches came."""
        return len(self.openai.shelf.held) + len(self.anthropic.shelf.held)

    def remotes(self, network: Network) -> list[Remote]:
        """What the next process calls them with."""
        rules = (self.openai.host, self.anthropic.host, self.elsewhere.host)
        return [
            HttpProvider(name, KNOWN[name], network, connections=16, rules=rules, clock=SystemClock())
            for name in ("openai", "anthropic")
        ]

    def forget(self) -> None:
        """Begin anew, without batches."""
        for server in self:
            server.shelf.held.clear()
            server.asked.clear()
        self.openai.files.clear()


@asynccontextmanager
async def batch_servers() -> AsyncIterator[Servers]:
    """Both, in place of the providers' own."""
    async with AsyncExitStack() as stack:
        openai = await stack.enter_async_context(serving(OpenAiBatches(GPT), 64 * 1024**2))
        anthropic = await stack.enter_async_context(serving(AnthropicBatches(CLAUDE), 64 * 1024**2))
        stack.enter_context(own_hosts({"openai": openai.base_url, "anthropic": anthropic.base_url}))
        yield Servers(openai, anthropic)


@asynccontextmanager
async def batched(folder: Path, servers: Servers) -> AsyncIterator[EngineHarness]:
    """An engine whose user has a key of each provider."""
    async with engine_harness(folder, TestModels(), servers.remotes) as harness:
        for name, server in zip(("openai", "anthropic"), servers, strict=True):
            await lead_to(harness, server, name)
        yield harness


async def lead_to(harness: EngineHarness, server: StrictServer | Elsewhere, provider: str = "openai") -> None:
    """Store a key that leads to this server."""
    key = ProviderKeyIn(provider=provider, key=KEY, base_url=server.base_url)
    await harness.write(keys.put, key, (server.host,))


ECONOMY: dict[str, Any] = {"models": MODELS, "judges": MODELS, "economy": True, "documents": 3}
"""Three documents: 6 answers, 12 scores, 12 comparisons."""
CALLS = 30
