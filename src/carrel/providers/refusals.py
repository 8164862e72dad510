"""What an HTTP answer without a completion means: one of Carrel's own codes, and whether to try again. Pure.

This module understands only those words of providers that it names, and Carrel never repeats one of them.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import msgspec

from carrel.providers.base import Parameters, ProviderError
from carrel.providers.foreign_json import decoded

LONGEST_WAIT_SECONDS = 3_600.0
"""If a server asks for a longer wait than an hour, Carrel asks it again after an hour."""

_WAITS = ("Retry-After", "llm_provider-retry-after")
"""The second is LiteLLM's, with which it passes on what the provider behind it said."""
_MILLISECONDS = ("retry-after-ms", "x-ms-retry-after-ms")
_NO_CREDIT = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "insufficient_balance",
        "credit_exhausted",
        "billing_error",
        "budget_exceeded",
    }
)
_NO_CREDIT_PHRASES = ("credit balance is too low", "credits are depleted")
_BAD_KEY_REASONS = frozenset({"API_KEY_INVALID", "API_KEY_EXPIRED"})
_BAD_KEY_WORDS = frozenset({"no_db_connection"})
"""LiteLLM's, where it has no database of keys and so knows only its own key."""
_TOO_FAST = frozenset({"rate_limit_error", "rate_limit_exceeded", "resource_exhausted", "429"})
_NO_MODEL = frozenset({"model_not_found", "model_not_available", "unknown_model"})
_NO_MODEL_PHRASES = ("invalid model name passed in",)
_NOT_SAID = frozenset({"content_filter", "content_policy_violation", "moderation_blocked"})
_FILTERED_PHRASES = ("blocked by content filtering policy", "litellm.contentpolicyviolationerror")
_FORMS = (
    b"response_format",
    b"json_schema",
    b"json_object",
    b"structured output",
    b"output_config",
    b"output_format",
    b"input_schema",
    b"tool_choice",
    b"responseJsonSchema",
    b"response_json_schema",
    b"responseMimeType",
    b"response_mime_type",
    b"JSON mode",
)
_SEARCH = re.compile(r"web_?search|google_?search", re.IGNORECASE)
"""The words with which servers refuse that a model searches the web."""
_STREAM = re.compile(r"\bstream(ing|ed)?\b", re.IGNORECASE)
"""The words with which servers refuse to send an answer piece by piece."""
_NOT_TAKEN = frozenset({"unsupported_parameter", "unsupported_value"})
_PARAMETERS = {
    "temperature": re.compile(r"\btemperature\b", re.IGNORECASE),
    "top_p": re.compile(r"\btop_?p\b", re.IGNORECASE),
    "seed": re.compile(r"\b(random_)?seed\b", re.IGNORECASE),
    "top_k": re.compile(r"\btop_?k\b", re.IGNORECASE),
    "frequency_penalty": re.compile(r"\bfrequency_?penalty\b", re.IGNORECASE),
    "presence_penalty": re.compile(r"\bpresence_?penalty\b", re.IGNORECASE),
    "thinking_budget": re.compile(r"\b(thinking|budget_?tokens|reasoning)", re.IGNORECASE),
    "reasoning_effort": re.compile(r"\b(reasoning|effort|thinking)", re.IGNORECASE),
}
"""The words with which servers name a parameter that they refuse. An output limit is not among them: servers also name
it when the text is too long."""
_OUTPUT_LIMITS = re.compile(r"\bmax_?(completion_|new_|output_)?tokens\b|\bcompletion tokens\b", re.IGNORECASE)
"""The words with which servers name an output limit that is too high for the model, or for the text beside it."""
_SECONDS = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)s")
_BAD_KEY = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_NOT_BEGUN = frozenset({HTTPStatus.SERVICE_UNAVAILABLE, 529})
"""The server is too busy to take the call (RFC 9110, section 15.6.4; 529 is Anthropic's). After its other errors nobody
knows whether a model worked."""
_BAD_REQUEST = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})


class _Body(msgspec.Struct, frozen=True):
    code: str | int | None = None
    type: str | None = None
    status: str | int | None = None


class _ErrorBody(msgspec.Struct, frozen=True):
    error: _Body = _Body()


class _Message(msgspec.Struct, frozen=True):
    message: str = ""
    param: str | None = None


class _Saying(msgspec.Struct, frozen=True):
    error: _Message = _Message()


class _Detail(msgspec.Struct, frozen=True, rename="camel"):
    """Google's: why it refused a key, or how long to wait."""

    reason: str | None = None
    retry_delay: str | None = None


class _Details(msgspec.Struct, frozen=True):
    details: list[_Detail] = []


class _DetailsBody(msgspec.Struct, frozen=True):
    error: _Details = _Details()


_wrapped = msgspec.json.Decoder(_ErrorBody)
_bare = msgspec.json.Decoder(_Body)
_saying = msgspec.json.Decoder(_Saying)
_detailed = msgspec.json.Decoder(_DetailsBody)


def refusal(status: int, headers: Mapping[str, str], body: bytes, now: float) -> ProviderError:
    """Return the error for a reply without an answer; `now` is the time in seconds since the epoch."""
    words = _words(body)
    details = _details(body)
    if status == HTTPStatus.PAYMENT_REQUIRED or words & _NO_CREDIT or _says(body, _NO_CREDIT_PHRASES):
        return ProviderError("provider-no-credit", retryable=False, unbilled=True)
    if status in _BAD_KEY or words & _BAD_KEY_WORDS or any(detail.reason in _BAD_KEY_REASONS for detail in details):
        return ProviderError("provider-key-rejected", retryable=False, unbilled=True)
    if status == HTTPStatus.NOT_FOUND or words & _NO_MODEL or _says(body, _NO_MODEL_PHRASES):
        return ProviderError("model-unknown", retryable=False, unbilled=True)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        limited = _later("rate-limited", headers, now, unbilled=True)
        if limited.retry_after_seconds is None:
            limited.retry_after_seconds = _delay(details)
        return limited
    if status == HTTPStatus.REQUEST_TIMEOUT:
        return _later("provider-timeout", headers, now)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return _later("provider-overloaded", headers, now, unbilled=status in _NOT_BEGUN)
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return ProviderError("provider-redirected", retryable=False, unbilled=True)
    if status < HTTPStatus.MULTIPLE_CHOICES:
        return ProviderError("provider-malformed", retryable=True)
    return ProviderError("request-refused", retryable=False, unbilled=True)


def broken_off(body: bytes) -> ProviderError:
    """Return the error for one that a stream sends after it has begun: the provider may bill the text before it."""
    words = _words(body)
    if words & _NO_CREDIT or _says(body, _NO_CREDIT_PHRASES):
        return ProviderError("provider-no-credit", retryable=False)
    if words & _TOO_FAST:
        return ProviderError("rate-limited", retryable=True)
    return ProviderError("provider-overloaded", retryable=True)


def is_content_refusal(status: int, body: bytes) -> bool:
    """Whether the server refuses to work on this text by its rules for contents. Carrel counts that as an answer."""
    return status in _BAD_REQUEST and (bool(_words(body) & _NOT_SAID) or _says(body, _FILTERED_PHRASES))


def is_about_form(status: int, body: bytes) -> bool:
    """Whether the server refused the way in which the answer was to be structured."""
    return status in _BAD_REQUEST and any(word in body for word in _FORMS)


def is_about_parameter(status: int, body: bytes, parameters: Parameters) -> bool:
    """Whether the server refused one of the parameters that were set."""
    if status not in _BAD_REQUEST:
        return False
    message = _message(body)
    said = f"{message.param or ''} {message.message}"
    if any(getattr(parameters, name) is not None and word.search(said) for name, word in _PARAMETERS.items()):
        return True
    return bool(_words(body) & _NOT_TAKEN) and not is_about_form(status, body)


def is_about_search(status: int, body: bytes) -> bool:
    """Whether the server refused that the model searches the web."""
    if status not in _BAD_REQUEST:
        return False
    message = _message(body)
    return _SEARCH.search(f"{message.param or ''} {message.message}") is not None


def is_about_stream(status: int, body: bytes) -> bool:
    """Whether the server refused to send the answer piece by piece, as OpenAI does to some accounts for some models."""
    if status not in _BAD_REQUEST:
        return False
    message = _message(body)
    return _STREAM.search(f"{message.param or ''} {message.message}") is not None


def is_about_output_limit(status: int, body: bytes) -> bool:
    """Whether the server named the output limit as the reason for which it refused the call."""
    if status not in _BAD_REQUEST:
        return False
    message = _message(body)
    return _OUTPUT_LIMITS.search(f"{message.param or ''} {message.message}") is not None


def wait_of(headers: Mapping[str, str], now: float) -> float | None:
    """The seconds for which the server asks to wait; `None` if it does not say, or in no form that Carrel can read.

    `Retry-After` is a number of seconds or a date (RFC 9110, section 10.2.3); some servers send milliseconds in a
    header of their own.
    """
    for name in _MILLISECONDS:
        seconds = _number(headers.get(name))
        if seconds is not None:
            return _within(seconds / 1000)
    text = next((headers[name] for name in _WAITS if name in headers), None)
    if text is None:
        return None
    seconds = _number(text)
    if seconds is not None:
        return _within(seconds)
    try:
        date = parsedate_to_datetime(text)
        # A date without a time zone is in UTC, never in the zone of this machine.
        return _within((date if date.tzinfo is not None else date.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def _later(code: str, headers: Mapping[str, str], now: float, *, unbilled: bool = False) -> ProviderError:
    return ProviderError(code, retryable=True, retry_after_seconds=wait_of(headers, now), unbilled=unbilled)


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _within(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST_WAIT_SECONDS)


def _words(body: bytes) -> set[str]:
    """The code and the kind of an error, wherever this server puts them."""
    wrapped, bare = decoded(_wrapped, body), decoded(_bare, body)
    found = set[str]()
    for error in (None if wrapped is None else wrapped.error, bare):
        if error is not None:
            found |= {str(word).lower() for word in (error.code, error.type, error.status) if word is not None}
    return found


def _message(body: bytes) -> _Message:
    return (decoded(_saying, body) or _Saying()).error


def _says(body: bytes, phrases: tuple[str, ...]) -> bool:
    said = _message(body).message.lower()
    return any(phrase in said for phrase in phrases)


def _details(body: bytes) -> list[_Detail]:
    return (decoded(_detailed, body) or _DetailsBody()).error.details


def _delay(details: list[_Detail]) -> float | None:
    for detail in details:
        found = _SECONDS.fullmatch(detail.retry_delay or "")
        if found is not None:
            return _within(float(found[1]))
    return None
