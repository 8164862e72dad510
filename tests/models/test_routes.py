from decimal import Decimal
from pathlib import Path

import httpx
import pytest

from carrel.models import listing
from carrel.providers.base import Answer, ModelInfo, ModelRequest
from carrel.providers.registry import Registry
from tests.support.host import PLUGIN, Host, code_of
from tests.support.workspace import workspace_database

KINDS = ("input", "cached_read", "cached_write", "output")


@pytest.fixture
async def ada(host: Host, client: httpx.AsyncClient) -> httpx.AsyncClient:
    client.headers.update(await host.signed_in("ada", membership="free"))
    return client


async def test_the_built_in_models_are_listed_with_what_they_are(ada: httpx.AsyncClient) -> None:
    items = (await ada.get("/api/models")).json()["items"]
    roles = {item["model"]: item["roles"] for item in items}
    assert {name for name, role in roles.items() if role == ["generate"]} == {
        "local:lead", "local:random", "local:lexrank", "local:mmr", "local:submodular", "local:outline"
    }  # fmt: skip
    assert {name for name, role in roles.items() if role == ["judge"]} == {"local:reader", "local:statistician"}
    for item in items:
        assert (item["provider"], item["available"], item["reason"]) == ("local", True, None)
        assert {item["prices"][f"{kind}_per_million"] for kind in KINDS} == {"0"}
        assert item["prices"]["source"] == "built-in"
        assert "Not a language model" in item["description"]


async def test_one_model_is_read_by_its_full_name(ada: httpx.AsyncClient) -> None:
    items = (await ada.get("/api/models")).json()["items"]
    assert (await ada.get("/api/models/local:lexrank")).json() in items
    for unknown in ("local:nothing", "nobody:lexrank", "lexrank", "openai: x", "a/b/c"):
        answer = await ada.get(f"/api/models/{unknown}")
        assert (answer.status_code, code_of(answer)) == (404, "not-found")


async def test_a_known_model_shows_its_prices_where_they_are_from_and_what_it_reads(ada: httpx.AsyncClient) -> None:
    model = (await ada.get("/api/models/openai:gpt-5-mini")).json()
    prices = model["prices"]
    assert [prices[f"{kind}_per_million"] for kind in KINDS] == ["0.25", "0.025", "0.25", "2"]
    assert prices["source"].startswith("genai-prices-")
    assert prices["id"].startswith(f"{prices['source']}/openai/gpt-5-mini@")
    assert (model["context_tokens"], model["output_tokens"], prices["above"]) == (400_000, None, [])


async def test_long_prompts_may_cost_more(ada: httpx.AsyncClient) -> None:
    prices = (await ada.get("/api/models/google:gemini-2.5-pro")).json().get("prices")
    if prices is None:
        prices = (await ada.get("/api/models/openrouter:google/gemini-2.5-pro")).json()["prices"]
    [above] = prices["above"]
    assert above["above_tokens"] == 200_000
    assert Decimal(above["input_per_million"]) > Decimal(prices["input_per_million"])


async def test_any_name_may_be_a_remote_providers_model_and_needs_a_key(ada: httpx.AsyncClient, host: Host) -> None:
    await ada.post("/api/users/ada/activate", headers=PLUGIN)
    model = (await ada.get("/api/models/openai:maker/gpt-x")).json()
    assert (model["family"], model["roles"], model["prices"]) == ("openai", ["generate", "judge"], None)
    assert (model["available"], model["reason"]) == (False, "provider-key-missing")
    await ada.post("/api/provider-keys", json={"provider": "openai", "key": "sk-0123456789"})
    model = (await ada.get("/api/models/openai:maker/gpt-x")).json()
    assert (model["available"], model["reason"]) == (True, None)


class Elsewhere:
    name = "elsewhere"

    def models(self) -> tuple[ModelInfo, ...]:
        return (
            ModelInfo(name="maker/big", family="maker", roles=("generate", "judge"), description="", context_tokens=9),
        )

    async def complete(self, request: ModelRequest) -> Answer:
        raise AssertionError

    async def close(self) -> None:
        pass


def test_a_price_that_nobody_knows_is_null_and_not_nothing(tmp_path: Path) -> None:
    with workspace_database(tmp_path) as conn:
        model = listing.get(conn, Registry([Elsewhere()]), "elsewhere:maker/big")
    assert (model.prices, model.context_tokens, model.family) == (None, 9, "maker")


async def test_a_model_tells_when_it_ends_and_who_says_so(ada: httpx.AsyncClient) -> None:
    ends, lasts = [(await ada.get(f"/api/models/openai:{name}")).json() for name in ("gpt-5-mini", "gpt-6-luna")]
    assert (ends["ends_on"], ends["ends_source"]) == (
        "2026-12-11",
        "https://developers.openai.com/api/docs/deprecations",
    )
    assert (lasts["ends_on"], lasts["ends_source"]) == (None, None), "nobody has announced it"


async def test_of_many_models_those_are_told_that_end_soon_or_have_ended(ada: httpx.AsyncClient) -> None:
    names = ["OpenAI:gpt-5.1", "openai:gpt-5-mini", "openai:gpt-6-luna", "local:lead"]
    found = (await ada.get("/api/models/endings", params={"model": names})).json()
    assert [one["sentence"] for one in found["items"]] == ["openai:gpt-5-mini was switched off on 11 December 2026."]
    assert found["read_on"] == "2026-11-27"
    refused = await ada.get("/api/models/endings", params={"model": ["local:lead", "nonsense"]})
    assert [error["path"] for error in refused.json()["errors"]] == ["model[1]"]
