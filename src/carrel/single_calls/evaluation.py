"""One score or one comparison outside of runs, with the same prompts and re-asks as in runs."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeVar

from carrel.config import Settings
from carrel.contents import criteria as criteria_yaml
from carrel.errors import BadInput, FieldError
from carrel.evaluation import records
from carrel.evaluation.asking import judge, replies
from carrel.evaluation.asking.judge import JudgePrompt
from carrel.evaluation.asking.replies import CompareReply, ReplyFault, ScoreReply
from carrel.evaluation.records import Side, Verdict, Word
from carrel.kit.money import text_of
from carrel.kit.sqlite.database import Connection
from carrel.providers import hosts
from carrel.providers.base import Answer, CompareMatter, Criterion, ModelRequest, ScoreMatter
from carrel.providers.registry import provider_of
from carrel.single_calls.caller import Caller, CallResult, SingleCall
from carrel.single_calls.refusals import FormRefused
from carrel.single_calls.schemas import Compared, CompareIn, Said, Scored, ScoreIn, SingleJudge
from carrel.vault.workspace import Workspace

REASKS = 2
"""How often Carrel asks a judge again after a malformed reply; the same number as in runs."""
_FORMS_REFUSED = 2
"""The number of ways to require a structured reply that a server can refuse; the last way is the prompt alone."""

R = TypeVar("R", ScoreReply, CompareReply)


class _Question(NamedTuple):
    """The judge, the question, and the objects that a call needs."""

    caller: Caller
    workspace: Workspace
    judge: SingleJudge


async def score(caller: Caller, workspace: Workspace, settings: Settings, data: ScoreIn) -> Scored:
    """Have the judge score one answer.

    Raises:
        BadInput, ProviderKeyMissing, RateLimited, ModelCallFailed, ModelCallRefused: as `Caller.call` says.
    """
    criteria = _criteria(data.criteria, settings)
    matter = ScoreMatter(data.document, data.answer, criteria, data.reference)
    prompt = judge.score_prompt(matter, data.instructions or None, workspace.read(_seed))
    asked = _Question(caller, workspace, data.judge)
    reply, done = await _ask(asked, matter, prompt, lambda text: replies.parse_score(text, criteria))
    return Scored(
        judge=data.judge.model,
        host=_host(data.judge.model, done),
        marks=None if isinstance(reply, ReplyFault) else reply.scores,
        reason=None if isinstance(reply, ReplyFault) else reply.reason,
        fault=replies.CODES[reply.message] if isinstance(reply, ReplyFault) else None,
        calls=[one.call_id for one in done],
        cost=_cost(done),
        latency_ms=sum(one.latency_ms for one in done),
    )


async def compare(caller: Caller, workspace: Workspace, settings: Settings, data: CompareIn) -> Compared:
    """Have the judge compare two answers, in both orders.

    Raises:
        BadInput, ProviderKeyMissing, RateLimited, ModelCallFailed, ModelCallRefused: as `Caller.call` says.
    """
    criteria = () if data.criteria is None else _criteria(data.criteria, settings)
    said, done = [], list[CallResult]()
    for first, second in ((data.a, data.b), (data.b, data.a)):
        matter = CompareMatter(data.document, first, second, criteria, data.reference)
        one, made = await compare_in_one_order(caller, workspace, data.judge, matter, data.instructions)
        said.append(one)
        done += made
    verdict = Verdict(document="", judge=data.judge.model, a="a", b="b", ab=said[0].word, ba=said[1].word)
    fate = records.fate(verdict)
    return Compared(
        judge=data.judge.model,
        host=_host(data.judge.model, done),
        winner=_WINNERS[said[0].word] if fate == "agreed" else None,
        fate=fate,
        ab=said[0],
        ba=said[1],
        calls=[one.call_id for one in done],
        cost=_cost(done),
        latency_ms=sum(one.latency_ms for one in done),
    )


async def compare_in_one_order(
    caller: Caller, workspace: Workspace, asked: SingleJudge, matter: CompareMatter, instructions: str | None
) -> tuple[Said, list[CallResult]]:
    """What the judge says in the order of the matter, with every call that this took.

    Raises:
        BadInput, ProviderKeyMissing, RateLimited, ModelCallFailed, ModelCallRefused: as `Caller.call` says.
    """
    prompt = judge.compare_prompt(matter, instructions or None, workspace.read(_seed))
    reply, done = await _ask(_Question(caller, workspace, asked), matter, prompt, replies.parse_comparison)
    return _said(reply), done


_WINNERS: dict[Word, Side] = {"first": "a", "second": "b", "tie": "tie"}


async def _ask(
    asked: _Question, matter: ScoreMatter | CompareMatter, prompt: JudgePrompt, parse: Callable[[str], R | ReplyFault]
) -> tuple[R | ReplyFault, list[CallResult]]:
    """The judge's reply, asked for again while it is malformed, with every call that this took."""
    wanted = SingleCall(asked.judge.model, "judge.model", "score" if isinstance(matter, ScoreMatter) else "compare")
    done: list[CallResult] = []
    again = prompt
    while True:
        request = ModelRequest(
            model=asked.judge.model,
            system=again.system,
            prompt=again.prompt,
            matter=matter,
            parameters=asked.judge.parameters,
            schema=again.schema,
            timeout_seconds=asked.judge.timeout_seconds,
        )
        made = await _call(asked, wanted, request, len(done) + 1, lambda answer: _fault(parse, answer))
        done.append(made)
        reply = _read(parse, made.answer)
        if not isinstance(reply, ReplyFault) or len(done) > REASKS or replies.CODES[reply.message] in replies.FINAL:
            return reply, done
        again = judge.asked_again(prompt, reply.message)


async def _call(
    asked: _Question, wanted: SingleCall, request: ModelRequest, attempt: int, fault_of: Callable[[Answer], str | None]
) -> CallResult:
    """One call; a further call at once if the server refuses that way of asking for a structured reply."""
    for _ in range(_FORMS_REFUSED):
        with suppress(FormRefused):
            return await asked.caller.call(asked.workspace, wanted, request, attempt=attempt, fault_of=fault_of)
    return await asked.caller.call(asked.workspace, wanted, request, attempt=attempt, fault_of=fault_of)


def _fault(parse: Callable[[str], R | ReplyFault], answer: Answer) -> str | None:
    reply = _read(parse, answer)
    return replies.CODES[reply.message] if isinstance(reply, ReplyFault) else None


def _read(parse: Callable[[str], R | ReplyFault], answer: Answer) -> R | ReplyFault:
    reply = parse(answer.text)
    return replies.because(reply, answer.finish_reason) if isinstance(reply, ReplyFault) else reply


def _said(reply: CompareReply | ReplyFault) -> Said:
    if isinstance(reply, ReplyFault):
        return Said(word="invalid", reason=None, fault=replies.CODES[reply.message])
    return Said(word=reply.winner, reason=reply.reason, fault=None)


def _criteria(text: str, settings: Settings) -> tuple[Criterion, ...]:
    try:
        return criteria_yaml.parse(text, settings.max_criteria_bytes)
    except BadInput as error:
        # Here the criteria are in a field of their own, not in a content's body.
        faults = (FieldError(fault.path.replace("body", "criteria", 1), fault.message) for fault in error.errors)
        raise BadInput(errors=tuple(faults)) from None


def _host(model: str, done: Sequence[CallResult]) -> str | None:
    """Where these calls were answered; the key may have been changed between two of them."""
    return hosts.joined(provider_of(model), {one.host for one in done})


def _cost(done: Sequence[CallResult]) -> str | None:
    known = [one.cost_micros for one in done if one.cost_micros is not None]
    return text_of(sum(known)) if len(known) == len(done) else None


def _seed(conn: Connection) -> str:
    return conn.new_id()
