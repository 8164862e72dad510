"""Fields that a user sends along as they are (`extra`): which they may be, and how they join the body of a call. Pure.

What Carrel sends itself decides who is asked, what is paid and how answers are read, so a user sets it by its own name
or not at all.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

MAX_BYTES: Final = 4_096
MAX_NAMES: Final = 50
MAX_DEPTH: Final = 5

_PARAMETERS: Final = {
    "temperature": "temperature",
    "topp": "top_p",
    "topk": "top_k",
    "seed": "seed",
    "randomseed": "seed",
    "stop": "stop",
    "stopsequences": "stop",
    "verbosity": "verbosity",
    "reasoningeffort": "reasoning_effort",
    "frequencypenalty": "frequency_penalty",
    "presencepenalty": "presence_penalty",
    "maxtokens": "max_output_tokens",
    "maxcompletiontokens": "max_output_tokens",
    "maxoutputtokens": "max_output_tokens",
    "maxnewtokens": "max_output_tokens",
    "numpredict": "max_output_tokens",
}
"""The parameters, by the names that protocols have for them."""
_OURS: Final = frozenset(
    {"model", "models", "messages", "input", "prompt", "contents", "system", "systeminstruction", "instructions"}
    | {"stream", "streamoptions", "responseformat", "text", "outputconfig", "responsemimetype", "responseschema"}
    | {"responsejsonschema", "tools", "toolchoice", "toolconfig", "functions", "functioncall", "websearchoptions"}
    | {"plugins", "store", "background", "conversation", "previousresponseid", "cachedcontent", "container"}
    | {"mcpservers", "modalities", "audio", "n", "bestof", "candidatecount", "route", "fallbacks", "anthropicversion"}
)
_PRICED: Final = frozenset({"servicetier", "speed", "inferencegeo", "performanceconfig", "guardrailconfig"})
"""What changes the price of a call."""
_HOLDERS: Final = frozenset({"generationconfig", "inferenceconfig", "options", "additionalmodelrequestfields"})
"""Fields in which protocols put parameters."""


def fault(extra: Mapping[str, Any], path: str = "extra") -> tuple[str, str] | None:
    """Why these fields may not be sent: the path of one and a sentence; `None` if they may."""
    if len(msgspec.json.encode(extra)) > MAX_BYTES:
        return path, f"must be at most {MAX_BYTES:,} bytes of JSON"
    if _depth(extra) > MAX_DEPTH:
        return path, f"must be nested at most {MAX_DEPTH} deep"
    if _names(extra) > MAX_NAMES:
        return path, f"must have at most {MAX_NAMES} names"
    return _foreign(extra, path)


def _foreign(extra: Mapping[str, Any], path: str) -> tuple[str, str] | None:
    for name, value in extra.items():
        plain = name.replace("_", "").lower()
        if plain in _PARAMETERS:
            return f"{path}.{name}", f"is a parameter of its own: set {_PARAMETERS[plain]}"
        if plain in _OURS:
            return f"{path}.{name}", "is set by Carrel"
        if plain in _PRICED:
            return f"{path}.{name}", "changes the price, which nobody could know then"
        if plain in _HOLDERS and isinstance(value, dict) and (found := _foreign(value, f"{path}.{name}")):
            return found
    return None


def joined(body: bytes, extra: Mapping[str, Any]) -> bytes | str:
    """The body with these fields in it; or the path of one that stands in it already."""
    whole: dict[str, Any] = msgspec.json.decode(body)
    clash = _join(whole, extra, "extra")
    return clash or msgspec.json.encode(whole)


def _join(whole: dict[str, Any], extra: Mapping[str, Any], path: str) -> str | None:
    for name, value in extra.items():
        if name not in whole:
            whole[name] = value
        elif isinstance(whole[name], dict) and isinstance(value, dict):
            if clash := _join(whole[name], value, f"{path}.{name}"):
                return clash
        else:
            return f"{path}.{name}"
    return None


def _depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    return 0


def _names(value: object) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_names, value.values()))
    return sum(map(_names, value)) if isinstance(value, list) else 0
