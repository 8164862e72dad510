"""The provider `local`: answers from the worker, errors by code, the same bytes from every process."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from carrel.kit.clock import SystemClock
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.processes.worker import Worker
from carrel.providers.base import (
    Answer,
    CombineMatter,
    CompareMatter,
    Criterion,
    GenerateMatter,
    Matter,
    ModelRequest,
    Parameters,
    Provider,
    ProviderError,
    ScoreMatter,
)
from carrel.providers.local import LocalProvider, can_combine
from carrel.providers.local.generators import GENERATORS
from carrel.providers.local.jobs import JOBS
from carrel.providers.local.judges import JUDGES
from carrel.providers.local.text import words
from carrel.providers.local.work import answer
from tests.providers.local.guides import GUIDE

CRITERIA = (Criterion("coverage", "", 2.0), Criterion("clarity", ""))
GENERATE = GenerateMatter(GUIDE, "Tell a beginner what matters.")
SCORE = ScoreMatter(GUIDE, "Count the mites every month.", CRITERIA)
COMPARE = CompareMatter(GUIDE, "Count the mites every month.", "Bees.", CRITERIA)
COMBINE = CombineMatter(GUIDE, ("Count the mites every month of the year.", "A calm hand keeps bees calm as well."), "")
COMBINERS = ("random", "lexrank", "mmr", "submodular")
CALLS: list[tuple[str, Matter]] = [
    *((model, COMBINE) for model in COMBINERS),
    *((model, GENERATE) for model in GENERATORS),
    *((judge, matter) for judge in JUDGES for matter in (SCORE, COMPARE)),
]


def request(model: str, matter: Matter, timeout_seconds: float = 60.0, **parameters: int) -> ModelRequest:
    return ModelRequest(
        model=model,
        system="",
        prompt="",
        matter=matter,
        parameters=Parameters(**parameters),  # type: ignore[arg-type]
        timeout_seconds=timeout_seconds,
    )


@pytest.fixture
async def provider() -> AsyncIterator[LocalProvider]:
    provider = LocalProvider()
    yield provider
    await provider.close()


async def code_of(provider: Provider, wanted: ModelRequest) -> tuple[str, bool]:
    with pytest.raises(ProviderError) as caught:
        await provider.complete(wanted)
    return caught.value.code, caught.value.retryable


def test_every_model_says_what_it_is_not() -> None:
    models = LocalProvider().models()
    assert [model.name for model in models] == [*GENERATORS, *JUDGES]
    assert all("Not a language model" in model.description and model.family == "local" for model in models)
    assert [model.roles for model in models] == [("generate",)] * len(GENERATORS) + [("judge",)] * len(JUDGES)


async def test_every_process_gives_the_same_bytes(provider: LocalProvider) -> None:
    """Each worker has a hash seed of its own, so an order taken from a set would show."""
    first = [await provider.complete(request(*call)) for call in CALLS]
    again = LocalProvider()
    try:
        second = [await again.complete(request(*call)) for call in CALLS]
    finally:
        await again.close()
    here = [answer(*call) for call in CALLS]
    assert first == second == here


async def test_words_are_counted_as_tokens(provider: LocalProvider) -> None:
    found = await provider.complete(request("lead", GENERATE))
    assert found.usage is not None
    assert found.usage.input_tokens == len(words(GUIDE)) + len(words(GENERATE.instructions))
    assert found.usage.output_tokens == len(words(found.text)) <= 60
    assert found.finish_reason == "stop"


async def test_a_limit_and_a_seed_are_heeded(provider: LocalProvider) -> None:
    short = await provider.complete(request("mmr", GENERATE, max_output_tokens=15))
    cut = await provider.complete(request("mmr", GENERATE, max_output_tokens=2))
    assert short.usage is not None
    assert cut.usage is not None
    assert short.usage.output_tokens <= 15
    assert (cut.usage.output_tokens, cut.finish_reason) == (2, "length")
    drawn = {(await provider.complete(request("random", GENERATE, seed=seed))).text for seed in range(4)}
    assert len(drawn) > 1


async def test_a_judge_answers_in_the_shape_that_is_asked_of_every_judge(provider: LocalProvider) -> None:
    scored = json.loads((await provider.complete(request("reader", SCORE))).text)
    assert scored["scores"].keys() == {"coverage", "clarity"}
    assert scored.keys() == {"scores", "reason"}
    compared = json.loads((await provider.complete(request("statistician", COMPARE))).text)
    assert compared.keys() == {"winner", "reason"}
    assert compared["winner"] == "first"


async def test_what_cannot_be_answered_says_why_without_starting_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Worker, "run")
    provider = LocalProvider()
    assert await code_of(provider, request("gpt", GENERATE)) == ("model-unknown", False)
    assert await code_of(provider, request("lexrank", SCORE)) == ("role-not-supported", False)
    assert await code_of(provider, request("reader", GENERATE)) == ("role-not-supported", False)


async def test_a_criterion_beyond_counting_is_not_supported(provider: LocalProvider) -> None:
    truth = ScoreMatter(GUIDE, "Bees.", (Criterion("truth", "Is it true?"),))
    assert await code_of(provider, request("reader", truth)) == ("criterion-not-supported", False)


async def test_a_killed_process_costs_one_call_which_may_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker(JOBS)
    monkeypatch.setattr(WorkerPool, "new_worker", lambda _: worker)
    provider = LocalProvider()
    call = asyncio.create_task(code_of(provider, request("lead", GENERATE)))
    while worker.pid is None:
        await asyncio.sleep(0)
    os.kill(worker.pid, signal.SIGKILL)
    assert await call == ("provider-crashed", True)
    assert isinstance(await provider.complete(request("lead", GENERATE)), Answer)
    await provider.close()


async def test_a_call_over_its_time_may_be_tried_again(provider: LocalProvider) -> None:
    # So long a text that no worker has answered before the caller looks for the answer a first time.
    long = GenerateMatter(GUIDE * 50, "Tell a beginner what matters.")
    assert await code_of(provider, request("lexrank", long, timeout_seconds=0.0)) == ("provider-timeout", True)
    assert isinstance(await provider.complete(request("lead", GENERATE)), Answer)


async def test_workers_of_the_callers_are_left_open() -> None:
    workers = WorkerPool(JOBS, 1, SystemClock())
    provider = LocalProvider(workers)
    await provider.complete(request("reader", SCORE))
    await provider.close()
    assert isinstance(await workers.run("ada", answer, "reader", SCORE), Answer)
    await workers.close()


@pytest.mark.parametrize("heavy", ["numpy", "starlette"])
def test_the_service_starts_without_what_only_the_worker_needs(heavy: str) -> None:
    program = f"import sys\nfrom carrel.providers.local import LocalProvider\nassert {heavy!r} not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.soak
@pytest.mark.parametrize(("model", "matter"), CALLS)
async def test_four_mebibytes_take_seconds(provider: LocalProvider, model: str, matter: Matter) -> None:
    document = "\n\n".join(GUIDE.replace("hive", f"hive {n}") for n in range(4_500_000 // len(GUIDE)))[: 4 << 20]
    big = type(matter)(document, *(getattr(matter, name) for name in matter.__struct_fields__[1:]))
    assert isinstance(await provider.complete(request(model, big, timeout_seconds=20.0)), Answer)


async def test_a_generator_that_cannot_combine_says_so(provider: LocalProvider) -> None:
    for model in GENERATORS:
        if not can_combine(model):
            assert await code_of(provider, request(model, COMBINE)) == ("role-not-supported", False)
    assert await code_of(provider, request("reader", COMBINE)) == ("role-not-supported", False)
