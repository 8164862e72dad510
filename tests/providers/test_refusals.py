import math
from collections.abc import Callable, Mapping
from email.utils import format_datetime, formatdate

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.providers import refusals
from carrel.providers.base import Parameters, ProviderError
from carrel.providers.refusals import Room, read
from carrel.providers.waits import LONGEST_SECONDS, asked_for

NOW = 1_800_000_000.0


def refusal(status: int, headers: Mapping[str, str], said: bytes, now: float) -> ProviderError:
    return refusals.error(read(status, said), headers, now)


def wait_of(headers: Mapping[str, str], now: float) -> float | None:
    return asked_for(headers, "", None, now)


def is_about_form(status: int, said: bytes) -> bool:
    return refusals.is_about_form(read(status, said))


def is_about_parameter(status: int, said: bytes, parameters: Parameters) -> bool:
    return refusals.is_about_parameter(read(status, said), parameters)


def is_content_refusal(status: int, said: bytes) -> bool:
    return refusals.is_content_refusal(read(status, said))


def body(**error: object) -> bytes:
    return msgspec.json.encode({"error": error})


@pytest.mark.parametrize(
    ("status", "said", "code", "retryable"),
    [
        (401, body(code="invalid_api_key"), "provider-key-rejected", False),
        (403, b"<html>", "provider-key-rejected", False),
        (400, body(type="no_db_connection", code="400"), "provider-key-rejected", False),
        (402, b"", "provider-no-credit", False),
        (429, body(code="insufficient_quota"), "provider-no-credit", False),
        (429, body(type="insufficient_quota", code=None), "provider-no-credit", False),
        (429, body(code="rate_limit_exceeded"), "rate-limited", True),
        (429, body(type="budget_exceeded", code="429"), "provider-no-credit", False),
        (404, b"", "model-unknown", False),
        (400, body(code="model_not_found"), "model-unknown", False),
        (400, body(code="400", message="Invalid model name passed in model=x."), "model-unknown", False),
        (400, body(code=400, message="no"), "request-refused", False),
        (
            400,
            b'{"object": "error", "message": "no", "type": "BadRequestError", "code": 400}',
            "request-refused",
            False,
        ),
        (413, b"", "request-refused", False),
        (422, b'{"detail": []}', "request-refused", False),
        (
            400,
            body(type="invalid_request_error", message="Your credit balance is too low."),
            "provider-no-credit",
            False,
        ),
        (403, body(type="billing_error"), "provider-no-credit", False),
        (404, body(type="not_found_error"), "model-unknown", False),
        (413, body(type="request_too_large"), "request-refused", False),
        (529, body(type="overloaded_error"), "provider-overloaded", True),
        (
            400,
            body(code=400, status="INVALID_ARGUMENT", details=[{"reason": "API_KEY_INVALID"}]),
            "provider-key-rejected",
            False,
        ),
        (400, body(code=400, status="INVALID_ARGUMENT", details="odd"), "request-refused", False),
        (429, body(code=429, message="Your prepayment credits are depleted."), "provider-no-credit", False),
        (408, b"", "provider-timeout", True),
        (500, body(), "provider-overloaded", True),
        (503, b"", "provider-overloaded", True),
        (529, b"", "provider-overloaded", True),
        (302, b"", "provider-redirected", False),
        (307, b"", "provider-redirected", False),
        (200, b"{", "provider-malformed", True),
        (204, b"", "provider-malformed", True),
        (400, b"[" * 100_000, "request-refused", False),
        (500, b"\xff\xfe", "provider-overloaded", True),
    ],
)
def test_each_refusal_has_a_code_of_ours(status: int, said: bytes, code: str, retryable: bool) -> None:
    error = refusal(status, {}, said, NOW)
    assert (error.code, error.retryable, error.retry_after_seconds) == (code, retryable, None)


@pytest.mark.parametrize(
    ("status", "unbilled"),
    [(400, True), (408, False), (429, True), (500, False), (502, False), (503, True), (529, True)],
)
def test_only_a_server_that_may_have_worked_leaves_the_cost_of_a_call_unknown(status: int, unbilled: bool) -> None:
    assert refusal(status, {}, b"", NOW).unbilled is unbilled


@given(st.integers(200, 599), st.binary(max_size=200), st.text(max_size=40))
def test_whatever_a_server_says_becomes_a_code_and_no_word_of_it_is_kept(status: int, said: bytes, wait: str) -> None:
    error = refusal(status, {"Retry-After": wait, "retry-after-ms": wait}, said, NOW)
    assert error.args == (error.code,)
    assert error.code.replace("-", "").isalpha()
    assert error.retry_after_seconds is None or 0 <= error.retry_after_seconds <= LONGEST_SECONDS


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0"}, 0.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"Retry-After": formatdate(NOW + 30, usegmt=True)}, 30.0),
        ({"Retry-After": formatdate(NOW - 30, usegmt=True)}, 0.0),
        ({"Retry-After": "999999999"}, LONGEST_SECONDS),
        ({"Retry-After": formatdate(NOW + 86_400, usegmt=True)}, LONGEST_SECONDS),
        ({"Retry-After": "20", "retry-after-ms": "250"}, 0.25),
        ({"x-ms-retry-after-ms": "1500"}, 1.5),
        ({"llm_provider-retry-after": "2"}, 2.0),
        ({"Retry-After": "7", "llm_provider-retry-after": "2"}, 7.0),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": ""}, None),
        ({}, None),
    ],
)
def test_the_wait_that_a_server_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    found = wait_of(headers, NOW)
    assert found == seconds or (found is not None and seconds is not None and math.isclose(found, seconds, abs_tol=1))


@given(st.datetimes())
def test_a_date_of_any_year_is_no_reason_to_fail(moment: object) -> None:
    wait = wait_of({"Retry-After": format_datetime(moment)}, NOW)  # type: ignore[arg-type]  # Hypothesis' own type
    assert wait is None or 0 <= wait <= LONGEST_SECONDS


def test_a_text_that_the_provider_will_not_work_on_is_an_answer_of_a_kind() -> None:
    assert is_content_refusal(400, body(code="content_filter"))
    assert is_content_refusal(400, body(code="content_policy_violation"))
    assert is_content_refusal(400, body(code="400", message="litellm.ContentPolicyViolationError: no"))
    assert not is_content_refusal(500, body(code="content_filter"))
    assert not is_content_refusal(400, body(code="invalid_request"))


def test_a_refused_form_is_told_from_other_refusals() -> None:
    assert is_about_form(400, body(message="'response_format' of type 'json_schema' is not supported"))
    assert not is_about_form(400, body(message="max_tokens is too large"))
    assert not is_about_form(500, body(message="response_format"))


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [("22s", 22), ("0.5s", 0.5), ("99999s", LONGEST_SECONDS), ("22", None), ("-1s", None), ("", None)],
)
def test_a_wait_may_stand_in_the_body_and_a_header_goes_first(delay: str, seconds: float | None) -> None:
    said = body(code=429, status="RESOURCE_EXHAUSTED", details=[{"@type": "QuotaFailure"}, {"retryDelay": delay}])
    assert refusal(429, {}, said, NOW).retry_after_seconds == seconds
    assert refusal(429, {"Retry-After": "3"}, said, NOW).retry_after_seconds == 3


@pytest.mark.parametrize(
    ("said", "parameters", "about"),
    [
        ("`temperature` is deprecated for this model.", Parameters(temperature=1), True),
        ("`temperature` is deprecated for this model.", Parameters(top_p=1), False),
        ("top_p: not taken", Parameters(top_p=0.5), True),
        ('Unknown name "topP"', Parameters(top_p=0.5), True),
        ("This model does not support the effort parameter.", Parameters(reasoning_effort="low"), True),
        ("Thinking level is not supported for this model.", Parameters(reasoning_effort="low"), True),
        ("effortless", Parameters(seed=1), False),
        ("The prompt is too long.", Parameters(temperature=1, top_p=1, seed=1, reasoning_effort="low"), False),
    ],
)
def test_a_parameter_that_a_model_does_not_take_is_told_from_other_refusals(
    said: str, parameters: Parameters, about: bool
) -> None:
    assert is_about_parameter(400, body(message=said), parameters) is about
    assert not is_about_parameter(500, body(message=said), parameters)


def test_some_servers_have_a_code_for_parameters_that_they_do_not_take() -> None:
    assert is_about_parameter(400, body(code="unsupported_value", message="no"), Parameters(temperature=1))
    assert not is_about_parameter(400, body(code="unsupported_value", param="temperature"), Parameters())
    assert is_about_parameter(400, body(param="seed", message="no"), Parameters(seed=3))
    assert not is_about_parameter(400, b"<html>seed", Parameters(seed=3))


SHAPES: dict[str, Callable[[str], object]] = {
    "wrapped": lambda said: {"error": {"message": said}},
    "flat": lambda said: {"object": "error", "message": said},
    "a text": lambda said: {"error": said, "error_type": "validation"},
    "a detail": lambda said: {"detail": said},
    "details": lambda said: {"detail": [{"loc": ["body"], "msg": said}]},
    "a list": lambda said: [{"error": {"message": said}}],
    "several": lambda said: {"errors": [{"message": said}], "success": False},
    "passed on": lambda said: {"error": {"message": "Provider returned error", "metadata": {"raw": said}}},
    "an event": lambda said: {"error": {"message": said}},
}


def in_shape(shape: str, said: str) -> bytes:
    encoded = msgspec.json.encode(SHAPES[shape](said))
    return b"data: " + encoded + b"\n\n" if shape == "an event" else encoded


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("status", "said", "code"),
    [
        (
            400,
            "Incorrect API key provided: xa***st. You can obtain an API key from our console.",
            "provider-key-rejected",
        ),
        (400, "API key not valid. Please pass a valid API key.", "provider-key-rejected"),
        (403, "Your newly created team doesn't have any credits or licenses yet.", "provider-no-credit"),
        (429, "Your team has used all available credits or reached its monthly spending limit.", "provider-no-credit"),
        (400, "You have reached your specified API usage limits.", "provider-no-credit"),
        (429, "Your account is not active, please check your billing details on our website.", "provider-no-credit"),
        (403, "Key limit exceeded (total limit).", "provider-no-credit"),
        (400, "Invalid model: mistral-huge", "model-unknown"),
        (400, "Model Not Exist", "model-unknown"),
        (404, "The model `x` does not exist.", "model-unknown"),
        (404, "No endpoints found that support the requested parameters.", "parameter-not-supported"),
        (404, "No endpoints found matching your data policy.", "request-refused"),
        (429, "Requests rate limit exceeded", "rate-limited"),
        (500, "The model runner has crashed.", "provider-overloaded"),
        (400, "Something else is wrong.", "request-refused"),
    ],
)
def test_words_say_what_an_error_is_whatever_its_shape_and_people_read_them(
    shape: str, status: int, said: str, code: str
) -> None:
    error = refusal(status, {}, in_shape(shape, said), NOW)
    assert error.code == code
    assert said in error.said


@pytest.mark.parametrize(
    ("said", "code", "retryable"),
    [
        (body(code=402, message="Insufficient credits"), "provider-no-credit", False),
        (body(code=429, message="Slow down"), "rate-limited", True),
        (body(code=400, message="no"), "request-refused", False),
        (body(code="502", message="no"), "provider-overloaded", True),
        (body(type="invalid_request_error", message="no"), "request-refused", False),
        (body(type="overloaded_error"), "provider-overloaded", True),
        (b'{"type": "error", "error": {"type": "authentication_error"}}', "provider-key-rejected", False),
        (b'{"object": "error", "message": "boom", "type": "BadRequestError", "code": 400}', "request-refused", False),
        (
            b'{"choices": [{"error": {"code": 502, "message": "no"}, "finish_reason": null}]}',
            "provider-overloaded",
            True,
        ),
        (b'{"error": "it broke"}', "provider-overloaded", True),
        (b'{"error": null, "id": 3}', "provider-malformed", True),
    ],
)
def test_an_error_inside_of_a_success_is_what_its_own_code_says(said: bytes, code: str, retryable: bool) -> None:
    error = refusal(200, {}, said, NOW)
    assert (error.code, error.retryable) == (code, retryable)


def test_googles_limit_of_a_minute_names_the_billing_and_is_none_of_it() -> None:
    words = "You exceeded your current quota, please check your plan and billing details. Please retry in 35.2s."
    error = refusal(429, {}, body(code=429, status="RESOURCE_EXHAUSTED", message=words), NOW)
    assert (error.code, error.retry_after_seconds) == ("rate-limited", 35.2)


def test_a_text_that_was_flagged_is_a_refused_answer() -> None:
    flagged = body(code=403, message="Your input was flagged", metadata={"reasons": ["violence"]})
    assert is_content_refusal(403, flagged)
    assert is_content_refusal(400, body(code="content_filter", message="Content management policy"))
    assert not is_content_refusal(401, flagged)


@pytest.mark.parametrize(
    ("status", "said", "room"),
    [
        (
            400,
            "maximum context length is 4096 tokens. However, you requested 16430 tokens (46 in the messages, 16384 in"
            " the completion).",
            Room(4050, window=4096),
        ),
        (
            400,
            "You passed 60 input tokens and requested 16384 output tokens. However, the model's context length is only"
            " 8192 tokens.",
            Room(8132, window=8192),
        ),
        (
            400,
            "This model's maximum context length is 2048 tokens. However, your request has 8 input tokens plus 2045"
            " 'max_tokens'.",
            Room(2040, window=2048),
        ),
        (
            400,
            "'max_tokens' or 'max_completion_tokens' is too large: 16384. This model's maximum context length is 4096"
            " tokens and your request has 46 input tokens (16384 > 4096 - 46).",
            Room(4050, window=4096),
        ),
        (
            400,
            "This model's maximum context length is 16000 tokens. However, you requested 16384 output tokens and your"
            " prompt contains at least 62 input tokens.",
            Room(8000, window=16000, is_guess=True),
        ),
        (
            400,
            "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of"
            " 16430 tokens: 46 tokens from the input messages and 16384 tokens for the completion.",
            Room(4050, window=4096),
        ),
        (
            422,
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 46 `inputs` tokens and"
            " 16384 `max_new_tokens`",
            Room(4050, window=4096),
        ),
        (
            400,
            "This endpoint's maximum context length is 8192 tokens. However, you requested about 16430 tokens (46 of"
            " text input, 16384 in the output).",
            Room(8146, window=8192),
        ),
        (413, "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 20384", Room(2000)),
        (429, "Request too large for gpt-4 on tokens per min (TPM): Limit 30000, Requested 46384.", None),
        (
            400,
            "max_tokens is too large: 16384. This model supports at most 8192 completion tokens, whereas you provided"
            " 16384.",
            Room(8192, most=8192),
        ),
        (400, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", Room(8192, most=8192)),
        (400, "max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens", Room(8192, most=8192)),
        (400, "`max_completion_tokens` must be less than or equal to `8192`", Room(8192, most=8192)),
        (
            400,
            "input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000",
            Room(10000, window=200000),
        ),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", None),
        (400, "The input (5000 tokens) is longer than the model's context length (4096 tokens).", None),
        (
            400,
            "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            None,
        ),
        (
            400,
            "the request exceeds the available context size, try increasing it n_prompt_tokens: 5000 n_ctx: 4096",
            None,
        ),
        (400, "the value of max_tokens is out of range", Room(8192, is_guess=True)),
        (
            400,
            "maxOutputTokens value of 16384 but the supported range is from 1 (inclusive) to 8193 (exclusive)",
            Room(8192, most=8192),
        ),
        (400, "max_tokens参数非法：限制数值范围[1,4095]", Room(4095, most=4095)),
        (400, "Your request exceeded model token limit: 8192 (requested: 16444)", Room(8132, window=8192)),
        (400, "maximum context length is 8192 tokens, but your messages resulted in 12000 tokens", None),
        (402, "This requires fewer max_tokens. You requested up to 16384, but can only afford 4000", Room(4000)),
        (402, "This requires fewer max_tokens. You requested up to 16384, but can only afford 9", None),
        (400, "temperature is out of range", None),
        (
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'.",
            None,
        ),
        (500, "maximum context length is 4096 tokens", None),
        # There is room, it says; but it has just refused so much.
        (
            400,
            "This model's maximum context length is 128000 tokens. However, your prompt contains 1000 tokens.",
            Room(16_383, window=128_000),
        ),
    ],
)
def test_what_fits_follows_from_what_a_server_says_of_its_window(status: int, said: str, room: Room | None) -> None:
    assert refusals.room(read(status, body(message=said)), 16_384) == room


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-reset-requests": "12s"}, 12.0),
        (
            {
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-remaining-requests": "4",
                "x-ratelimit-reset-tokens": "6m0.5s",
                "x-ratelimit-remaining-tokens": "0",
            },
            360.5,
        ),
        ({"x-ratelimit-reset-tokens": "120ms"}, 0.12),
        ({"ratelimitbysize-reset": "51"}, 51.0),
        ({"X-RateLimit-Reset": str(int(NOW * 1000 + 30_000))}, 30.0),
        ({"x-ratelimit-reset": str(int(NOW + 40))}, 40.0),
        (
            {"anthropic-ratelimit-tokens-reset": "2027-01-15T08:00:20Z", "anthropic-ratelimit-tokens-remaining": "0"},
            20.0,
        ),
        ({"Retry-After": "7", "x-ratelimit-reset-requests": "12s"}, 7.0),
        ({"x-ratelimit-reset-requests": "soon"}, None),
        ({"x-password-reset": "12s"}, None),
    ],
)
def test_the_wait_may_be_that_of_the_limit_that_is_used_up(headers: dict[str, str], seconds: float | None) -> None:
    found = wait_of(headers, NOW)
    assert (found is None) == (seconds is None)
    assert found is None or seconds is None or math.isclose(found, seconds, abs_tol=0.01)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("Rate limit reached. Please try again in 12s. Visit us.", 12.0),
        ("Please try again in 6m11.52s.", 371.52),
        ("Please try again in 20ms.", 0.02),
        ("Please retry after 26 seconds.", 26.0),
        ("Try again in 2 minutes", 120.0),
        ("Please wait and try again.", None),
    ],
)
def test_the_wait_may_stand_in_a_sentence(said: str, seconds: float | None) -> None:
    found = refusal(429, {}, body(message=said), NOW).retry_after_seconds
    assert (found is None) == (seconds is None)
    assert found is None or seconds is None or math.isclose(found, seconds, abs_tol=0.001)
