"""What a run is likely to cost, and the most that it can cost, from the sizes of its texts before any call."""

from collections.abc import Sequence
from typing import NamedTuple

from carrel.kit.money import text_of
from carrel.providers.base import Parameters, Usage
from carrel.providers.catalogue import has_batches
from carrel.providers.registry import provider_of
from carrel.runs.costs.quotes import FRAME_BYTES, output_limit, price_at
from carrel.runs.model.plan import Kind
from carrel.runs.tasks.attempts import REASKS

_BYTES_PER_TOKEN = 4
_LIKELY_FRAME_TOKENS = 400
_LIKELY_TOKENS: dict[Kind, int] = {"generate": 400, "combine": 400, "score": 150, "compare": 150}


class Work(NamedTuple):
    """A number of calls of one kind, which any of the models may make.

    Each call reads `shared_bytes` bytes, a document with its reference in `places` places, and `answers` answers.
    """

    kind: Kind
    calls: int
    models: Sequence[tuple[str, Parameters]]
    shared_bytes: int
    places: int = 1
    answers: int = 0


class Costs(NamedTuple):
    """Decimal strings; `None` where a price is not known."""

    likely: str | None
    worst: str | None


class Answers(NamedTuple):
    """The most tokens that the models write, and the bytes of each answer that exists already."""

    longest_tokens: int
    existing: Sequence[int] = ()


def foresee(
    works: Sequence[Work], sizes: Sequence[int], answers: Answers, at_seconds: float, *, economy: bool = False
) -> Costs:
    """What the works cost over documents of these `sizes` in bytes.

    The likely sum counts four bytes for a token, and short answers. The worst sum counts one byte for a token, the
    longest document and the longest answer for each call, and the most attempts that a judge gets. Where several models
    share a work, the dearest counts. With `economy`, calls go in batches wherever the provider takes batches.
    """
    likely = worst = 0
    longest = max(sizes, default=0)
    longest_answer = max(answers.longest_tokens, *answers.existing, 0)
    likely_answer = max(_LIKELY_TOKENS["generate"], _mean(answers.existing) // _BYTES_PER_TOKEN)
    for work in works:
        one_likely = one_worst = 0
        for model, parameters in work.models:
            price = price_at(model, at_seconds, batched=economy and has_batches(provider_of(model)))
            if price is None:
                return Costs(None, None)
            given = (work.shared_bytes + _mean(sizes) * work.places) // _BYTES_PER_TOKEN
            read = given + _LIKELY_FRAME_TOKENS + work.answers * likely_answer
            limit = output_limit(work.kind, parameters)
            written = min(limit, _LIKELY_TOKENS[work.kind])
            one_likely = max(one_likely, price.cost_micros(Usage(input_tokens=read, output_tokens=written)))
            read = FRAME_BYTES + work.shared_bytes + longest * work.places + work.answers * longest_answer
            one_worst = max(one_worst, price.most_micros(read, limit))
        times = 1 + REASKS if work.kind in ("score", "compare") else 1
        likely += work.calls * one_likely
        worst += work.calls * one_worst * times
    return Costs(text_of(likely), text_of(worst))


def _mean(sizes: Sequence[int]) -> int:
    return sum(sizes) // max(1, len(sizes))
