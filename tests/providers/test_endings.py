"""When models are switched off, by the dated table of the package and by what providers' own lists say."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from urllib.parse import urlsplit

import pytest

from carrel.providers import endings
from carrel.providers.catalogue import KNOWN
from carrel.providers.hosts import ModelAt
from carrel.providers.registry import provider_of

AT = datetime(2026, 11, 27, 13, tzinfo=UTC).timestamp()


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    endings.listed.clear()


def test_each_line_of_the_table_has_a_known_provider_a_day_and_a_public_source() -> None:
    table = endings.table()
    assert table.read_on == date(2026, 11, 27)
    assert len(table.ends) > 50
    for model, end in table.ends.items():
        assert provider_of(model) in KNOWN, model
        assert urlsplit(end.source).scheme == "https", model


@pytest.mark.parametrize(
    ("model", "ends_on"),
    [
        ("openai:gpt-5-mini", "2026-12-11"),
        ("openai:gpt-5-mini-2025-08-07", "2026-12-11"),
        ("openai:gpt-4o", "2027-01-14"),
        ("openai:gpt-4o-2024-05-13", "2026-10-23"),
        ("openai:ft:gpt-4o-mini-2024-07-18:shop::abc", "2027-01-14"),
        ("openai:gpt-5.1", "2027-04-01"),
        ("openai:o3", "2026-12-11"),
        ("anthropic:claude-sonnet-4-20250514", "2026-06-15"),
        ("anthropic:claude-opus-4-1-20250805", "2026-08-05"),
        ("google:gemini-2.0-flash-001", "2026-06-01"),
        ("groq:llama-3.1-8b-instant", "2026-08-16"),
        ("openai:gpt-6-luna", None),
        ("openai:gpt-6.1-sol", None),
        ("anthropic:claude-opus-5-5", None),
        ("azure:gpt-5-mini", None),
        ("local:reader", None),
        ("nonsense", None),
    ],
)
def test_a_model_ends_when_its_provider_said_and_else_nobody_knows(model: str, ends_on: str | None) -> None:
    end = endings.end_of(model)
    assert (None if end is None else str(end.on)) == ends_on


def test_a_server_that_is_not_the_providers_own_keeps_what_it_has() -> None:
    assert endings.end_of("openai:gpt-5-mini", "llm.example.org") is None


def test_what_ends_soon_is_told_in_days_and_what_ends_later_is_not() -> None:
    names = ("openai:gpt-5-mini", "openai:gpt-4", "openai:gpt-5.1", "openai:gpt-4o", "openai:gpt-6-luna")
    found = endings.soon((ModelAt(name, None) for name in names), AT)
    assert [one.sentence for one in found] == [
        "openai:gpt-4 was switched off on 23 October 2026.",
        "openai:gpt-5-mini is switched off in 14 days, on 11 December 2026.",
        "openai:gpt-4o is switched off in 48 days, on 14 January 2027.",
    ]
    assert [one.days for one in found] == [-35, 14, 48]
    assert [endings.ends_soon(name, None, AT) for name in names] == [True, True, False, True, False]
    assert endings.ends_soon("openrouter:google/gemini-2.5-pro", None, AT), "its maker switches it off"


def test_the_last_days_are_counted_down() -> None:
    said = [endings.soon([ModelAt("openai:o3", None)], AT + days * 86_400)[0].sentence for days in (13, 14, 15)]
    assert said == [
        "openai:o3 is switched off in 1 day, on 11 December 2026.",
        "openai:o3 is switched off today.",
        "openai:o3 was switched off on 11 December 2026.",
    ]


def test_what_the_providers_list_says_goes_before_the_table() -> None:
    endings.note("openai:gpt-5-mini", "2027-02-01")
    endings.note("openai:gpt-7", "2028-01-01")
    for odd in (None, "", "soon", "2026-13-01", "9999-12-31"):
        endings.note("openai:gpt-8", odd)
    assert endings.end_of("openai:gpt-5-mini") == (date(2027, 2, 1), endings.OF_LIST)
    assert endings.end_of("openai:gpt-7") == (date(2028, 1, 1), endings.OF_LIST)
    assert endings.end_of("openai:gpt-8") is None
