"""What guides, placeholders and defaults name outlives the release: nobody is told to try a model that ends soon."""

import re
from datetime import timedelta
from pathlib import Path

from carrel.providers import endings
from carrel.providers.catalogue import KNOWN

ROOT = Path(__file__).parents[2]
TOLD = ("README.md", "docs", "deploy", "sdk", "src", "web/src")
"""What people read, copy from, or start with. Records of decisions and of what was measured keep their names."""
KINDS = {".md", ".py", ".ts", ".tsx", ".html", ".yaml", ".yml", ".json", ".php", ".sh", ".toml"}
OF_PROVIDER = re.compile(rf"\b({'|'.join(KNOWN)}):([\w.:/-]*[\w])")
BARE = re.compile(r"(?<![\w.:/-])(?:gpt|claude|gemini|grok|deepseek|llama)-[\w.-]*\w")


def told() -> list[Path]:
    found = [ROOT / name for name in TOLD]
    files = [file for one in found for file in ([one] if one.is_file() else sorted(one.rglob("*")))]
    return [
        file
        for file in files
        if file.suffix in KINDS
        and ".test." not in file.name
        and not {"adr", "node_modules", "dist", "tests", "__pycache__"} & set(file.parts)
    ]


def names(text: str) -> set[str]:
    full = {f"{provider}:{name}" for provider, name in OF_PROVIDER.findall(text)}
    return full | {f"{provider}:{name}" for name in BARE.findall(text) for provider in KNOWN}


def test_no_guide_placeholder_or_default_names_a_model_that_ends_within_sixty_days_of_the_release() -> None:
    last = endings.read_on() + timedelta(days=endings.NOTICE_DAYS)
    named = {
        f"{file.relative_to(ROOT)}: {name} ends on {end.on}"
        for file in told()
        for name in names(file.read_text(encoding="utf-8"))
        if (end := endings.end_of(name)) is not None and end.on <= last
    }
    assert not named


def test_the_test_finds_such_a_name_in_every_form() -> None:
    assert {"openai:gpt-5-mini", "anthropic:claude-opus-4-1"} <= names("try `openai:gpt-5-mini` or claude-opus-4-1.")
    assert names("openai:gpt-5-mini.") == {"openai:gpt-5-mini"}
