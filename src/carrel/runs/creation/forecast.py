"""What a run is likely to cost, and the most that it can cost, from the sizes of its texts before any call."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from carrel.kit.money import brief, text_of
from carrel.providers.base import Parameters, Usage
from carrel.providers.catalogue import has_batches
from carrel.providers.prices import Price
from carrel.providers.registry import provider_of
from carrel.runs.costs.quotes import FRAME_BYTES, output_limit
from carrel.runs.model.plan import Kind
from carrel.runs.model.schemas import KnownPart
from carrel.runs.tasks.attempts import REASKS

_BYTES_PER_TOKEN = 4
_LIKELY_FRAME_TOKENS = 400
_LIKELY_TOKENS: dict[Kind, int] = {"generate": 400, "combine": 400, "score": 150, "compare": 150}


class Work(NamedTuple):
    """A number of calls of one kind to one model.

    Each call reads `shared_bytes` bytes, a document with its reference in `places` places, and `answers` answers. A
    model that `searches` takes a fee for it that is in no price list.
    """

    kind: Kind
    calls: int
    model: str
    parameters: Parameters
    shared_bytes: int
    places: int = 1
    answers: int = 0
    searches: bool = False


class Costs(NamedTuple):
    """Sums over the calls whose price is known, in millionths, the dearest of them, and the number of the others."""

    likely_micros: int
    worst_micros: int
    likely_unknown_calls: int = 0
    worst_unknown_calls: int = 0
    unpriced_models: tuple[str, ...] = ()
    dearest_micros: int = 0

    def over(self, budget_micros: int) -> str | None:
        """What does not fit into a budget. Before a call, its worst cost is held."""
        most, likely, budget = brief(self.dearest_micros), brief(self.likely_micros), brief(budget_micros)
        if self.dearest_micros > budget_micros:
            return f"One call can cost {most} at worst, and the budget is {budget}: the run would pause before it."
        if self.likely_micros > budget_micros:
            return f"It would likely cost {likely}, and pause at its budget of {budget}."
        return None

    @property
    def likely(self) -> str | None:
        """The likely cost as a decimal string; `None` where a price is not known."""
        return None if self.likely_unknown_calls else text_of(self.likely_micros)

    @property
    def worst(self) -> str | None:
        """The worst cost as a decimal string; `None` where a price is not known."""
        return None if self.worst_unknown_calls else text_of(self.worst_micros)

    @property
    def known_part(self) -> KnownPart | None:
        """What is known where some price is not; `None` where all are."""
        if not self.worst_unknown_calls:
            return None
        return KnownPart(
            likely_cost=text_of(self.likely_micros),
            worst_cost=text_of(self.worst_micros),
            likely_unknown_calls=self.likely_unknown_calls,
            worst_unknown_calls=self.worst_unknown_calls,
            unpriced_models=list(self.unpriced_models),
        )


class AnswerSizes(NamedTuple):
    """The most tokens that the models write, and the bytes of each answer that exists already."""

    longest_tokens: int
    existing: Sequence[int] = ()


def foresee(
    works: Sequence[Work],
    sizes: Sequence[int],
    answers: AnswerSizes,
    price_of: Callable[[str, bool], Price | None],
    *,
    economy: bool = False,
) -> Costs:
    """What the works cost over documents of these `sizes` in bytes.

    The likely sum counts four bytes for a token, and short answers. The worst sum counts one byte for a token, the
    longest document and the longest answer for each call, and the most attempts that a judge gets. `price_of` finds
    the price of a model by its name, and whether its calls go in batches. With `economy`, they do wherever the
    provider takes batches.
    """
    likely = worst = dearest = likely_unknown = worst_unknown = 0
    unpriced: dict[str, None] = {}
    longest, mean = max(sizes, default=0), _mean(sizes)
    longest_answer = max(answers.longest_tokens, *answers.existing, 0)
    likely_answer = max(_LIKELY_TOKENS["generate"], _mean(answers.existing) // _BYTES_PER_TOKEN)
    for work in works:
        if not work.calls:
            continue
        most_calls = work.calls * (1 + REASKS if work.kind in ("score", "compare") else 1)
        price = price_of(work.model, economy and has_batches(provider_of(work.model)))
        if price is None:
            unpriced[work.model] = None
        if price is None or work.searches:
            likely_unknown += work.calls
            worst_unknown += most_calls
            continue
        given = (work.shared_bytes + mean * work.places) // _BYTES_PER_TOKEN
        read = given + _LIKELY_FRAME_TOKENS + work.answers * likely_answer
        limit = output_limit(work.kind, work.parameters)
        written = min(limit, _LIKELY_TOKENS[work.kind])
        likely += work.calls * price.cost_micros(Usage(input_tokens=read, output_tokens=written))
        read = FRAME_BYTES + work.shared_bytes + longest * work.places + work.answers * longest_answer
        one = price.most_micros(read, limit)
        worst, dearest = worst + most_calls * one, max(dearest, one)
    return Costs(likely, worst, likely_unknown, worst_unknown, tuple(unpriced), dearest)


def likely_usage(read_bytes: int, parameters: Parameters, existing: Sequence[int]) -> Usage:
    """The tokens of an answer to a prompt of so many bytes, as long as those that exist already are on average."""
    written = _mean(existing) // _BYTES_PER_TOKEN or _LIKELY_TOKENS["generate"]
    return Usage(
        input_tokens=read_bytes // _BYTES_PER_TOKEN + _LIKELY_FRAME_TOKENS,
        output_tokens=min(output_limit("generate", parameters), written),
    )


def _mean(sizes: Sequence[int]) -> int:
    return sum(sizes) // max(1, len(sizes))
