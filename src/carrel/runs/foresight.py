"""What a run is likely to cost, and the most: from the sizes of its texts, before anything is called."""

from collections.abc import Sequence
from typing import NamedTuple

from carrel.kit.money import text_of
from carrel.providers.base import Parameters, Usage
from carrel.providers.prices import price_of
from carrel.runs.plan import Kind
from carrel.runs.pricing import FRAME_BYTES, output_limit
from carrel.runs.steps import REASKS

_BYTES_PER_TOKEN = 4
_LIKELY_FRAME_TOKENS = 400
_LIKELY_TOKENS: dict[Kind, int] = {"generate": 400, "combine": 400, "score": 150, "compare": 150}


class Work(NamedTuple):
    """So many calls of one kind; any of the models may make them. `answers` are read by each beside a document."""

    kind: Kind
    calls: int
    models: Sequence[tuple[str, Parameters]]
    answers: int = 0


class Costs(NamedTuple):
    """Decimal strings; `None` where a price is not known."""

    likely: str | None
    worst: str | None


def foresee(works: Sequence[Work], sizes: Sequence[int], longest_answer: int, at_seconds: float) -> Costs:
    """What the works cost over documents of these `sizes` in bytes.

    The likely sum takes four bytes for a token and short answers. The worst takes a byte for a token, the longest
    document, `longest_answer` tokens for each answer, and every judge asked as often as judges are. Where several
    models share a work, the dearest counts.
    """
    likely = worst = 0
    mean, longest = sum(sizes) // max(1, len(sizes)), max(sizes, default=0)
    for work in works:
        one_likely = one_worst = 0
        for model, parameters in work.models:
            price = price_of(model, at_seconds)
            if price is None:
                return Costs(None, None)
            read = mean // _BYTES_PER_TOKEN + _LIKELY_FRAME_TOKENS + work.answers * _LIKELY_TOKENS["generate"]
            limit = output_limit(work.kind, parameters)
            written = min(limit, _LIKELY_TOKENS[work.kind])
            one_likely = max(one_likely, price.cost_micros(Usage(input_tokens=read, output_tokens=written)))
            one_worst = max(one_worst, price.most_micros(FRAME_BYTES + longest + work.answers * longest_answer, limit))
        times = 1 + REASKS if work.kind in ("score", "compare") else 1
        likely += work.calls * one_likely
        worst += work.calls * one_worst * times
    return Costs(text_of(likely), text_of(worst))
