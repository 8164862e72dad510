"""Every text model of the price list at the clouds: it answers, judges and streams, and its price is known."""

import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from genai_prices.data_snapshot import get_snapshot
from msgspec.structs import replace

from carrel.config import Secret
from carrel.evaluation.asking.judge import compare_schema
from carrel.providers import prices
from carrel.providers.base import Access, CompareMatter, GenerateMatter, ModelRequest
from carrel.providers.catalogue import KNOWN
from tests.support.network import provider_of
from tests.support.strict_azure import Azure
from tests.support.strict_bedrock import ACCESS_KEY, SECRET, Bedrock
from tests.support.strict_servers import serving
from tests.support.strict_vertex import Vertex

CLOUDS: dict[str, Callable[..., Any]] = {"azure": Azure, "bedrock": Bedrock, "vertex": Vertex}


def text_models(provider: str) -> list[str]:
    """Their names in the list, where a region stands in place of the words for all of them."""
    listed = next(one for one in get_snapshot().providers if one.id == KNOWN[provider].price_list)
    names = (model.id.replace("regional.", "us.") for model in listed.models)
    return [name for name in names if prices.is_priced(f"{provider}:{name}")]


@pytest.mark.parametrize("provider", CLOUDS)
async def test_every_text_model_of_the_list_answers_and_judges(provider: str) -> None:
    models = text_models(provider)
    async with serving(CLOUDS[provider](*models)) as cloud, provider_of(provider, cloud.host) as called:
        key, url = getattr(cloud, "key", f"{ACCESS_KEY}:{SECRET}"), cloud.base_url
        kind = KNOWN[provider].trade
        if kind is not None:
            key = kind.kept(key)
            url = kind.address(key, f"{url}/openai/v1" if provider == "azure" else url)
        access = Access(Secret(key.encode()), url)
        ask: Callable[[ModelRequest], Awaitable[Any]]
        pieces = list[str]()
        for model in models:
            asked = ModelRequest(
                model=model, system="Be just.", prompt="Say hello.", matter=GenerateMatter("", ""), access=access
            )
            judged = replace(asked, matter=CompareMatter("d", "a", "b", ()), schema=compare_schema())
            for ask in (called.complete, lambda request: called.stream(request, pieces.append)):
                answer = await ask(asked)
                assert (answer.finish_reason, answer.usage is not None) == ("stop", True), model
                assert answer.text, model
            verdict = await called.complete(judged)
            assert '"winner"' in verdict.text, model
    assert len(cloud.answers) == 3 * len(models) > 40
    print(f"{provider}: {len(models)} models of the list, {len(cloud.answers)} answers, {time.process_time():.1f} s")
