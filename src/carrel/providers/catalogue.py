"""The providers that Carrel knows by name, and what sets one apart from another, as data."""

from typing import Literal, NamedTuple

Protocol = Literal["openai-chat", "anthropic-messages", "google-generate-content"]
"""The wire protocols."""


class KnownProvider(NamedTuple):
    """A provider for which a key can be stored. `base_url` is where it is called unless the key says otherwise."""

    title: str
    protocol: Protocol
    base_url: str | None


KNOWN: dict[str, KnownProvider] = {
    "anthropic": KnownProvider("Anthropic", "anthropic-messages", "https://api.anthropic.com"),
    "azure": KnownProvider("Azure OpenAI", "openai-chat", None),
    "deepseek": KnownProvider("DeepSeek", "openai-chat", "https://api.deepseek.com"),
    "google": KnownProvider("Google", "google-generate-content", "https://generativelanguage.googleapis.com"),
    "groq": KnownProvider("Groq", "openai-chat", "https://api.groq.com/openai/v1"),
    "mistral": KnownProvider("Mistral", "openai-chat", "https://api.mistral.ai/v1"),
    "ollama": KnownProvider("Ollama", "openai-chat", None),
    "openai": KnownProvider("OpenAI", "openai-chat", "https://api.openai.com/v1"),
    "openrouter": KnownProvider("OpenRouter", "openai-chat", "https://openrouter.ai/api/v1"),
    "vllm": KnownProvider("vLLM", "openai-chat", None),
    "xai": KnownProvider("xAI", "openai-chat", "https://api.x.ai/v1"),
}
"""Those without a `base_url` run where the user says, so their keys need one."""
