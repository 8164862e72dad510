"""What a server says instead of an answer: read once, whatever its shape, and turned into one of Carrel's codes. Pure.

Servers put an error into `error.message`, beside the top, into a text, a list, or the details of a validation. One walk
reads them all. What the words say goes before the status: a gateway passes a refusal on with any status, also 200.
"""

import base64
import re
from collections.abc import Mapping
from http import HTTPStatus
from itertools import islice
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from carrel.kit.plain_text import as_text
from carrel.providers import waits
from carrel.providers.base import Access, Parameters, ProviderError
from carrel.providers.foreign_json import decoded

LOWEST_OUTPUT_TOKENS = 256
"""Carrel assumes no lower output limit than this one: what does not fit beside so short an answer is too long."""
_LONGEST_SAID = 500
"""Characters of a server's sentences that people see."""
_LONGEST_READ = 4_000

# How an error is read -------------------------------------------------------------------------------------------------

_WORDS = frozenset({"code", "type", "status", "reason", "reasons", "error_type", "object"})
_SENTENCES = frozenset(
    {
        "message",
        "Message",
        "error_description",
        "msg",
        "error",
        "errors",
        "detail",
        "raw",
        "error_message",
        "status_msg",
    }
)
_NUMBERS = frozenset({"n_prompt_tokens", "n_ctx"})
_PARAMETERS_AT = frozenset({"param", "loc", "field"})
_INSIDE = frozenset({"details", "metadata", "innererror", "data", "fieldViolations", "choices", "base_resp"})
_READ_KEYS = _WORDS | _SENTENCES | _NUMBERS | _PARAMETERS_AT | _INSIDE | {"retryDelay"}
_DEEPEST, _MOST_PARTS = 6, 50

_anything = msgspec.json.Decoder()


class Refusal(NamedTuple):
    """What a server said. `words` are its codes and kinds, `parameters` what it names as the cause.

    `status` is that of the error itself where a 200 or a stream carries it, and `None` where nothing tells it.
    `is_error`: the body is an error, and not something that could not be read.
    """

    status: int | None
    words: frozenset[str]
    sentences: tuple[str, ...]
    parameters: tuple[str, ...]
    wait_seconds: float | None
    is_error: bool

    @property
    def text(self) -> str:
        """Everything by which it can be recognised."""
        return " ".join((*self.parameters, *self.sentences))[:_LONGEST_READ]

    @property
    def words_and_text(self) -> str:
        """The same with its codes and kinds."""
        return " ".join((*self.words, self.text))

    @property
    def said(self) -> str:
        """What people read: its sentences, each once, in one line."""
        named = [one for one in self.parameters if not any(one in sentence for sentence in self.sentences)]
        whole = " – ".join(dict.fromkeys((*(("/".join(named),) if named else ()), *self.sentences)))
        return " ".join(as_text(whole[:_LONGEST_READ]).split())[:_LONGEST_SAID]


def read(status: int, body: bytes) -> Refusal:
    """Read an error that came with this status. That of an error inside a 200 is in its code, or follows from it."""
    found = decoded(_anything, _of_events(body))
    reading = _Reading()
    reading.walk(found, "error", 0)
    if found is None and (plain := body[:_LONGEST_SAID].decode("utf-8", "replace").strip()) and plain[0] not in "<{[":
        reading.sentences.append(plain)
    is_error = _is_error(found)
    return Refusal(
        _status(status, reading, is_error=is_error),
        frozenset(reading.words),
        tuple(reading.sentences[:_DEEPEST]),
        tuple(reading.parameters[:_DEEPEST]),
        reading.wait_seconds,
        is_error,
    )


class _Reading:
    """What was found so far in an error."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.sentences: list[str] = []
        self.parameters: list[str] = []
        self.wait_seconds: float | None = None

    @property
    def number(self) -> int | None:
        """The status that it names."""
        return next((int(word) for word in self.words if re.fullmatch("[45][0-9][0-9]", word)), None)

    @property
    def status(self) -> int | None:
        """The status that it names, or that follows from its kind."""
        return self.number or next((_STATUS_OF[word] for word in self.words if word in _STATUS_OF), None)

    def walk(self, value: object, key: str, depth: int) -> None:
        """Look at what stands under a key, and at everything in it that may say more."""
        if isinstance(value, list | dict):
            entries = value.items() if isinstance(value, dict) else ((key, one) for one in value)
            for name, one in islice(entries, _MOST_PARTS if depth < _DEEPEST else 0):
                if isinstance(value, list) or name in _READ_KEYS:
                    self.walk(one, name, depth + 1)
        elif key == "retryDelay":
            self.wait_seconds = waits.duration(str(value)) or None
        elif key in _NUMBERS:
            self.sentences.append(f"{key}: {value}")
        elif key in _WORDS and isinstance(value, str | int) and not isinstance(value, bool):
            self.words.add(str(value).lower())
        elif isinstance(value, str) and key in _PARAMETERS_AT and value != "body":
            self.parameters.append(value)
        elif isinstance(value, str) and key in _SENTENCES and value:
            self._say(value, key, depth)

    def _say(self, text: str, key: str, depth: int) -> None:
        # A gateway passes on the body of the server behind it as a text.
        nested = decoded(_anything, text.encode("utf-8", "replace")) if text.startswith("{") else None
        if isinstance(nested, dict):
            self.walk(nested, key, depth + 1)
        else:
            self.sentences.append(text[:_LONGEST_READ])


def _status(status: int, reading: _Reading, *, is_error: bool) -> int | None:
    """That of the reply, unless it is one under which gateways pass on errors of every kind."""
    if status == HTTPStatus.OK:
        return reading.status if is_error else None
    if status == HTTPStatus.INTERNAL_SERVER_ERROR and is_error:
        return reading.number or status
    return status


def _of_events(body: bytes) -> bytes:
    """The data of the first event, where a server puts its error into a stream; otherwise the body."""
    if body.lstrip().startswith((b"data:", b"event:")):
        return body.partition(b"data:")[2].partition(b"\n")[0]
    return body


def _is_error(found: object) -> bool:
    if isinstance(found, list):
        return bool(found) and _is_error(found[0])
    if not isinstance(found, dict):
        return False
    choices = found.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict) and choices[0].get("error"):
        return True
    # MiniMax's word for it, which stands in its answers, too.
    outcome = found.get("base_resp")
    if isinstance(outcome, dict) and outcome.get("status_code"):
        return True
    says = any(found.get(name) for name in ("error", "errors", "detail", "message", "msg"))
    return says or "error" in (found.get("object"), found.get("type"))


_STATUS_OF = {
    "badrequesterror": 400,
    "invalid_request_error": 400,
    "invalid_argument": 400,
    "content_filter": 400,
    "context_length_exceeded": 400,
    "json_validate_failed": 400,
    "authenticationerror": 401,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "unauthenticated": 401,
    "billing_error": 402,
    "insufficient_quota": 402,
    "permission_error": 403,
    "permission_denied": 403,
    "notfounderror": 404,
    "not_found_error": 404,
    "not_found": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "unprocessableentityerror": 422,
    "ratelimiterror": 429,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "rate_limited": 429,
    "resource_exhausted": 429,
    "throttlingexception": 429,
    "validationexception": 400,
    "modelstreamerrorexception": 500,
    "internalserverexception": 500,
    "serviceunavailableexception": 503,
    "internal": 500,
    "api_error": 500,
    "server_error": 500,
    "internal_server_error": 500,
    "internalservererror": 500,
    "unavailable": 503,
    "timeout_error": 504,
    "deadline_exceeded": 504,
    "overloaded_error": 529,
}
"""The status that an error of this kind has by itself, where it comes without one."""


def status_of(body: bytes, otherwise: int) -> int:
    """The status that an error without one would have had."""
    return read(HTTPStatus.OK, body).status or otherwise


# What it means --------------------------------------------------------------------------------------------------------

_NO_CREDIT = frozenset(
    {
        "insufficient_quota",
        "insufficient_balance",
        "insufficient_credits",
        "billing_hard_limit_reached",
        "billing_not_active",
        "billing_error",
        "credit_exhausted",
        "budget_exceeded",
        "payment_required",
    }
)
_NO_CREDIT_SAID = re.compile(
    r"credit balance|credits? (are|is) depleted|any credits|available credits|(insufficient|not enough|more|out of)"
    r" (credits?|balance|funds)|spending limit|specified api usage limits|key limit exceeded|billing (is )?not active"
    r"|monthly (included )?credits|budget has been exceeded|余额不足|欠费",
    re.IGNORECASE,
)
_BILLING_SAID = re.compile(r"\bbilling\b", re.IGNORECASE)
_BAD_KEY = frozenset(
    {"invalid_api_key", "api_key_invalid", "api_key_expired", "authentication_error", "unauthenticated"}
    # LiteLLM's, where it has no database of keys and so knows only its own key.
    | {"no_db_connection"}
)
_BAD_KEY_SAID = re.compile(
    r"(incorrect|invalid|missing|no|unknown|expired) api[ _-]?key|api[ _-]?key (is )?(not valid|invalid|expired|missing"
    r"|not found|required)|no auth credentials|bad credentials|invalid (authentication|username or password)",
    re.IGNORECASE,
)
_NO_MODEL = frozenset(
    {
        "model_not_found",
        "model_not_available",
        "model_decommissioned",
        "unknown_model",
        "invalid_model",
        "deploymentnotfound",
    }
)
_NO_MODEL_SAID = re.compile(
    r"invalid model( name)?\b|unknown model|\bmodel\b[^.]{0,120}\b(not exist|not found|no longer|decommissioned"
    r"|not available|not a valid model)|unable to access model|not a valid model id|model identifier is invalid"
    r"|access to the model",
    re.IGNORECASE,
)
_NO_ACCESS_SAID = re.compile(r"access to the model with the specified", re.IGNORECASE)
_FILTERED = frozenset(
    {
        "content_filter",
        "content_filtered",
        "content_policy_violation",
        "responsibleaipolicyviolation",
        "moderation_blocked",
        "data_inspection_failed",
    }
)
_FILTERED_SAID = re.compile(
    r"\bflagged\b|content filtering policy|contentpolicyviolation|content management policy|inappropriate content|敏感",
    re.IGNORECASE,
)
_NOT_A_KEY = frozenset({"unsupported_country_region_territory"})
"""Refusals with 403 that another key would not help."""
_TOO_FAST = frozenset({"rate_limit_error", "rate_limit_exceeded", "resource_exhausted", "rate_limited"})
_NOT_VALID_JSON = re.compile(r"json_validate_failed|failed to validate json|does not match the expected schema", re.I)
_FORMS = re.compile(
    r"response_format|json_schema|json_object|structured[ _]output|output_?config|output_format|text_?format"
    r"|input_schema|tool_?choice|tool_?config|tool use"
    r"|response_?json_?schema|response_?mime_?type|json mode",
    re.IGNORECASE,
)
_SEARCH = re.compile(r"web_?search|google_?search", re.IGNORECASE)
_STREAM_OPTIONS = re.compile(r"stream_options|include_usage", re.IGNORECASE)
_STREAM = re.compile(r"\bstream(ing|ed|_options)?\b|include_usage", re.IGNORECASE)
_SUMMARY = re.compile(r"reasoning[. ](summary|summaries)", re.IGNORECASE)
_SECOND = re.compile(
    r"v1/responses|responses api|not a chat model|/?chat/?completions? (endpoint|operation does not)"
    r"|unsupported_api_for_model",
    re.IGNORECASE,
)
_SYSTEM = re.compile(
    r"(system|developer) (role|message|prompt|instruction)s?\b.{0,60}(not|n't|unsupported)"
    r"|(not|n't) (support|accept|allow|enable)\w*.{0,40}(system|developer)",
    re.IGNORECASE,
)
_OTHER_WORD = re.compile(r"\bmax_(completion_)?tokens\b", re.IGNORECASE)
_AMOUNT = re.compile(r"(?<![\w-])[0-9]{3,}(?![\w-])")
_UNKNOWN = re.compile(
    r"unsupported|unrecognized|not supported|unknown|not permitted|unexpected|extra_forbidden|instead", re.I
)
_NOT_TAKEN = re.compile(
    r"unsupported_parameter|unsupported_value|not supported|unsupported|support the requested parameters", re.IGNORECASE
)
_PARAMETERS = {
    "temperature": re.compile(r"\btemperature\b", re.IGNORECASE),
    "top_p": re.compile(r"\btop_?p\b", re.IGNORECASE),
    "seed": re.compile(r"\b(random_?)?seed\b", re.IGNORECASE),
    "top_k": re.compile(r"\btop_?k\b", re.IGNORECASE),
    "frequency_penalty": re.compile(r"\bfrequency_?penalty\b", re.IGNORECASE),
    "presence_penalty": re.compile(r"\bpresence_?penalty\b", re.IGNORECASE),
    "thinking_budget": re.compile(r"\b(thinking|budget_?tokens|reasoning)", re.IGNORECASE),
    "reasoning_effort": re.compile(r"\b(reasoning|effort|thinking)", re.IGNORECASE),
    "verbosity": re.compile(r"\bverbosity\b", re.IGNORECASE),
    "stop": re.compile(r"\bstop(_?sequences?)?\b", re.IGNORECASE),
}
"""The words with which servers name a parameter that they refuse. An output limit is not among them: servers also name
it when the text is too long."""
_KEY_STATUS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_NOT_BEGUN = frozenset({HTTPStatus.SERVICE_UNAVAILABLE, 529})
"""The server is too busy to take the call (RFC 9110, section 15.6.4; 529 is Anthropic's). After its other errors nobody
knows whether a model worked."""
_NOT_HERE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
_BAD_REQUEST = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
_TURNED_AWAY = _BAD_REQUEST | {HTTPStatus.FORBIDDEN, HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS}
_TOO_LARGE = _BAD_REQUEST | {HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.TOO_MANY_REQUESTS}


def error(refusal: Refusal, headers: Mapping[str, str], now: float) -> ProviderError:
    """Return the error for a reply without an answer; `now` is the time in seconds since the epoch."""
    status = refusal.status
    if status is None:
        status = HTTPStatus.INTERNAL_SERVER_ERROR if refusal.is_error else HTTPStatus.OK

    def made(code: str, *, retryable: bool = False, unbilled: bool = True, wait: float | None = None) -> ProviderError:
        return ProviderError(code, retryable=retryable, retry_after_seconds=wait, unbilled=unbilled, said=refusal.said)

    code = _code(refusal, status)
    if code is not None:
        return made(code)
    wait = waits.asked_for(headers, refusal.text, refusal.wait_seconds, now)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return made("rate-limited", retryable=True, wait=wait)
    if status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.GATEWAY_TIMEOUT):
        return made("provider-timeout", retryable=True, unbilled=False, wait=wait)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.FAILED_DEPENDENCY:
        return made("provider-overloaded", retryable=True, unbilled=status in _NOT_BEGUN, wait=wait)
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return made("provider-redirected")
    if status < HTTPStatus.MULTIPLE_CHOICES:
        return ProviderError("provider-malformed", retryable=True)
    return made("request-refused")


def _code(refusal: Refusal, status: int) -> str | None:
    """The code by what the words say, before the status says anything; `None` if it is left to the status."""
    words, text = refusal.words, refusal.text
    # Google's own words for a limit of a minute name the billing, too.
    is_too_fast = bool(words & _TOO_FAST) and status == HTTPStatus.TOO_MANY_REQUESTS
    if status == HTTPStatus.PAYMENT_REQUIRED or words & _NO_CREDIT or _NO_CREDIT_SAID.search(text):
        return "provider-no-credit"
    if _BILLING_SAID.search(text) and not is_too_fast:
        return "provider-no-credit"
    is_refused = status < HTTPStatus.INTERNAL_SERVER_ERROR
    is_told = status in _KEY_STATUS and not words & (_NO_MODEL | _NOT_A_KEY) and not _NO_ACCESS_SAID.search(text)
    if words & _BAD_KEY or is_told or (is_refused and _BAD_KEY_SAID.search(text)):
        return "provider-key-rejected"
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return "request-refused" if is_too_large(refusal) else None
    if status == HTTPStatus.NOT_FOUND and _NOT_TAKEN.search(text) and not _SECOND.search(text):
        return "parameter-not-supported"
    if status == HTTPStatus.NOT_FOUND and "data policy" in text:
        return "request-refused"
    if status in _NOT_HERE or words & _NO_MODEL or (is_refused and _NO_MODEL_SAID.search(text)):
        return "model-unknown"
    return None


def without_key(error: ProviderError, access: Access | None) -> ProviderError:
    """The error without the key in it. Some servers repeat the key, as it is or encoded."""
    if access is not None and error.said:
        key = access.key.reveal()
        forms = (key.decode("ascii"), base64.b64encode(key).decode().rstrip("="), quote(key.decode("ascii"), safe=""))
        for form in forms:
            error.said = error.said.replace(form, "…")
    return error


class ToldError(ProviderError):
    """An error inside of an answer. `refusal` is what it says; the provider may bill what came before it."""

    def __init__(self, body: bytes, *, unbilled: bool) -> None:
        self.refusal = read(HTTPStatus.OK, body)
        found = error(self.refusal, {}, 0.0)
        super().__init__(
            found.code,
            retryable=found.retryable,
            retry_after_seconds=found.retry_after_seconds,
            unbilled=unbilled and found.unbilled,
            said=found.said,
        )


def is_content_refusal(refusal: Refusal) -> bool:
    """Whether the server refuses to work on this text by its rules for contents. Carrel counts that as an answer."""
    return refusal.status in _TURNED_AWAY and bool(refusal.words & _FILTERED or _FILTERED_SAID.search(refusal.text))


def is_broken_json(refusal: Refusal) -> bool:
    """Whether the model wrote something else than the form that the server enforces: another try may succeed."""
    return refusal.status in _BAD_REQUEST and _NOT_VALID_JSON.search(refusal.words_and_text) is not None


def is_about_form(refusal: Refusal) -> bool:
    """Whether the server refused the way in which the answer was to be structured."""
    return refusal.status in _BAD_REQUEST and _FORMS.search(refusal.text) is not None


def is_about_parameter(refusal: Refusal, parameters: Parameters) -> bool:
    """Whether the server refused one of the parameters that were set."""
    named = [word for name, word in _PARAMETERS.items() if getattr(parameters, name) is not None]
    named += [re.compile(rf"\b{re.escape(name)}\b") for name in parameters.extra or ()]
    if not named or refusal.status not in _BAD_REQUEST:
        return False
    if any(word.search(refusal.text) for word in named):
        return True
    return bool(refusal.words & {"unsupported_parameter", "unsupported_value"}) and not is_about_form(refusal)


def is_about_search(refusal: Refusal) -> bool:
    """Whether the server refused that the model searches the web."""
    return refusal.status in _BAD_REQUEST and _SEARCH.search(refusal.text) is not None


def is_about_stream(refusal: Refusal) -> bool:
    """Whether the server refused to send the answer piece by piece, as OpenAI does to some accounts for some models."""
    return refusal.status in _BAD_REQUEST and _STREAM.search(refusal.text) is not None


def is_about_stream_options(refusal: Refusal) -> bool:
    """Whether the server refused only to count the tokens at the end of a stream."""
    return refusal.status in _BAD_REQUEST and _STREAM_OPTIONS.search(refusal.text) is not None


def is_about_summary(refusal: Refusal) -> bool:
    """Whether the server refused to tell what the model thought: OpenAI does to accounts that it has not verified."""
    return refusal.status in _BAD_REQUEST and _SUMMARY.search(refusal.text) is not None


def is_about_protocol(refusal: Refusal) -> bool:
    """Whether the model answers in OpenAI's other protocol only."""
    return (
        refusal.status in _BAD_REQUEST | {HTTPStatus.NOT_FOUND} and _SECOND.search(refusal.words_and_text) is not None
    )


def is_about_system(refusal: Refusal) -> bool:
    """Whether the model takes no system text."""
    return refusal.status in _BAD_REQUEST and _SYSTEM.search(refusal.text) is not None


def is_about_limit_word(refusal: Refusal) -> bool:
    """Whether the server has another word for the output limit, of the two that there are."""
    return (
        refusal.status in _BAD_REQUEST
        and _OTHER_WORD.search(refusal.text) is not None
        and _UNKNOWN.search(refusal.words_and_text) is not None
        and _AMOUNT.search(refusal.text) is None
    )


# What fits ------------------------------------------------------------------------------------------------------------

_LIMITS = re.compile(
    r"\bmax_?(completion_?|new_?|output_?)?tokens\b|(completion|output|context|total|input) (tokens|length|window|size)"
    r"|context_length|maximum (sequence )?length|too many tokens|tokens? (count|limit)|tokens per (minute|day)"
    r"|tokens? .{0,40}(exceed|too large|too long|> )|(exceed|too large|too long).{0,60}tokens?\b|n_ctx"
    r"|in the (completion|output)",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)
_COUNT = r"([0-9][0-9,]{0,9})"
_WINDOW = re.compile(
    rf"(?:context (?:length|window|size|limit)|maximum (?:sequence )?length|n_ctx|max_model_len)[^0-9]{{0,40}}{_COUNT}"
    rf"|must be <= {_COUNT}|\blimit:? {_COUNT}|{_COUNT} maximum context"
    rf"|tokens? > {_COUNT}|cannot exceed {_COUNT}",
    re.IGNORECASE,
)
_READ = re.compile(
    rf"{_COUNT} (?:tokens )?(?:in the (?:messages|prompt|input)|(?:tokens )?from the input|of text input|`?input)"
    rf"|(?:passed|contains|given:|has|resulted in|too long:?|n_prompt_tokens:|limit:) {_COUNT}(?= |$|,)"
    rf"(?! (?:output|maximum))|input \({_COUNT} tokens|{_COUNT} tokens >",
    re.IGNORECASE,
)
_ADDED = re.compile(rf"{_COUNT} \+ {_COUNT} > {_COUNT}")
_SUM = re.compile(rf"requested:? (?:about |a total of )?{_COUNT}(?! output)", re.IGNORECASE)
_MOST = re.compile(
    rf"(?:at most|less than or equal to|between 1 and) `?{_COUNT}|\[[01], ?{_COUNT}\]"
    rf"|[0-9] > {_COUNT}, which is the maximum",
    re.IGNORECASE,
)


_BELOW = re.compile(rf"to {_COUNT} \(exclusive\)", re.IGNORECASE)
_PAYABLE = re.compile(rf"can only afford {_COUNT}", re.IGNORECASE)


class Room(NamedTuple):
    """How many tokens the model may write in this call; what the model can hold, or write at all, where it was said."""

    limit: int
    window: int | None = None
    most: int | None = None
    is_guess: bool = False
    """The server did not say what fits."""


def is_too_large(refusal: Refusal) -> bool:
    """Whether a limit of tokens refuses this request by itself, however long it waits."""
    return refusal.status == HTTPStatus.TOO_MANY_REQUESTS and "request too large" in refusal.text.lower()


def room(refusal: Refusal, asked: int) -> Room | None:
    """What fits, where a server refused `asked` tokens of output; `None` if nothing does, or it refused something else.

    Both numbers are in most refusals: the window, and what the prompt takes of it. Otherwise half may fit.
    """
    if (payable := _number(_PAYABLE.search(refusal.text))) is not None:
        return Room(payable) if LOWEST_OUTPUT_TOKENS <= payable < asked else None
    if refusal.status not in _TOO_LARGE or not _LIMITS.search(refusal.text):
        return None
    if refusal.status == HTTPStatus.TOO_MANY_REQUESTS and not is_too_large(refusal):
        return None
    if is_about_limit_word(refusal) or "budget_tokens" in refusal.text:
        return None
    text = refusal.text
    most, window, read_, total = (_number(found.search(text)) for found in (_MOST, _WINDOW, _READ, _SUM))
    if most is None and (below := _number(_BELOW.search(text))) is not None:
        most = below - 1
    if most is not None:
        return Room(most, most=most) if LOWEST_OUTPUT_TOKENS <= most < asked else _half(asked)
    if (added := _ADDED.search(text)) is not None:
        read_, _, window = (int(number.replace(",", "")) for number in added.groups())
    if window is None:
        return _half(asked)
    if read_ in (None, window) and total is not None and total > asked:
        read_ = total - asked
    # The limits of a minute are the account's, not the model's.
    of_model = None if "per minute" in text or "per day" in text else window
    if read_ is None or "at least" in text:
        half = _half(min(asked, window))
        return None if half is None or (read_ or 0) >= window else half._replace(window=of_model)
    left = min(window - read_, asked - 1)
    return Room(left, window=of_model) if left >= LOWEST_OUTPUT_TOKENS else None


def _half(asked: int) -> Room | None:
    return Room(asked // 2, is_guess=True) if asked // 2 >= LOWEST_OUTPUT_TOKENS else None


def _number(found: re.Match[str] | None) -> int | None:
    if found is None:
        return None
    return int(next(group for group in found.groups() if group is not None).replace(",", ""))
