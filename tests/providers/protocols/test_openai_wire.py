import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from carrel.evaluation.asking.judge import compare_schema
from carrel.providers.base import GenerateMatter, ModelRequest, Parameters, ParametersNotTaken, ProviderError, Usage
from carrel.providers.catalogue import KNOWN
from carrel.providers.protocols.openai_chat import ChatWire
from carrel.providers.protocols.openai_wire import answered, encoded
from carrel.providers.protocols.wire import Form

CHAT = {name: known.wire for name, known in KNOWN.items() if isinstance(known.wire, ChatWire)}
NOTHING = Parameters()
EVERYTHING = Parameters(
    temperature=0.5, top_p=0.9, max_output_tokens=100, seed=7, reasoning_effort="low", verbosity="high", stop=("END",)
)


def asked(provider: str, parameters: Parameters = NOTHING, *, judge: bool = False, form: Form = "json_schema") -> Any:
    request = ModelRequest(
        model="m",
        system="Be brief.",
        prompt="Say «ä».",
        matter=GenerateMatter("", ""),
        parameters=parameters,
        schema=compare_schema() if judge else None,
    )
    return json.loads(encoded(request, CHAT[provider].dialect, form))


def test_a_plain_question_holds_what_was_set_and_an_output_limit() -> None:
    assert asked("openai") == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say «ä»."}],
        "max_completion_tokens": 16_384,
    }


def test_without_a_system_prompt_there_is_none() -> None:
    request = ModelRequest(model="m", system="", prompt="Hello", matter=GenerateMatter("", ""))
    sent = json.loads(encoded(request, CHAT["vllm"].dialect, "words"))
    assert sent["messages"] == [{"role": "user", "content": "Hello"}]


BOTH = {"temperature": 0.5, "top_p": 0.9, "seed": 7, "reasoning_effort": "low", "verbosity": "high", "stop": ["END"]}
NEWER = BOTH | {"max_completion_tokens": 100}
OLDER = BOTH | {"max_tokens": 100}
SENT: dict[str, tuple[str, str, dict[str, Any]]] = {
    "azure": ("api-key", "json_schema", NEWER),
    "compatible": ("Authorization", "json_schema", OLDER),
    "deepseek": ("Authorization", "json_object", OLDER | {"seed": None, "verbosity": None}),
    "groq": ("Authorization", "json_schema", NEWER | {"verbosity": None}),
    "mistral": (
        "Authorization",
        "json_schema",
        OLDER | {"seed": None, "random_seed": 7, "reasoning_effort": None, "verbosity": None},
    ),
    "ollama": ("Authorization", "json_schema", OLDER),
    "openai": ("Authorization", "json_schema", NEWER),
    "openrouter": ("Authorization", "json_schema", OLDER),
    "vllm": ("Authorization", "json_schema", OLDER),
    "xai": ("Authorization", "json_schema", NEWER | {"verbosity": None}),
}
"""Where the key stands, how a judge is asked, and what the parameters are called; `None` is not taken there."""


@pytest.mark.parametrize("provider", SENT)
def test_each_server_is_asked_in_the_words_that_it_knows(provider: str) -> None:
    header, form, fields = SENT[provider]
    assert [*ChatWire(CHAT[provider].dialect).headers("key")] == [header]
    assert CHAT[provider].dialect.forms[0] == form
    given = EVERYTHING
    if fields["seed"] is None and "random_seed" not in fields:
        given = replace(given, seed=None)
    given = replace(given, **{name: None for name in ("reasoning_effort", "verbosity") if fields[name] is None})
    sent = asked(provider, given, judge=True, form=CHAT[provider].dialect.forms[0])
    expected = {name: value for name, value in fields.items() if value is not None}
    assert set(sent) == {"model", "messages", "response_format", *expected}
    assert {name: sent[name] for name in expected} == expected
    assert sent["response_format"]["type"] == form


def test_every_server_that_speaks_chat_completions_is_held_to_its_words() -> None:
    assert set(SENT) == set(CHAT)


@pytest.mark.parametrize(
    ("provider", "parameters"),
    [
        ("deepseek", Parameters(seed=0)),
        ("mistral", Parameters(reasoning_effort="low")),
        ("groq", Parameters(verbosity="low")),
        ("openai", Parameters(stop=("a", "b", "c", "d", "e"))),
        ("openai", Parameters(top_k=40)),
        ("openai", Parameters(thinking_budget=2_000)),
    ],
)
def test_a_parameter_that_the_server_has_no_word_for_is_refused_not_dropped(
    provider: str, parameters: Parameters
) -> None:
    with pytest.raises(ParametersNotTaken) as caught:
        asked(provider, parameters)
    assert caught.value.names == tuple(json.loads(msgspec.json.encode(parameters)))
    assert (caught.value.code, caught.value.retryable, caught.value.unbilled) == (
        "parameter-not-supported",
        False,
        True,
    )


def test_a_judge_is_held_to_its_form_by_the_means_that_there_are() -> None:
    strict = asked("openai", judge=True)["response_format"]
    assert (strict["type"], strict["json_schema"]["strict"]) == ("json_schema", True)
    assert strict["json_schema"]["schema"] == compare_schema()
    assert asked("deepseek", judge=True, form="json_object")["response_format"] == {"type": "json_object"}
    assert "response_format" not in asked("vllm", judge=True, form="words")
    assert all(wire.dialect.forms[-1] == "words" for wire in CHAT.values())


CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"ships": {"type": "array", "items": {"$ref": "#/$defs/ship"}}},
    "required": ["ships"],
    "additionalProperties": False,
    "$defs": {"ship": compare_schema()},
}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (CLOSED, True),
        ({"type": "array", "items": CLOSED}, True),
        ({"type": "string"}, True),
        ({}, True),
        (CLOSED | {"required": []}, False),
        (CLOSED | {"additionalProperties": {"type": "string"}}, False),
        (CLOSED | {"$defs": {"ship": {"type": "object"}}}, False),
        ({"anyOf": [{"type": "string"}, {"properties": {"ships": {}}}]}, False),
        ({"default": {"properties": {"a": 1}, "required": [["a"], {}], "additionalProperties": False}}, False),
    ],
)
def test_a_server_is_to_enforce_only_schemas_whose_objects_are_closed(schema: dict[str, Any], strict: bool) -> None:
    request = ModelRequest(model="m-1", system="", prompt="", matter=GenerateMatter("", ""), schema=schema)
    sent = json.loads(encoded(request, CHAT["openai"].dialect, "json_schema"))["response_format"]
    assert (sent["json_schema"]["schema"], sent["json_schema"]["strict"]) == (schema, strict)


def completion(message: dict[str, Any], finish: str | None = "stop", **more: Any) -> bytes:
    return json.dumps(
        {"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": finish}], **more}
    ).encode()


@pytest.mark.parametrize(
    ("message", "finish", "text", "meaning"),
    [
        ({"content": "Hello"}, "stop", "Hello", "stop"),
        ({"content": "Hello", "refusal": None}, None, "Hello", "stop"),
        ({"content": "Hel"}, "length", "Hel", "length"),
        ({"content": "Hel"}, "model_length", "Hel", "length"),
        ({"content": "Hel"}, "content_filter", "Hel", "refused"),
        ({"content": None, "refusal": "No."}, "stop", "No.", "refused"),
        ({"content": "Hello", "refusal": "No more."}, "stop", "Hello", "stop"),
        ({"content": None}, "stop", "", "stop"),
        (
            {"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": "A"}, {"text": "B"}]},
            "stop",
            "AB",
            "stop",
        ),
        ({"content": "Hello", "reasoning_content": "Hm."}, "eos", "Hello", "stop"),
    ],
)
def test_what_an_answer_says(message: dict[str, Any], finish: str | None, text: str, meaning: str) -> None:
    answer = answered(completion(message, finish))
    assert answer is not None
    assert (answer.text, answer.finish_reason, answer.usage) == (text, meaning, None)


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5}, Usage(input_tokens=10, output_tokens=5)),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4}},
            Usage(input_tokens=6, output_tokens=5, cached_tokens=4),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "prompt_cache_hit_tokens": 9},
            Usage(input_tokens=1, output_tokens=5, cached_tokens=9),
        ),
        (
            {"prompt_tokens": 3, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9}},
            Usage(input_tokens=0, output_tokens=5, cached_tokens=3),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": None},
            Usage(input_tokens=10, output_tokens=5),
        ),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 4},
            },
            Usage(input_tokens=3, output_tokens=5, cached_tokens=2, written_tokens=4),
        ),
        (
            {
                "prompt_tokens": 3,
                "completion_tokens": 5,
                "total_tokens": 108,
                "completion_tokens_details": {"reasoning_tokens": 100},
            },
            Usage(input_tokens=3, output_tokens=105),
        ),
        (
            {
                "prompt_tokens": 3,
                "completion_tokens": 105,
                "total_tokens": 108,
                "completion_tokens_details": {"reasoning_tokens": 100},
            },
            Usage(input_tokens=3, output_tokens=105),
        ),
        ({"prompt_tokens": -1, "completion_tokens": 5}, None),
        ({"prompt_tokens": 10**30, "completion_tokens": 5}, None),
        ({"prompt_tokens": "many"}, None),
        (None, None),
        ([], None),
    ],
)
def test_what_an_answer_took_is_counted_or_unknown_never_guessed(usage: Any, counted: Usage | None) -> None:
    answer = answered(completion({"content": "Hello"}, usage=usage))
    assert answer is not None
    assert answer.usage == counted
    if counted is not None:
        assert counted.read_tokens <= 10


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"{}",
        b'{"choices": []}',
        b'{"choices": [{}]}',
        b'{"error": {"message": "x"}}',
        b"\xff",
        b"[" * 99_999,
        completion({"content": "Hello"})[:-5],
        completion({"content": 7}),
    ],
)
def test_what_is_no_completion_is_none(body: bytes) -> None:
    assert answered(body) is None


@given(st.binary(max_size=300))
def test_no_bytes_do_harm(body: bytes) -> None:
    assert answered(body) is None


def test_a_server_that_broke_down_on_the_way_may_be_asked_again() -> None:
    with pytest.raises(ProviderError) as caught:
        answered(completion({"content": ""}, "insufficient_system_resource"))
    assert (caught.value.code, caught.value.retryable) == ("provider-overloaded", True)


@pytest.mark.parametrize(
    ("provider", "sent"),
    [
        ("openai", {"web_search_options": {}}),
        ("openrouter", {"tools": [{"type": "openrouter:web_search"}]}),
    ],
)
def test_a_search_is_asked_for_in_the_words_of_the_server(provider: str, sent: dict[str, Any]) -> None:
    for grounding, added in (("off", {}), ("allowed", sent), ("required", sent)):
        request = ModelRequest(model="m", system="", prompt="Hello", matter=GenerateMatter("", ""), grounding=grounding)  # type: ignore[arg-type]  # one of the words
        body = json.loads(encoded(request, CHAT[provider].dialect, "words"))
        assert {name: body.get(name) for name in ("web_search_options", "tools") if name in body} == added


def test_a_server_without_a_search_refuses_it_unasked() -> None:
    request = ModelRequest(model="m", system="", prompt="Hello", matter=GenerateMatter("", ""), grounding="allowed")
    with pytest.raises(ProviderError) as refused:
        encoded(request, CHAT["mistral"].dialect, "words")
    assert (refused.value.code, refused.value.unbilled) == ("parameter-not-supported", True)


@pytest.mark.parametrize(
    ("annotations", "urls"),
    [
        (None, []),
        ([], []),
        ("odd", []),
        ([{"type": "url_citation", "url_citation": {"url": "https://a.example/1", "title": " A \n page "}}] * 2, 1),
        ([{"type": "url_citation", "url_citation": {"url": "javascript:alert(1)", "title": "No"}}], []),
        ([{"type": "url_citation", "url_citation": {"url": f"https://a.example/{n}"}} for n in range(90)], 50),
        ([{"type": "file_citation", "index": 1}], []),
    ],
)
def test_pages_that_an_answer_cites_are_kept_once_and_up_to_a_limit(annotations: Any, urls: Any) -> None:
    message = {"role": "assistant", "content": "So it is.", "annotations": annotations}
    answer = answered(json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode())
    assert answer is not None
    assert answer.text == "So it is."
    assert len(answer.citations) == (urls or 0)
    assert all(one.url.startswith("https://a.example/") for one in answer.citations)
    assert {one.title for one in answer.citations} <= {"A page", ""}


def test_rarer_parameters_are_sent_where_the_server_has_them() -> None:
    given = Parameters(top_k=40, frequency_penalty=-0.5, presence_penalty=1.5, thinking_budget=2_000)
    sent = asked("openrouter", given)
    assert (sent["top_k"], sent["frequency_penalty"], sent["presence_penalty"]) == (40, -0.5, 1.5)
    assert sent["reasoning"] == {"max_tokens": 2_000}
    assert asked("vllm", Parameters(top_k=40))["top_k"] == 40
