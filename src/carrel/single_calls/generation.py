"""One prompt for one model, outside of runs."""

from collections.abc import Callable

from carrel.kit.money import text_if_known
from carrel.kit.plain_text import as_text
from carrel.providers.base import GenerateMatter, ModelRequest
from carrel.single_calls.caller import Caller, CallResult, SingleCall
from carrel.single_calls.schemas import Completion, GenerationIn
from carrel.vault.workspace import Workspace


async def generate(caller: Caller, workspace: Workspace, data: GenerationIn) -> Completion:
    """Ask the model once and return its answer.

    Raises:
        BadInput, ProviderKeyMissing, RateLimited, ModelCallFailed, ModelCallRefused: as `Caller.call` says.
    """
    return shown(data, await caller.call(workspace, wanted(data), request(data)))


async def generate_in_pieces(
    caller: Caller, workspace: Workspace, data: GenerationIn, on_piece: Callable[[str], None]
) -> Completion:
    """Ask the model and return its answer. Each piece of the text goes to `on_piece` as it comes.

    A model that does not stream sends its answer in one piece.

    Raises:
        BadInput, ProviderKeyMissing, RateLimited, ModelCallFailed, ModelCallRefused: as `Caller.call` says.
    """
    return shown(data, await caller.call(workspace, wanted(data), request(data), on_piece=on_piece))


def wanted(data: GenerationIn) -> SingleCall:
    """The model, as the body names it."""
    return SingleCall(data.model, "model", "generate")


def request(data: GenerationIn) -> ModelRequest:
    """The call. The prompt is sent as it is, without fences: the same person wrote it and asks."""
    return ModelRequest(
        model=data.model,
        system=data.system,
        prompt=data.prompt,
        matter=GenerateMatter(data.prompt, data.system),
        parameters=data.parameters,
        timeout_seconds=data.timeout_seconds,
    )


def shown(data: GenerationIn, done: CallResult) -> Completion:
    """The answer as it is sent to the client."""
    return Completion(
        id=done.call_id,
        model=data.model,
        host=done.host,
        text=as_text(done.answer.text),
        thought=as_text(done.answer.thought) or None,
        finish_reason=done.answer.finish_reason,
        usage=done.answer.usage,
        cost=text_if_known(done.cost_micros),
        latency_ms=done.latency_ms,
    )
