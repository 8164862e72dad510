"""The providers that Carrel knows by name, and what sets one apart from another, as data."""

from typing import Literal, NamedTuple

Protocol = Literal["openai-chat", "anthropic-messages", "google-generate-content"]
"""The wire protocols."""

Form = Literal["json_schema", "tool", "json_object", "words"]
"""How a judge is made to answer in JSON: by a schema that the server holds it to, as the input of a tool that it must
call, as some JSON object, or by the words of the prompt alone."""


class Dialect(NamedTuple):
    """How a server's chat completions differ from another's. A field name that is `None` is not taken there."""

    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    output_limit: Literal["max_completion_tokens", "max_tokens"] = "max_tokens"
    seed: Literal["seed", "random_seed"] | None = "seed"
    reasoning_effort: Literal["reasoning_effort"] | None = "reasoning_effort"
    stream_options: bool = True
    """Whether a stream must be asked to tell the tokens at its end; others tell them anyway, and take no such field."""
    forms: tuple[Form, ...] = ("json_schema", "json_object", "words")
    """The strongest first; the next is used with a model once the server has refused the one before."""
    deployment_version: str | None = None
    """The `api-version` of URLs that name a deployment, `None` where there are none."""


_OPENAI = Dialect(output_limit="max_completion_tokens")


class KnownProvider(NamedTuple):
    """A provider for which a key can be stored. `base_url` is where it is called unless the key says otherwise.

    `maker`: its models are its own, unless their names say otherwise. `own`: it is a user's own server, and few enough
    models run there to list them all.
    """

    title: str
    protocol: Protocol
    base_url: str | None
    dialect: Dialect = Dialect()
    maker: bool = False
    own: bool = False


KNOWN: dict[str, KnownProvider] = {
    "anthropic": KnownProvider("Anthropic", "anthropic-messages", "https://api.anthropic.com", maker=True),
    "azure": KnownProvider(
        "Azure OpenAI",
        "openai-chat",
        None,
        _OPENAI._replace(key_header="api-key", key_prefix="", deployment_version="2024-10-21"),
    ),
    "compatible": KnownProvider("Another server that is OpenAI-compatible", "openai-chat", None, own=True),
    "deepseek": KnownProvider(
        "DeepSeek",
        "openai-chat",
        "https://api.deepseek.com",
        Dialect(seed=None, forms=("json_object", "words")),
        maker=True,
    ),
    "google": KnownProvider(
        "Google", "google-generate-content", "https://generativelanguage.googleapis.com", maker=True
    ),
    "groq": KnownProvider("Groq", "openai-chat", "https://api.groq.com/openai/v1", _OPENAI),
    "mistral": KnownProvider(
        "Mistral",
        "openai-chat",
        "https://api.mistral.ai/v1",
        Dialect(seed="random_seed", stream_options=False, reasoning_effort=None),
        maker=True,
    ),
    "ollama": KnownProvider("Ollama", "openai-chat", None, own=True),
    "openai": KnownProvider("OpenAI", "openai-chat", "https://api.openai.com/v1", _OPENAI, maker=True),
    "openrouter": KnownProvider("OpenRouter", "openai-chat", "https://openrouter.ai/api/v1"),
    "vllm": KnownProvider("vLLM", "openai-chat", None, own=True),
    "xai": KnownProvider("xAI", "openai-chat", "https://api.x.ai/v1", _OPENAI, maker=True),
}
"""Those without a `base_url` run where the user says, so their keys need one."""
