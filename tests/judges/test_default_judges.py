"""Who judges by default: with any set of keys, judges that are known to be good enough, or a sentence why nobody is."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import cast

import pytest

from carrel.judges import defaults
from carrel.judges.defaults import READS_TOKENS, Competitor
from carrel.judges.schemas import DefaultJudges, JudgeCheck
from carrel.models import fitness
from carrel.models.schemas import Model, Prices
from carrel.providers import endings, families
from carrel.providers import prices as price_list
from carrel.providers.hosts import ModelAt

AT = datetime(2026, 11, 27, 13, tzinfo=UTC).timestamp()
BUILT_IN = ("local:reader", "local:statistician")
TRIED = ("openai:gpt-6.1-sol", "anthropic:claude-opus-5-5")


def offered() -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    with Path(__file__).with_name("offered_models.csv").open() as file:
        for row in csv.DictReader(file):
            found[row["provider"]].append(f"{row['provider']}:{row['model']}")
    return dict(found)


OFFERED = offered()


def model(name: str, host: str | None = None, context_tokens: int | None = None, price: str | None = None) -> Model:
    provider, _, bare = name.partition(":")
    found = price_list.price_of(name, AT)
    rates = (str(found.rates[0].input), str(found.rates[0].output)) if found is not None else None
    if price is not None:
        rates = (price, price)
    return Model(
        model=name,
        provider=provider,
        host=host,
        family=families.family_of(provider, bare, host),
        description="",
        roles=["judge"] if provider == "local" else ["generate", "judge"],
        available=True,
        reason=None,
        context_tokens=context_tokens,
        output_tokens=None,
        prices=None
        if rates is None
        else Prices(
            id="",
            input_per_million=rates[0],
            cached_read_per_million=rates[0],
            cached_write_per_million=rates[0],
            output_per_million=rates[1],
            above=[],
            effective_date=None,
            source="",
        ),
        ends_on=None,
        ends_source=None,
    )


def chosen(
    models: Iterable[Model], candidates: Sequence[str], checks: dict[ModelAt, JudgeCheck] | None = None
) -> DefaultJudges:
    competing = [Competitor(name, families.family_of(*name.split(":", 1))) for name in candidates]
    return defaults.chosen([*map(model, BUILT_IN), *models], competing, checks or {}, AT)


def checked(name: str, share: float, *, passed: bool) -> dict[ModelAt, JudgeCheck]:
    class Right:
        def __init__(self) -> None:
            self.share = share

    class Check:
        def __init__(self) -> None:
            self.passed, self.right = passed, Right()

    return {ModelAt(name, None): cast("JudgeCheck", Check())}


def names(found: DefaultJudges) -> list[str]:
    return [one.model for one in found.judges]


def pairs(keys: Sequence[str]) -> Iterator[tuple[str, ...]]:
    yield ()
    yield TRIED
    for key in keys:
        yield (OFFERED[key][-1],)


@pytest.mark.parametrize("number", range(len(OFFERED) + 1))
def test_with_any_set_of_keys_the_default_judges_are_good_enough_or_a_sentence_says_that_none_is(number: int) -> None:
    for keys in combinations(OFFERED, number):
        models = [model(name) for key in keys for name in OFFERED[key]]
        for candidates in pairs(keys):
            found = chosen(models, candidates)
            families_there = {families.family_of(*name.split(":", 1)) for name in candidates}
            for judge in found.judges:
                figure = fitness.figure_of(judge.model)
                assert not endings.ends_soon(judge.model, None, AT), judge
                assert "gemini-2.5-pro" not in judge.model, "its maker switches it off in four days"
                assert figure is not None, judge
                assert figure.right >= fitness.PASSING, judge
                assert judge.family not in families_there, judge
            assert len({judge.family for judge in found.judges}) == len(found.judges) <= defaults.MOST, keys
            if not found.judges:
                assert found.sentence.startswith(
                    "No model that your keys open is good enough" if keys else "No key of yours opens a judge"
                ), keys


def test_the_cheapest_model_does_not_judge() -> None:
    models = [model(name) for key in ("openai", "anthropic", "mistral", "groq") for name in OFFERED[key]]
    found = chosen(models, TRIED)
    assert names(found) == []
    assert found.sentence == (
        "No model that your keys open is good enough to judge these candidates by default: 22 are of a candidate's"
        " family, 2 are switched off soon and 6 were never checked. Check a judge, which takes 24 calls, or choose one"
        " yourself."
    )
    with_google = [*models, *(model(name) for name in OFFERED["google"])]
    assert names(chosen(with_google, TRIED)) == ["google:gemini-3.1-pro-preview"]


def test_the_cheapest_good_ones_of_two_families_judge_and_the_sentence_says_why() -> None:
    models = [model(name) for key in ("openai", "anthropic", "google") for name in OFFERED[key]]
    found = chosen(models, ["xai:grok-4.7"])
    assert names(found) == ["openai:gpt-5.1", "anthropic:claude-sonnet-5-5"]
    assert found.sentence == (
        "openai:gpt-5.1 is of the line of gpt-4o-2024-08-06, which is right in 95 % of LLMBar-Natural;"
        " anthropic:claude-sonnet-5-5 is of the line of claude-3-5-sonnet-20240620, which is right in 91 % of"
        " LLMBar-Natural."
    )
    assert [(one.grounds, one.source is not None) for one in found.judges] == [("class", True)] * 2


def test_a_check_counts_more_than_a_class() -> None:
    models = [model("mistral:mistral-small-2603"), model("openai:gpt-5.4")]
    assert names(chosen(models, [])) == ["openai:gpt-5.4"]
    found = chosen(models, [], checked("mistral:mistral-small-2603", 0.96, passed=True))
    assert names(found) == ["mistral:mistral-small-2603", "openai:gpt-5.4"]
    assert found.sentence.startswith("mistral:mistral-small-2603 passed its check with 96 %")
    assert names(chosen(models, [], checked("openai:gpt-5.4", 0.6, passed=False))) == []


def test_a_server_of_ones_own_may_call_anything_by_a_good_name() -> None:
    assert names(chosen([model("vllm:gpt-5.4"), model("openai:gpt-5.4", "llm.example.org")], [])) == []


def test_a_judge_has_to_read_everything() -> None:
    assert names(chosen([model("openai:gpt-5.4", context_tokens=READS_TOKENS - 1)], [])) == []
    assert names(chosen([model("openai:gpt-5.4", context_tokens=READS_TOKENS)], [])) == ["openai:gpt-5.4"]


def test_built_in_judges_show_how_built_in_candidates_are_judged_and_judge_nothing_else() -> None:
    models = [model("openai:gpt-5.4")]
    found = chosen(models, ["local:lead", "local:lexrank"])
    assert names(found) == list(BUILT_IN)
    assert {one.grounds for one in found.judges} == {"demonstration"}
    assert found.sentence == "The built-in judges fail the check of judges: what they say is a demonstration."
    assert names(chosen([], [])) == []
    assert names(chosen([], ["mistral:mistral-large-4"])) == []
    assert all((figure := fitness.figure_of(name)) is not None and not figure.passes for name in BUILT_IN)


@pytest.mark.parametrize(
    ("name", "measured"),
    [
        ("openai:gpt-6.1-sol", "gpt-4o-2024-08-06"),
        ("openai:gpt-5.4-2026-03-05", "gpt-4o-2024-08-06"),
        ("openai:gpt-5-nano", "gpt-4o-mini-2024-07-18"),
        ("openrouter:anthropic/claude-sonnet-4.5", "claude-3-5-sonnet-20240620"),
        ("anthropic:claude-opus-5-5", "claude-3-opus-20240229"),
        ("google:gemini-3.1-pro-preview", "gemini-1.5-pro-0514"),
        ("google:gemini-3.8-flash", "gemini-1.5-flash-001"),
        ("groq:llama-3.1-8b-instant", "Meta-Llama-3.1-8B-Instruct-Turbo"),
        ("groq:llama-3.3-70b-versatile", "Meta-Llama-3.1-70B-Instruct-Turbo"),
        ("google:gemini-2.5-pro-tts", None),
        ("openai:gpt-6-luna", None),
        ("anthropic:claude-haiku-5-5", None),
        ("mistral:mistral-large-4", None),
        ("ollama:llama3:8b", None),
    ],
)
def test_a_model_is_of_the_class_of_its_line(name: str, measured: str | None) -> None:
    figure = fitness.figure_of(name)
    assert (None if figure is None else figure.measured) == measured
