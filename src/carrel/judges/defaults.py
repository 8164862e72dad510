"""Who judges unless the user says otherwise: the one place that decides it, for every program. Pure.

A default judge has passed its check, or is of a class that is known to pass; it is of another family than every
candidate, and not about to be switched off. Of those, the cheapest two judge, of different families. Where there is
none, nobody judges by default, and the sentence says why. Only built-in candidates have built-in judges, which show
how it works and no more.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final, Literal, NamedTuple

from carrel.evaluation.words import listed, percent
from carrel.judges.schemas import DefaultJudge, DefaultJudges, Grounds, JudgeCheck
from carrel.models import fitness
from carrel.models.fitness import Figure
from carrel.models.schemas import Model
from carrel.providers import endings
from carrel.providers.hosts import ModelAt
from carrel.providers.registry import is_built_in

MOST: Final = 2
READS_TOKENS: Final = 16_000
"""A judge reads the document, both answers and the question."""

Lack = Literal["family", "ends", "short", "failed", "unknown"]
_LACKS: Final[dict[Lack, tuple[str, str]]] = {
    "family": ("is of a candidate's family", "are of a candidate's family"),
    "ends": ("is switched off soon", "are switched off soon"),
    "short": ("reads too little", "read too little"),
    "failed": ("is known to judge badly", "are known to judge badly"),
    "unknown": ("was never checked", "were never checked"),
}


class Competitor(NamedTuple):
    """The model of a candidate, and its family."""

    model: str
    family: str


def chosen(
    models: Iterable[Model],
    candidates: Iterable[Competitor],
    checks: Mapping[ModelAt, JudgeCheck],
    at_seconds: float,
) -> DefaultJudges:
    """The default judges of these candidates, among the models that can be called. `checks` are the newest ones."""
    competing = list(candidates)
    able = [one for one in models if one.available and "judge" in one.roles]
    if competing and all(is_built_in(one.model) for one in competing):
        return _demonstration(able)
    families = {one.family for one in competing}
    lacks: Counter[Lack] = Counter()
    good: list[tuple[Model, DefaultJudge]] = []
    for model in able:
        if not is_built_in(model.model):
            found = _judged(model, families, checks.get(ModelAt(model.model, model.host)), at_seconds)
            if isinstance(found, DefaultJudge):
                good.append((model, found))
            else:
                lacks[found] += 1
    judges: list[DefaultJudge] = []
    for _, judge in sorted(good, key=lambda one: (one[1].grounds != "check", _price(one[0]), one[0].model)):
        if len(judges) < MOST and judge.family not in {other.family for other in judges}:
            judges.append(judge)
    return DefaultJudges(judges=judges, sentence=_why(judges) if judges else _nobody(lacks))


def _judged(model: Model, families: set[str], check: JudgeCheck | None, at_seconds: float) -> DefaultJudge | Lack:
    if model.family in families:
        return "family"
    if endings.ends_soon(model.model, model.host, at_seconds):
        return "ends"
    if model.context_tokens is not None and model.context_tokens < READS_TOKENS:
        return "short"
    if check is not None and check.passed is not None:
        return _judge(model, "check", check.right.share) if check.passed else "failed"
    figure = fitness.figure_of(model.model, model.host)
    if figure is None:
        return "unknown"
    return _judge(model, "class", figure.right, figure) if figure.passes else "failed"


def _judge(model: Model, grounds: Grounds, right: float | None = None, figure: Figure | None = None) -> DefaultJudge:
    return DefaultJudge(
        model=model.model,
        host=model.host,
        family=model.family,
        grounds=grounds,
        right=right,
        measured=None if figure is None else figure.measured,
        source=None if figure is None else figure.source,
    )


def _demonstration(able: Iterable[Model]) -> DefaultJudges:
    judges = [_judge(one, "demonstration") for one in able if is_built_in(one.model)][:MOST]
    return DefaultJudges(
        judges=judges, sentence="The built-in judges fail the check of judges: what they say is a demonstration."
    )


def _price(model: Model) -> Decimal:
    """Dollars for a million tokens in and a quarter of that out, as judges read and write; unknown ones come last."""
    if model.prices is None:
        return Decimal("Infinity")
    return Decimal(model.prices.input_per_million) + Decimal(model.prices.output_per_million) / 4


def _why(judges: list[DefaultJudge]) -> str:
    return "; ".join(map(_ground, judges)) + "."


def _ground(judge: DefaultJudge) -> str:
    right = percent(judge.right or 0.0)
    if judge.grounds == "check":
        return f"{judge.model} passed its check with {right}"
    return f"{judge.model} is of the line of {judge.measured}, which is right in {right} of LLMBar-Natural"


def _nobody(lacks: Mapping[Lack, int]) -> str:
    if not lacks:
        return "No key of yours opens a judge: store one, or choose a judge yourself."
    counted = [f"{number} {_LACKS[lack][number > 1]}" for lack in _LACKS if (number := lacks.get(lack, 0))]
    return (
        "No model that your keys open is good enough to judge these candidates by default: "
        f"{listed(counted)}. Check a judge, which takes 24 calls, or choose one yourself."
    )
