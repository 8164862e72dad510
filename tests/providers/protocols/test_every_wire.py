"""What holds for every protocol in the catalogue, also for one that is added later."""

import json
from typing import Any
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from carrel.evaluation.asking.judge import compare_schema
from carrel.providers.base import GenerateMatter, Matter, ModelRequest, Parameters, ProviderError, ScoreMatter, Turn
from carrel.providers.catalogue import KNOWN
from carrel.providers.protocols import names
from carrel.providers.protocols.wire import Wire
from carrel.runs.costs import quotes
from carrel.runs.model.plan import Kind

WIRES = [pytest.param(known.wire, id=name) for name, known in KNOWN.items()]
WIRES += [pytest.param(known.second.wire, id=f"{name}'s second") for name, known in KNOWN.items() if known.second]
KEY = "sk-of-nobody"
BASE = "https://models.example"
REQUEST = ModelRequest(
    model="m-1",
    system="Be just.",
    prompt="Which answer is better, «ä» or «ö»?",
    matter=GenerateMatter("", ""),
    parameters=Parameters(max_output_tokens=100),
    schema=compare_schema(),
)


@pytest.mark.parametrize("wire", WIRES)
def test_the_key_stands_in_the_headers_alone(wire: Wire) -> None:
    assert any(KEY in value for value in wire.headers(KEY).values())
    urls = (wire.call_url(BASE, "m-1"), wire.stream_url(BASE, "m-1"), wire.models_url(BASE))
    assert all(url.startswith(f"{BASE}/") and KEY not in url for url in urls)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_the_texts_of_a_request_are_in_its_body_in_every_form(wire: Wire, stream: bool) -> None:
    for form in wire.forms:
        body = json.dumps(json.loads(wire.encoded(REQUEST, form, stream=stream)), ensure_ascii=False)
        assert REQUEST.prompt in body
        assert REQUEST.system in body


LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_every_call_tells_the_server_the_output_limit_that_its_estimate_was_made_with(wire: Wire, stream: bool) -> None:
    judged = ScoreMatter("A document.", "An answer.", ())
    cases: tuple[tuple[Matter, tuple[Kind, ...], Parameters, int], ...] = (
        (REQUEST.matter, ("generate", "combine"), Parameters(), 16_384),
        (judged, ("score", "compare"), Parameters(), 8_192),
        (judged, ("score", "compare"), Parameters(max_output_tokens=100), 100),
    )
    for matter, kinds, parameters, expected in cases:
        asked = replace(REQUEST, matter=matter, parameters=parameters)
        assert {quotes.output_limit(kind, parameters) for kind in kinds} == {expected}
        for form in wire.forms:
            body = json.loads(wire.encoded(asked, form, stream=stream))
            places = (body, body.get("generationConfig", {}), body.get("inferenceConfig", {}))
            assert [place[name] for place in places for name in LIMITS if name in place] == [expected]


@pytest.mark.parametrize("wire", WIRES)
def test_a_judge_can_be_asked_by_words_alone_once_everything_else_was_refused(wire: Wire) -> None:
    assert wire.forms[-1] == "words"
    assert len(set(wire.forms)) == len(wire.forms)
    assert b"winner" not in wire.encoded(REQUEST, "words")
    assert b"winner" in wire.encoded(REQUEST, wire.forms[0]) or wire.forms[0] == "json_object"


@pytest.mark.parametrize("wire", WIRES)
def test_a_body_that_is_no_answer_is_none(wire: Wire) -> None:
    for body in (b"", b"<html>", b"[]", b"{}", b"null", b"\xff", b"[" * 100_000):
        assert wire.answered(body) is None, body[:9]


@pytest.mark.parametrize("wire", WIRES)
def test_a_body_that_is_no_list_of_models_is_none(wire: Wire) -> None:
    for body in (b"", b"<html>", b"null", b"{}", b"\xff", b"[" * 100_000):
        assert wire.models(body) is None, body[:9]


@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_without_its_end_is_no_answer(wire: Wire) -> None:
    reader = wire.streamed()
    assert reader.answer() is None
    assert reader.feed(b": ping\n\nevent: hello\n") == ""
    assert reader.answer() is None
    with pytest.raises(ProviderError, match="provider-malformed"):
        reader.feed(b"data: nonsense\n")
    # Readers share nothing.
    assert wire.streamed() is not reader


@pytest.mark.parametrize("name", ["", " ", " a", "a ", "a\nb", "a\0", "\ud800", "a\u2028b"])
def test_what_nobody_can_write_in_a_line_is_no_name_of_a_model(name: str) -> None:
    assert not names.can_be(name)


NAMES = (
    *(
        "/data/models/Qwen3-8B",
        "@cf/meta/llama-3",
        "./model",
        "C:\\models\\x.gguf",
        "claude-4[1m]",
        "a b",
        "ä",
        "~x/y",
    ),
    *("../secrets", "..", "a?b=c", "a#b", "a:countTokens", "models/gemini-2.5-flash", "ft:gpt-4o::x", "x%2e%2e"),
)


@pytest.mark.parametrize("wire", WIRES)
def test_any_other_name_can_be_called_and_leads_to_no_other_path(wire: Wire) -> None:
    usual = urlsplit(wire.call_url(BASE, "m-1"))
    for name in NAMES:
        assert names.can_be(name), name
        for url in (wire.call_url(BASE, name), wire.stream_url(BASE, name)):
            parts = urlsplit(url)
            assert (parts.scheme, parts.netloc, parts.fragment) == (usual.scheme, usual.netloc, ""), name
            assert parts.path.count("/") == usual.path.count("/"), name
            assert parts.path.startswith(usual.path.partition("m-1")[0]), name
            assert not {".", ".."} & set(parts.path.split("/")), name


LISTS = (
    b'{"object": "list", "data": null}',
    b"[]",
    b'[{"id": "m"}, "n"]',
    b'{"models": [{"name": "m"}]}',
    b'{"data": [{"id": null}, {"id": 7}, {}, 3, null, {"id": "m"}, {"id": "m"}]}',
)


@pytest.mark.parametrize("wire", WIRES)
def test_of_a_list_of_models_everything_readable_is_read(wire: Wire) -> None:
    for body, expected in zip(LISTS, ([], [], ["m", "n"], ["m"], ["m"]), strict=True):
        page = wire.models(body)
        assert page is not None, body
        assert [one.name for one in page.models] == expected, body


@pytest.mark.parametrize("wire", WIRES)
def test_a_list_of_models_may_have_any_length_and_tells_their_limits_and_ends(wire: Wire) -> None:
    told = {"max_model_len": 4_096, "max_completion_tokens": 512, "shutdown_date": "2027-02-01"}
    data = [{"id": f"m{number}"} | told for number in range(5_000)]
    page = wire.models(json.dumps({"data": data}).encode())
    assert page is not None
    assert len(page.models) == 5_000
    assert set(page.models[0][1:]) == set(told.values())


def _turns(body: dict[str, Any]) -> list[tuple[str, str]]:
    """The turns of a conversation in a body of any protocol, the system's left out."""
    listed = next(body[name] for name in ("messages", "input", "contents") if name in body)
    said = [(turn["role"], turn.get("content", turn.get("parts"))) for turn in listed]
    found = [(role, text if isinstance(text, str) else text[0]["text"]) for role, text in said]
    return [("assistant" if role == "model" else role, text) for role, text in found if role != "system"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_a_conversation_keeps_its_turns(wire: Wire, stream: bool) -> None:
    turns = (Turn("user", "Where?"), Turn("assistant", "Here."), Turn("user", "And when?"))
    for form in wire.forms:
        body = json.loads(wire.encoded(replace(REQUEST, prompt="", turns=turns), form, stream=stream))
        assert _turns(body) == [(turn.role, turn.content) for turn in turns]
        assert REQUEST.system in json.dumps(body)
