import math
from email.utils import format_datetime, formatdate

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.providers.base import Parameters
from carrel.providers.refusals import (
    LONGEST_WAIT_SECONDS,
    is_about_form,
    is_about_parameter,
    is_content_refusal,
    refusal,
    wait_of,
)

NOW = 1_800_000_000.0


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
    assert error.retry_after_seconds is None or 0 <= error.retry_after_seconds <= LONGEST_WAIT_SECONDS


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0"}, 0.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"Retry-After": formatdate(NOW + 30, usegmt=True)}, 30.0),
        ({"Retry-After": formatdate(NOW - 30, usegmt=True)}, 0.0),
        ({"Retry-After": "999999999"}, LONGEST_WAIT_SECONDS),
        ({"Retry-After": formatdate(NOW + 86_400, usegmt=True)}, LONGEST_WAIT_SECONDS),
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
    assert wait is None or 0 <= wait <= LONGEST_WAIT_SECONDS


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
    [("22s", 22), ("0.5s", 0.5), ("99999s", LONGEST_WAIT_SECONDS), ("22", None), ("-1s", None), ("", None)],
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
    assert is_about_parameter(400, body(code="unsupported_value", param="temperature"), Parameters())
    assert is_about_parameter(400, body(param="seed", message="no"), Parameters(seed=3))
    assert not is_about_parameter(400, b"<html>seed", Parameters(seed=3))
