"""Fields that a user sends along as they are."""

import json
from typing import Any

import pytest

from carrel.providers import extra

DEEP: Any = 1
for _ in range(6):
    DEEP = {"a": DEEP}


@pytest.mark.parametrize(
    ("fields", "path", "sentence"),
    [
        ({"num_ctx": 8_192, "options": {"num_ctx": 8_192}, "provider": {"order": ["a"]}}, None, ""),
        ({"chat_template_kwargs": {"enable_thinking": False}, "thinking": {"type": "adaptive"}}, None, ""),
        ({"safetySettings": [{"category": "x"}], "generationConfig": {"mediaResolution": "LOW"}}, None, ""),
        ({"topP": 1}, "extra.topP", "is a parameter of its own: set top_p"),
        ({"max_tokens": 1}, "extra.max_tokens", "is a parameter of its own: set max_output_tokens"),
        (
            {"options": {"num_predict": 9}},
            "extra.options.num_predict",
            "is a parameter of its own: set max_output_tokens",
        ),
        ({"inferenceConfig": {"topP": 1}}, "extra.inferenceConfig.topP", "is a parameter of its own: set top_p"),
        ({"messages": []}, "extra.messages", "is set by Carrel"),
        ({"n": 5}, "extra.n", "is set by Carrel"),
        ({"models": ["another"]}, "extra.models", "is set by Carrel"),
        ({"service_tier": "priority"}, "extra.service_tier", "changes the price, which nobody could know then"),
        ({"note": "x" * 4_096}, "extra", "must be at most 4,096 bytes of JSON"),
        (DEEP, "extra", "must be nested at most 5 deep"),
        ({str(number): 1 for number in range(51)}, "extra", "must have at most 50 names"),
    ],
)
def test_what_carrel_sets_itself_is_refused_by_name_and_so_is_too_much(
    fields: dict[str, Any], path: str | None, sentence: str
) -> None:
    assert extra.fault(fields) == (None if path is None else (path, sentence))


def test_the_fields_join_the_body_and_take_the_place_of_none() -> None:
    body = json.dumps({"model": "m", "reasoning": {"summary": "auto"}, "stop": ["a"]}).encode()
    joined = extra.joined(body, {"reasoning": {"mode": "pro"}, "user": "nobody"})
    assert isinstance(joined, bytes)
    assert json.loads(joined) == {
        "model": "m",
        "reasoning": {"summary": "auto", "mode": "pro"},
        "stop": ["a"],
        "user": "nobody",
    }
    assert extra.joined(body, {"reasoning": {"summary": "no"}}) == "extra.reasoning.summary"
    assert extra.joined(body, {"stop": {}}) == "extra.stop"
