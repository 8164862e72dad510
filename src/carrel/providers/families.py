"""Finds the family of a model (its maker) from its name. Judges may favour models of their own family. Pure."""

import re
from functools import lru_cache

from carrel.providers.catalogue import find

_BY_BEGINNING = {
    "openai": ("gpt", "chatgpt", "o1", "o3", "o4"),
    "anthropic": ("claude",),
    "google": ("gemini", "gemma"),
    "mistral": ("mistral", "mixtral", "ministral", "magistral", "codestral", "devstral", "pixtral"),
    "meta": ("llama", "meta-llama"),
    "deepseek": ("deepseek",),
    "xai": ("grok", "x-ai"),
    "qwen": ("qwen", "qwq"),
    "cohere": ("command", "c4ai"),
    "microsoft": ("phi-", "phi3", "phi4"),
    "moonshot": ("kimi", "moonshot"),
    "zhipu": ("glm", "z-ai"),
}
_OF_BEDROCK = re.compile(r"(?:[a-z-]{2,6}\.(?=[a-z0-9]+\.[a-z]))?([a-z0-9]+)\.(?=[a-z])")
"""The region and the maker, with which Bedrock's names begin."""
_STEM = re.compile(r"[a-z]+")


@lru_cache(maxsize=5_000)
def family_of(provider: str, name: str, host: str | None = None) -> str:
    """The family of `provider:name` at this host.

    If the name says nothing, the family is the provider's own if the provider makes models itself and this is its own
    host. Otherwise the family is the part before the slash, or the first word of the name.
    """
    lower = name.lower()
    if provider == "bedrock":
        lower = _OF_BEDROCK.sub(r"\1/", lower.rpartition("/")[2], count=1)
    maker, slash, bare = lower.rpartition("/")
    for family, beginnings in _BY_BEGINNING.items():
        if bare.startswith(beginnings) or maker.startswith(beginnings) or maker == family:
            return family
    if slash:
        return maker
    known = find(provider)
    if known is not None and known.maker and host is None:
        return provider
    stem = _STEM.match(bare)
    return stem[0] if stem is not None else bare
