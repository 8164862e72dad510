"""Where a model answers: which base URLs are the provider's own host, and how others are called."""

import pytest

from carrel.providers import hosts
from carrel.providers.hosts import ModelAt


@pytest.mark.parametrize(
    ("provider", "url", "host"),
    [
        ("openai", None, None),
        ("openai", "https://api.openai.com/v1", None),
        ("openai", "HTTPS://API.OpenAI.com:443/v2", None),
        ("openai", "https://api.openai.com.example.org/v1", "api.openai.com.example.org"),
        ("openai", "https://eu.api.openai.com/v1", "eu.api.openai.com"),
        ("openai", "https://api.openai.com:8443/v1", "api.openai.com:8443"),
        ("openai", "http://api.openai.com/v1", "api.openai.com:80"),
        ("openai", "https://openrouter.ai/api/v1", "openrouter.ai"),
        ("openrouter", "https://openrouter.ai/api/v1", None),
        ("vllm", "http://localhost:8000/v1", "localhost:8000"),
        ("vllm", "http://[0:0:0:0:0:0:0:1]:8000", "[::1]:8000"),
        ("azure", "https://mine.openai.azure.com", "mine.openai.azure.com"),
        ("compatible", "https://llm.example.org/v1", "llm.example.org"),
    ],
)
def test_every_host_but_the_provider_s_own_is_told(provider: str, url: str | None, host: str | None) -> None:
    assert hosts.host_of(provider, url) == host
    name = f"{provider}:m" if host is None else f"{provider}:m at {host}"
    assert str(ModelAt(f"{provider}:m", host)) == name


@pytest.mark.parametrize(
    ("provider", "host", "holds"),
    [
        ("openai", None, True),
        ("openai", "eu.api.openai.com", False),
        ("openai", hosts.UNKNOWN, False),
        ("azure", "mine.openai.azure.com", True),
        ("azure", "mine.openai.azure.com:8443", False),
        ("azure", "openai.azure.com.example.org", False),
        ("openai", "mine.openai.azure.com", False),
        ("vllm", "localhost:8000", False),
    ],
)
def test_lists_hold_at_the_provider_s_own_hosts_only(provider: str, host: str | None, holds: bool) -> None:
    assert hosts.has_list_prices(provider, host) is holds


def test_several_hosts_are_all_named_and_the_own_one_only_beside_others() -> None:
    assert hosts.joined("openai", (None, None)) is None
    assert hosts.joined("openai", (None, "b.example")) == "api.openai.com, b.example"
    assert hosts.joined("openai", ("api.openai.com, b.example", "a.example")) == "a.example, api.openai.com, b.example"
    assert hosts.joined("vllm", ("b.example:1", "b.example:1")) == "b.example:1"
    assert hosts.joined("local", (None,)) is None
    assert hosts.joined("openai", (hosts.UNKNOWN, None)) == f"{hosts.UNKNOWN}, api.openai.com"
