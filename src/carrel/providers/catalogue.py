"""The providers that Carrel knows by name, with their differences as data."""

import re
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from carrel.providers.batches import BatchApi
from carrel.providers.credentials import aws
from carrel.providers.credentials.entra import EntraApplication
from carrel.providers.credentials.service_account import ServiceAccount
from carrel.providers.credentials.trade import KeyTrade
from carrel.providers.protocols.anthropic_batches import AnthropicBatches
from carrel.providers.protocols.anthropic_messages import MessagesWire
from carrel.providers.protocols.bedrock_converse import ConverseWire
from carrel.providers.protocols.google_generate import GenerateWire
from carrel.providers.protocols.openai_batches import OpenAiBatches
from carrel.providers.protocols.openai_chat import ChatWire
from carrel.providers.protocols.openai_responses import ResponsesWire
from carrel.providers.protocols.openai_wire import Dialect
from carrel.providers.protocols.vertex import VertexMessagesWire, VertexWire
from carrel.providers.protocols.wire import Wire

_OPENAI = Dialect(output_limit="max_completion_tokens", most_stops=4)
_OPEN = Dialect(top_k="top_k")
"""Servers of many models, which take what those models take."""


class SecondProtocol(NamedTuple):
    """Another protocol of a provider, for the models that do not answer in the first.

    At the provider's own host `only_here` finds them by their names, and where a model may search the web it is asked
    here, too, unless `never_here` finds it. Elsewhere, and for other models, the server's word decides. `anywhere`: the
    names hold at every host.
    """

    wire: Wire
    only_here: re.Pattern[str]
    never_here: re.Pattern[str]
    anywhere: bool = False


class KnownProvider(NamedTuple):
    """A provider for which a user can store a key. `base_url` is its address unless the key names another.

    `price_list` is its name in the price list; `None` where nobody publishes prices. `maker`: the provider made its
    models itself, unless their names say otherwise. `own`: it is a user's own server, and it has so few models that
    Carrel can list them all. `batches` is how it takes many calls at half the price, if it does. What the
    provider publishes holds at `own_hosts`, too. `tells_cost`: each answer says what it cost, in dollars.
    `limits_each`: which models have a rate limit each by itself. `trade` is how keys are traded for tokens, and `sign`
    how they sign the method, the URL and the body of a request.
    """

    title: str
    wire: Wire
    base_url: str | None
    price_list: str | None = None
    maker: bool = False
    own: bool = False
    batches: BatchApi | None = None
    own_hosts: re.Pattern[str] | None = None
    tells_cost: bool = False
    second: SecondProtocol | None = None
    limits_each: Literal["none", "free", "all"] = "none"
    trade: KeyTrade | None = None
    sign: Callable[[str, str, str, bytes], dict[str, str] | None] | None = None

    def wire_of(self, base: str | None, model: str, *, is_moved: bool = False, searches: bool = False) -> Wire:
        """The protocol in which a model is asked at this address; `is_moved`: the server has named the second one."""
        if self.second is None or base is None:
            return self.wire
        is_here = base == self.base_url or self.second.anywhere
        is_named = (searches and not self.second.never_here.search(model)) or self.second.only_here.search(model)
        return self.second.wire if is_moved or (is_here and is_named) else self.wire


_RESPONSES = SecondProtocol(
    ResponsesWire(),
    only_here=re.compile(r"(^|-)(pro|codex|deep-research|computer-use)(-|$)"),
    never_here=re.compile(r"-search-"),
)

KNOWN: dict[str, KnownProvider] = {
    "anthropic": KnownProvider(
        "Anthropic",
        MessagesWire(),
        "https://api.anthropic.com",
        "anthropic",
        maker=True,
        batches=AnthropicBatches(),
    ),
    "azure": KnownProvider(
        "Azure OpenAI",
        ChatWire(_OPENAI._replace(key_header="api-key", key_prefix="", deployment_version="2024-10-21")),
        None,
        "azure",
        second=_RESPONSES,
        own_hosts=re.compile(r".+\.(openai|cognitiveservices|services\.ai)\.azure\.com"),
        trade=EntraApplication(),
    ),
    "bedrock": KnownProvider(
        "Amazon Bedrock",
        ConverseWire(),
        None,
        "aws",
        # Elsewhere other prices hold.
        own_hosts=re.compile(r"bedrock-runtime(-fips)?\.us-(east-1|west-2)\.amazonaws\.com"),
        sign=aws.signed,
    ),
    "compatible": KnownProvider(
        "Another server that is OpenAI-compatible", ChatWire(_OPEN), None, own=True, second=_RESPONSES
    ),
    "deepseek": KnownProvider(
        "DeepSeek",
        ChatWire(Dialect(seed=None, verbosity=None, forms=("json_object", "words"))),
        "https://api.deepseek.com",
        "deepseek",
        maker=True,
    ),
    "google": KnownProvider(
        "Google", GenerateWire(), "https://generativelanguage.googleapis.com", "google", maker=True, limits_each="all"
    ),
    "groq": KnownProvider(
        "Groq", ChatWire(_OPENAI._replace(verbosity=None)), "https://api.groq.com/openai/v1", "groq", limits_each="all"
    ),
    "mistral": KnownProvider(
        "Mistral",
        ChatWire(
            Dialect(seed="random_seed", stream_options=False, verbosity=None, efforts=frozenset({"none", "high"}))
        ),
        "https://api.mistral.ai/v1",
        "mistral",
        maker=True,
    ),
    "ollama": KnownProvider("Ollama", ChatWire(), None, own=True),
    "openai": KnownProvider(
        "OpenAI",
        ChatWire(_OPENAI._replace(web_search="web_search_options")),
        "https://api.openai.com/v1",
        "openai",
        maker=True,
        batches=OpenAiBatches(),
        second=_RESPONSES,
    ),
    "openrouter": KnownProvider(
        "OpenRouter",
        ChatWire(_OPEN._replace(web_search="openrouter:web_search", thinking_budget="reasoning")),
        "https://openrouter.ai/api/v1",
        "openrouter",
        tells_cost=True,
        limits_each="free",
    ),
    "vertex": KnownProvider(
        "Google Vertex AI",
        VertexWire(),
        "https://aiplatform.googleapis.com",
        "google",
        maker=True,
        second=SecondProtocol(VertexMessagesWire(), re.compile("^claude"), re.compile(""), anywhere=True),
        limits_each="all",
        trade=ServiceAccount(),
    ),
    "vllm": KnownProvider("vLLM", ChatWire(_OPEN), None, own=True),
    "xai": KnownProvider("xAI", ChatWire(_OPENAI._replace(verbosity=None)), "https://api.x.ai/v1", "x-ai", maker=True),
}
"""Providers without a `base_url` run where the user says, so their keys need one."""

OF_ANY_NAME: Final = "compatible"
"""What servers of users' own are that have names of their own."""
_NAME = re.compile(r"[a-z][a-z0-9-]{0,38}[a-z0-9]")
_TAKEN: Final = frozenset({"local", "human"})


def find(provider: str) -> KnownProvider | None:
    """The provider of this name. A name that is nobody else's may be that of a server of a user's own."""
    return KNOWN.get(provider) or (KNOWN[OF_ANY_NAME] if is_own_name(provider) else None)


def is_own_name(provider: str) -> bool:
    """Whether a server of a user's own can have this name."""
    return provider not in KNOWN and provider not in _TAKEN and _NAME.fullmatch(provider) is not None


SEARCHING: frozenset[str] = frozenset({"anthropic", "google", "openai", "openrouter"})
"""The providers whose models can search the web by a tool of the provider."""


def has_batches(provider: str) -> bool:
    """Whether the provider takes many calls at half the price."""
    return provider in KNOWN and KNOWN[provider].batches is not None
