"""Which addresses a key may name: every trick that makes two parsers read one URL differently."""

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from carrel.errors import BadInput
from carrel.providers import base_url
from carrel.providers.base_url import ProviderHostNotAllowed

RULES = (
    "api.openai.com",
    "proxy.example:8443",
    "*.azure.example",
    "*.gateway.example:9443",
    "localhost:11434",
    "127.0.0.1:8000",
    "[::1]:8080",
    "[2001:db8:0:0::1]",
    "http://ollama:11434",
    "http://10.1.2.3",
    "http://api.mistral.ai",
)

ALLOWED = [
    "https://api.openai.com",
    "https://api.openai.com/",
    "https://api.openai.com/v1",
    "https://api.openai.com:443/v1",
    "https://API.OpenAI.com/v1",
    "HTTPS://api.openai.com",
    "https://proxy.example:8443/a/b-c_d~e/%20",
    "https://desk.azure.example",
    "https://a.b.c.azure.example:443/openai",
    "https://x.gateway.example:9443",
    "https://localhost:11434",
    "http://localhost:11434/v1",
    "http://127.0.0.1:8000",
    "http://[::1]:8080",
    "http://[0:0:0:0:0:0:0:1]:8080",
    "https://[2001:db8::1]",
    "https://[2001:DB8::1]:443",
    "http://ollama:11434/v1",
    "http://OLLAMA:11434",
    "http://10.1.2.3:80/v1",
]

ELSEWHERE = [
    "https://evil.example",
    "https://api.openai.com.evil.example",
    "https://evil-api.openai.com",
    "https://x.api.openai.com",
    "https://openai.com",
    "https://api.openai.com:444",
    "https://api.openai.com:80",
    "https://proxy.example",
    "https://proxy.example:443",
    "https://azure.example",
    "https://xazure.example",
    "https://azure.example.evil.example",
    "https://desk.azure.example:8443",
    "https://x.gateway.example",
    "https://gateway.example:9443",
    "http://localhost",
    "https://localhost",
    "http://localhost:11435",
    "https://localhost.evil.example:11434",
    "https://127.0.0.1",
    "https://127.0.0.2:8000",
    "https://[::1]",
    "https://[::2]:8080",
    "https://[::ffff:127.0.0.1]:8000",
    "https://2130706433:8000",
    "https://0x7f.0.0.1:8000",
    "https://017700000001:8000",
    "https://127.1:8000",
    "https://xn--pi-openai-com-9g1a.example",
    "https://ollama:11434",
    "https://10.1.2.3",
]

REFUSED = [
    "",
    "https",
    "https:",
    "https://",
    "https:///v1",
    "https:api.openai.com",
    "https:/api.openai.com",
    "//api.openai.com",
    "api.openai.com",
    "ftp://api.openai.com",
    "file:///etc/passwd",
    "javascript://api.openai.com",
    "http://api.openai.com",
    "http://proxy.example:8443",
    "http://desk.azure.example",
    # without TLS, and not what the operator has named so
    "http://ollama",
    "http://ollama:11435",
    "http://desk.ollama:11434",
    "http://10.1.2.3:443",
    "http://10.1.2.4",
    "http://api.mistral.ai",
    # a user part, also an empty one
    "https://api.openai.com@evil.example",
    "https://user@api.openai.com",
    "https://user:secret@api.openai.com",
    "https://@api.openai.com",
    "https://:@api.openai.com",
    "https://evil.example@api.openai.com",
    # characters that one parser cuts at and another does not
    "https://evil.example\\.azure.example",
    "https://evil.example\\@api.openai.com",
    "https:\\\\api.openai.com",
    "https://evil.example/.azure.example@api.openai.com",
    "https://evil.example%2f.azure.example",
    "https://evil.example%00.azure.example",
    "https://api.openai.com%2eevil.example",
    "https://evil.example;.azure.example",
    "https://evil.example,.azure.example",
    "https://evil.example|.azure.example",
    "https://evil.example'.azure.example",
    "https://{evil}.azure.example",
    "https://*.azure.example",
    # queries and fragments, also empty ones
    "https://api.openai.com?",
    "https://api.openai.com/v1?x=1",
    "https://api.openai.com#",
    "https://api.openai.com/#x",
    "https://evil.example#.azure.example",
    "https://evil.example?.azure.example",
    # white space and control characters, which Python's urlsplit drops without a word
    " https://api.openai.com",
    "https://api.openai.com ",
    "https://api.openai.com\n",
    "\nhttps://api.openai.com",
    "ht\ntps://api.openai.com",
    "https://api.openai.com/\r\nX-Header: 1",
    "https://api\t.openai.com",
    "https://evil.example\t.azure.example",
    "https://api.openai.com\x00",
    "https://api.openai.com\x7f",
    "https://api.openai.com\u2028",
    "https://api.openai.com\xa0",
    # letters that become others
    "https://api.openaı.com",
    "https://аpi.openai.com",
    "https://ａpi.openai.com",
    "https://api。openai。com",
    "https://evil․example.azure.example",
    "https://evil.example／.azure.example",
    "https://\u212a.azure.example",
    "httpſ://api.openai.com",
    "https://ä.azure.example",
    # a name in letters that is none, at which parsers of URLs break down
    "https://xn--b.azure.example",
    "https://xn--.azure.example",
    # dots
    "https://api.openai.com.",
    "https://desk.azure.example.",
    "https://.azure.example",
    "https://..azure.example",
    "https://a..azure.example",
    "https://-a.azure.example",
    # ports
    "https://api.openai.com:",
    "https://api.openai.com:0",
    "https://api.openai.com:0443",
    "https://api.openai.com:65536",
    "https://api.openai.com:99999999",
    "https://api.openai.com:-443",
    "https://api.openai.com:+443",
    "https://api.openai.com:４４３",
    "https://api.openai.com:443:443",
    "https://api.openai.com:https",
    # IPv6
    "https://::1",
    "https://[::1",
    "https://::1]:8080",
    "https://[::1]evil.example:8080",
    "https://[::1].azure.example",
    "https://[::1%25lo]:8080",
    "https://[::g]",
    "https://[]",
    "https://[api.openai.com]",
    "https://[v1.x]",
]


@pytest.mark.parametrize("url", ALLOWED)
def test_a_plain_url_of_an_allowed_host_is_taken(url: str) -> None:
    base_url.check(url, RULES)


@pytest.mark.parametrize("url", ELSEWHERE)
def test_a_host_that_no_rule_covers_is_not_allowed(url: str) -> None:
    with pytest.raises(ProviderHostNotAllowed):
        base_url.check(url, RULES)


@pytest.mark.parametrize("url", REFUSED)
def test_whatever_is_no_plain_url_is_refused(url: str) -> None:
    with pytest.raises(BadInput) as refused:
        base_url.check(url, RULES)
    assert refused.value.code == "invalid-input"


def test_without_rules_nothing_is_allowed() -> None:
    for url in ALLOWED:
        with pytest.raises(BadInput):
            base_url.check(url, ())


def test_a_rule_without_a_port_means_the_schemes_own() -> None:
    base_url.check("http://localhost", ("localhost",))
    base_url.check("http://localhost:80", ("localhost",))
    base_url.check("https://localhost", ("localhost",))
    for url, rule in (("http://localhost", "localhost:443"), ("http://localhost:443", "localhost")):
        with pytest.raises(ProviderHostNotAllowed):
            base_url.check(url, (rule,))


@hypothesis_settings(max_examples=300)
@given(
    st.lists(st.sampled_from([*"ae.:/@\\?#[]%-_ \t\n*ß．", "azure.example", "https://", "evil.example"]), max_size=12)
)
def test_whatever_passes_reaches_the_allowed_host_and_no_other(parts: list[str]) -> None:
    url = f"https://{''.join(parts)}"
    try:
        base_url.check(url, ("*.azure.example",))
    except BadInput:
        return
    host = url.removeprefix("https://").partition("/")[0].removesuffix(":443")
    assert host.endswith(".azure.example")
    assert set(host) <= set("abcdefghijklmnopqrstuvwxyz.-_")


@pytest.mark.parametrize(
    ("host", "port", "inside"),
    [
        ("localhost", 11434, True),
        ("localhost", 11435, False),
        ("desk.example", 443, True),
        ("desk.example", 80, True),
        ("desk.example", 8443, False),
        ("any.lan.example", 443, False),
        ("10.0.0.1", 443, True),
        ("::1", 9, True),
        ("api.openai.com", 443, False),
        ("ollama", 11434, True),
        ("ollama", 443, False),
    ],
)
def test_only_a_host_that_is_named_itself_may_be_inside(host: str, port: int, inside: bool) -> None:
    rules = (
        "localhost:11434",
        "desk.example",
        "*.lan.example",
        "10.0.0.1",
        "[::1]:9",
        "api.openai.com",
        "http://ollama:11434",
    )
    assert base_url.is_inside(host, port, rules) is inside


@pytest.mark.parametrize(
    ("provider", "pasted", "kept"),
    [
        ("compatible", " https://x.example/v1/chat/completions ", "https://x.example/v1"),
        ("compatible", "https://x.example/v1/", "https://x.example/v1"),
        ("compatible", "https://api.perplexity.ai", "https://api.perplexity.ai"),
        ("openai", "https://api.openai.com", "https://api.openai.com/v1"),
        ("openai", "https://api.openai.com/v1/models", "https://api.openai.com/v1"),
        ("ollama", "http://localhost:11434", "http://localhost:11434/v1"),
        ("ollama", "http://localhost:11434/api", "http://localhost:11434/v1"),
        ("vllm", "http://localhost:8000/v1/completions", "http://localhost:8000/v1"),
        ("azure", "https://desk.openai.azure.com/", "https://desk.openai.azure.com/openai/v1"),
        (
            "azure",
            "https://desk.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2025-01-01-preview",
            "https://desk.openai.azure.com/openai/deployments/mine",
        ),
        ("google", "https://generativelanguage.googleapis.com/v1", "https://generativelanguage.googleapis.com"),
        ("google", "https://x.example/v1beta/openai", "https://x.example"),
        ("anthropic", "https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1"),
        ("anthropic", "https://proxy.example/anthropic", "https://proxy.example/anthropic"),
        ("compatible", "no url", "no url"),
    ],
)
def test_a_pasted_address_of_a_route_or_of_the_host_alone_is_understood(provider: str, pasted: str, kept: str) -> None:
    assert base_url.normal(provider, pasted) == kept
    assert base_url.normal(provider, kept) == kept
