"""The body of a call: the request as a server takes it, in its protocol, with the fields that a user adds. Pure."""

from msgspec.structs import replace

from carrel.providers import extra, refusals
from carrel.providers.base import ModelRequest, ParametersNotTaken, Turn
from carrel.providers.protocols.wire import NO_QUIRKS, Form, Quirks, Wire

_BYTES_OF_A_TOKEN = 3
"""Of a prompt, at least: a text takes fewer tokens than this says, so an answer that fits beside it fits."""


def encoded(
    wire: Wire, request: ModelRequest, form: Form, quirks: Quirks = NO_QUIRKS, *, stream: bool = False
) -> bytes:
    """The body of a call, with the fields that the user sends along.

    Raises:
        ParametersNotTaken: the protocol has no word for something, or a field stands there already.
    """
    body = wire.encoded(request, form, quirks, stream=stream)
    if not request.parameters.extra:
        return body
    whole = extra.joined(body, request.parameters.extra)
    if isinstance(whole, str):
        raise ParametersNotTaken(whole)
    return whole


def adapted(request: ModelRequest, quirks: Quirks, limit: int | None) -> ModelRequest:
    """The request as this server takes it. A limit that nobody set is no higher than what fits."""
    if quirks.no_system and request.system:
        first, *others = request.said
        turns = (Turn(first.role, f"{request.system}\n\n{first.content}"), *others)
        request = replace(request, system="", turns=turns)
    if request.parameters.max_output_tokens is not None:
        return request
    limits = [limit, quirks.most_output]
    if quirks.window is not None:
        read = len(request.system.encode()) + sum(len(turn.content.encode()) for turn in request.said)
        limits.append(max(quirks.window - read // _BYTES_OF_A_TOKEN, refusals.LOWEST_OUTPUT_TOKENS))
    lowest = min((one for one in limits if one is not None), default=request.output_limit)
    if lowest >= request.output_limit:
        return request
    return replace(request, parameters=replace(request.parameters, max_output_tokens=lowest))
