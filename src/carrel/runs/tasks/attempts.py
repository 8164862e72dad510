"""One attempt at one task: what it asks of which model, and what the model's answer means. Pure."""

from typing import Literal

import msgspec

from carrel.evaluation.asking import judge as judging
from carrel.evaluation.asking import replies
from carrel.evaluation.asking.replies import ReplyFault
from carrel.kit.plain_text import as_text
from carrel.metering.calls import Hold
from carrel.providers.base import (
    Answer,
    Citation,
    CombineMatter,
    CompareMatter,
    Criterion,
    FinishReason,
    GenerateMatter,
    Grounding,
    Matter,
    ModelRequest,
    Parameters,
    ScoreMatter,
)
from carrel.providers.prices import Price
from carrel.providers.registry import name_of, reads_matter
from carrel.runs.model import prompts
from carrel.runs.model.plan import Kind
from carrel.runs.model.prompts import Instructions

REASKS = 2
"""How often a judge is asked again after a reply in a wrong form."""

_FAULTS = replies.CODES
"""The prompt repeats the sentence to the judge; rows store the code."""
_SENTENCES = {code: sentence for sentence, code in _FAULTS.items()}


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """A task that was claimed, with every text that the call needs. `call_id` is its row among the calls.

    `fault` is the code of the attempt before, if there was one; after a malformed reply the prompt names it to the
    judge. `schema` is what a candidate's answer has to follow, as JSON. `host` is where the model is to answer, `None`
    for its provider's own host. `price` is `None` where it is unknown, `hold` where no credits pay.
    """

    task: int
    key: str
    kind: Kind
    number: int
    call_id: str
    model: str
    host: str | None
    parameters: Parameters
    matter: Matter
    instructions: Instructions | None
    reference: str | None = None
    criteria: tuple[Criterion, ...] = ()
    fault: str | None = None
    grounding: Grounding = "off"
    schema: str | None = None
    price: Price | None = None
    hold: Hold | None = None


class GenerateResult(msgspec.Struct, frozen=True):
    """A text, complete or not. `lacks_citations`: it names none, although it had to search.

    `thought` is what the model wrote before it, and is neither judged nor counted.
    """

    text: str
    finish_reason: FinishReason
    citations: tuple[Citation, ...] = ()
    lacks_citations: bool = False
    thought: str = ""


class ScoreResult(msgspec.Struct, frozen=True):
    """One number for each criterion."""

    marks: dict[str, float]
    reason: str


class CompareResult(msgspec.Struct, frozen=True):
    """Which answer won, in the order in which the judge saw them."""

    word: Literal["first", "second", "tie"]
    reason: str


class InvalidReply(msgspec.Struct, frozen=True):
    """A judge's reply that was not in the form that was asked for; `raw` is stored."""

    code: str
    raw: str


class CallFailure(msgspec.Struct, frozen=True):
    """The call returned no answer. `said` are the provider's own sentences.

    `silent_seconds` is how long the provider has answered no call at all, if it is down.
    """

    code: str
    retryable: bool
    retry_after_seconds: float | None = None
    said: str = ""
    silent_seconds: float | None = None


Result = GenerateResult | ScoreResult | CompareResult | InvalidReply | CallFailure


def request(attempt: Attempt, fence_seed: str, timeout_seconds: float) -> ModelRequest:
    """Build the request. Equal attempts give equal bytes, also after a restart; `fence_seed` is the run's secret."""
    name = name_of(attempt.model)
    if reads_matter(attempt.model):
        return ModelRequest(
            model=name,
            system="",
            prompt="",
            matter=attempt.matter,
            parameters=attempt.parameters,
            timeout_seconds=timeout_seconds,
        )
    asked = _prompt(attempt, f"{fence_seed}:{attempt.key}")
    return ModelRequest(
        model=name,
        system=asked.system,
        prompt=asked.prompt,
        turns=asked.turns if isinstance(asked, prompts.Prompt) else (),
        matter=attempt.matter,
        parameters=attempt.parameters,
        schema=asked.schema if isinstance(asked, judging.JudgePrompt) else _schema(attempt),
        timeout_seconds=timeout_seconds,
        grounding=attempt.grounding,
    )


def _prompt(attempt: Attempt, seed: str) -> prompts.Prompt | judging.JudgePrompt:
    matter = attempt.matter
    if isinstance(matter, GenerateMatter | CombineMatter):
        return prompts.in_json(_candidates_prompt(attempt, matter, seed), attempt.schema)
    text, slots, _ = attempt.instructions or (None, None, False)
    asked = (
        judging.score_prompt(matter, text, seed, slots)
        if isinstance(matter, ScoreMatter)
        else judging.compare_prompt(matter, text, seed, slots)
    )
    if attempt.fault in _SENTENCES:
        asked = judging.asked_again(asked, _SENTENCES[attempt.fault])
    return asked


def _candidates_prompt(attempt: Attempt, matter: GenerateMatter | CombineMatter, seed: str) -> prompts.Prompt:
    if isinstance(matter, CombineMatter):
        return prompts.combine_prompt(attempt.instructions, matter, attempt.reference, attempt.criteria, seed)
    instructions = attempt.instructions or Instructions("", ())
    if matter.turns:
        return prompts.conversation_prompt(instructions, matter, attempt.reference, attempt.criteria, seed)
    return prompts.prompt(instructions, matter.document, attempt.reference, attempt.criteria, seed)


def _schema(attempt: Attempt) -> dict[str, object] | None:
    return None if attempt.schema is None else msgspec.json.decode(attempt.schema, type=dict[str, object])


def result(attempt: Attempt, answer: Answer) -> Result:
    """Interpret the answer as the result of the task."""
    matter = attempt.matter
    if isinstance(matter, GenerateMatter | CombineMatter):
        lacks_citations = attempt.grounding == "required" and not answer.citations
        found = tuple(Citation(as_text(one.url), as_text(one.title)) for one in answer.citations)
        return GenerateResult(
            as_text(answer.text), answer.finish_reason, found, lacks_citations, as_text(answer.thought)
        )
    if isinstance(matter, CompareMatter):
        compared = replies.parse_comparison(answer.text)
        return _malformed(compared, answer) if isinstance(compared, ReplyFault) else CompareResult(*compared)
    scored = replies.parse_score(answer.text, matter.criteria)
    return _malformed(scored, answer) if isinstance(scored, ReplyFault) else ScoreResult(*scored)


def _malformed(fault: ReplyFault, answer: Answer) -> InvalidReply:
    fault = replies.because(fault, answer.finish_reason)
    return InvalidReply(_FAULTS[fault.message], as_text(answer.text)[: replies.MAX_REPLY_CHARACTERS])
