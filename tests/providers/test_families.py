import pytest

from carrel.providers.families import family_of


@pytest.mark.parametrize(
    ("provider", "name", "family"),
    [
        ("openai", "gpt-5-mini", "openai"),
        ("azure", "gpt-4.1", "openai"),
        ("openai", "o3", "openai"),
        ("openai", "whatever-they-call-it", "openai"),
        ("openrouter", "anthropic/claude-sonnet", "anthropic"),
        ("openrouter", "meta-llama/llama-3.3-70b", "meta"),
        ("openrouter", "qwen/qwen3", "qwen"),
        ("openrouter", "somebody/something", "somebody"),
        ("groq", "llama-3.3-70b-versatile", "meta"),
        ("groq", "openai/gpt-oss-120b", "openai"),
        ("ollama", "mistral-small:24b", "mistral"),
        ("ollama", "Gemma3:12b", "google"),
        ("vllm", "starling-7b", "starling"),
        ("vllm", "7b", "7b"),
        ("xai", "grok-4", "xai"),
        ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic"),
        ("bedrock", "amazon.nova-pro-v1:0", "amazon"),
        ("bedrock", "zai.glm-4.7", "zhipu"),
        ("bedrock", "deepseek.r1-v1:0", "deepseek"),
        ("bedrock", "arn:aws:bedrock:us-east-1:1:inference-profile/us.meta.llama3-1-70b", "meta"),
        ("vertex", "claude-opus-4-6", "anthropic"),
    ],
)
def test_a_family_is_told_from_the_name(provider: str, name: str, family: str) -> None:
    assert family_of(provider, name) == family


def test_at_another_host_the_provider_says_nothing_about_the_family() -> None:
    assert family_of("openai", "whatever-they-call-it", "llm.example.org") == "whatever"
    assert family_of("openai", "gpt-5", "llm.example.org") == "openai"
