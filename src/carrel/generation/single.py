"""One prompt for one model, outside of runs."""

from collections.abc import Callable

from carrel.generation.schemas import Completion, GenerationIn
from carrel.kit.money import text_if_known
from carrel.one_off.caller import Caller, Done, Wanted
from carrel.providers.base import GenerateMatter, Request
from carrel.vault.workspace import Workspace


async def generate(caller: Caller, workspace: Workspace, data: GenerationIn) -> Completion:
    """The model's answer.

    Raises:
        BadInput, ProviderKeyMissing, RateLimited, ModelCallFailed, ModelCallRefused: as `Caller.call` says.
    """
    return shown(data, await caller.call(workspace, wanted(data), request(data)))


async def generate_told(
    caller: Caller, workspace: Workspace, data: GenerationIn, told: Callable[[str], None]
) -> Completion:
    """The model's answer, which `told` gets piece by piece, or in one piece if the model does not stream.

    Raises:
        BadInput, ProviderKeyMissing, RateLimited, ModelCallFailed, ModelCallRefused: as `Caller.call` says.
    """
    return shown(data, await caller.call(workspace, wanted(data), request(data), told=told))


def wanted(data: GenerationIn) -> Wanted:
    """The model, as the body names it."""
    return Wanted(data.model, "model", "generate")


def request(data: GenerationIn) -> Request:
    """The call. The prompt is sent as it is, without fences: the same person wrote it and asks."""
    return Request(
        model=data.model,
        system=data.system,
        prompt=data.prompt,
        matter=GenerateMatter(data.prompt, data.system),
        parameters=data.parameters,
        timeout_seconds=data.timeout_seconds,
    )


def shown(data: GenerationIn, done: Done) -> Completion:
    """The answer as it is sent to the client."""
    return Completion(
        id=done.call_id,
        model=data.model,
        text=sendable(done.answer.text),
        finish_reason=done.answer.finish_reason,
        usage=done.answer.usage,
        cost=text_if_known(done.cost_micros),
        latency_ms=done.latency_ms,
    )


def sendable(text: str) -> str:
    """The text, for a wire that takes no half characters."""
    return text.encode("utf-8", "replace").decode("utf-8")
