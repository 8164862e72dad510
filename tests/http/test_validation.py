"""No message of msgspec's reaches a caller, whatever its type and whatever was sent."""

import datetime
import decimal
import tracemalloc
import uuid
from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta

from carrel.errors import BadInput, FieldError
from carrel.http.requests import body
from carrel.http.requests.schema import Ids, In, Name, Text, UserUuid, limited
from carrel.http.requests.validation import explain

CANARY = "canary5f1c"


class Inner(In, frozen=True):
    word: Literal["up", "down"] = "up"
    again: "Inner | None" = None
    name: Name = "a"


class Everything(In, frozen=True):
    number: int = 0
    bounded: Annotated[float, Meta(gt=0, lt=1)] = 0.5
    flag: bool = False
    either: int | str | None = None
    inner: Inner | None = None
    inners: dict[str, Inner] = msgspec.field(default_factory=dict)
    pair: tuple[int, int] = (0, 0)
    moment: datetime.datetime | None = None
    day: datetime.date | None = None
    key: uuid.UUID | None = None
    money: decimal.Decimal | None = None
    raw: bytes = b""
    half: Annotated[float, Meta(multiple_of=0.5)] = 1.0
    by_number: dict[int, int] = msgspec.field(default_factory=dict)
    few: Annotated[dict[str, int], Meta(max_length=1)] = msgspec.field(default_factory=dict)
    names: list[Name] = msgspec.field(default_factory=list)
    stops: tuple[Name, ...] = ()
    text: Text | None = None
    variables: Annotated[dict[str, str | None], limited("max_variables", "entries")] = msgspec.field(
        default_factory=dict
    )
    ids: Ids | None = None
    user: UserUuid = "a"


class Needy(In, frozen=True):
    first: int
    second: Name
    inner: "NeedyInner"


class NeedyInner(In, frozen=True):
    third: str


class Limits:
    max_name_characters = 5
    max_body_bytes = 8
    max_variables = 2
    max_bulk_ids = 2


def faults(sent: Any) -> dict[str, str]:
    with pytest.raises(BadInput) as raised:
        body.decode(msgspec.json.encode(sent), Everything, Limits())
    return {fault.path: fault.message for fault in raised.value.errors}


@pytest.mark.parametrize(
    ("sent", "path", "message"),
    [
        ({"number": CANARY}, "number", "must be an integer"),
        ({"bounded": 1}, "bounded", "must be less than 1.0"),
        ({"bounded": 0}, "bounded", "must be more than 0.0"),
        ({"flag": CANARY}, "flag", "must be true or false"),
        ({"either": []}, "either", "must be an integer or a string or null"),
        ({"inner": {"word": CANARY}}, "inner.word", "is not one of the allowed values"),
        ({"inner": {"again": {"again": {"word": 1}}}}, "inner.again.again.word", "must be a string"),
        ({"inners": {CANARY: {"word": CANARY}}}, "inners[...].word", "is not one of the allowed values"),
        ({"pair": [1]}, "pair", "must have exactly 2 entries"),
        ({"moment": CANARY}, "moment", "must be an RFC 3339 time"),
        ({"day": CANARY}, "day", "must be a date such as 2026-11-30"),
        ({"key": CANARY}, "key", "must be a UUID"),
        ({"money": CANARY}, "money", "must be a decimal number"),
        ({"raw": CANARY + "!"}, "raw", "must be a base64 string"),
        ({"half": 0.3}, "half", "is not valid"),
        ({"by_number": {CANARY: 1}}, "by_number", "has a key that is not allowed"),
        ({"few": {"a": 1, CANARY: 2}}, "few", "must have at most 1 entry"),
        ({"user": "a\n"}, "user", "does not have the required form"),
        ({"names": ["a", "abcdef"]}, "names[1]", "must have at most 5 characters"),
        ({"text": "äöüäö"}, "text", "must have at most 8 bytes"),
        ({"inner": {"again": {"name": "abcdef"}}}, "inner.again.name", "must have at most 5 characters"),
        ({"inners": {CANARY: {"name": "abcdef"}}}, "inners[...].name", "must have at most 5 characters"),
        ({"variables": {"a": None, "b": None, "c": None}}, "variables", "must have at most 2 entries"),
        ({"ids": ["a", "b", "c"]}, "ids", "must have at most 2 entries"),
        ({"ids": []}, "ids", "must have at least 1 entry"),
    ],
)
def test_every_kind_of_fault_has_its_own_words(sent: object, path: str, message: str) -> None:
    assert faults(sent) == {path: message}


def test_every_limit_that_is_exceeded_is_named() -> None:
    assert set(faults({"names": ["abcdef", "abcdef"], "text": "a" * 9})) == {"names[0]", "names[1]", "text"}


def test_every_fault_is_named_at_once_wherever_it_stands() -> None:
    sent = {
        "number": "one",
        "unknown": 1,
        "inner": {"word": "left", "name": "too long a name", "again": {"word": 1, "more": 2}},
        "inners": {CANARY: {"word": "left"}},
        "names": ["a", "", "abcdef", 7],
        "stops": [7, "a", ""],
        "pair": [1],
        "text": "a" * 9,
        "user": "-",
    }
    assert faults(sent) == {
        "unknown": "is not a known field",
        "number": "must be an integer",
        "inner.word": "is not one of the allowed values",
        "inner.name": "must have at most 5 characters",
        "inner.again.more": "is not a known field",
        "inner.again.word": "must be a string",
        "inners[...].word": "is not one of the allowed values",
        "names[1]": "must have at least 1 character",
        "names[2]": "must have at most 5 characters",
        "names[3]": "must be a string",
        "stops[0]": "must be a string",
        "stops[2]": "must have at least 1 character",
        "pair": "must have exactly 2 entries",
        "text": "must have at most 8 bytes",
        "user": "does not have the required form",
    }


def test_every_missing_field_is_named() -> None:
    with pytest.raises(BadInput) as raised:
        body.decode(b'{"inner": {}}', Needy, Limits())
    assert [fault.path for fault in raised.value.errors] == ["first", "second", "inner.third"]


@pytest.mark.parametrize("entry", ["1", '""', '"abcdef"'])
def test_of_endless_faults_twenty_are_named_and_that_there_are_more(entry: str) -> None:
    sent = b'{"number": "one", "names": [' + b",".join([entry.encode()] * 9_000) + b"]}"
    with pytest.raises(BadInput) as raised:
        body.decode(sent, Everything, Limits())
    *named, last = raised.value.errors
    assert (len(named), last) == (20, FieldError("", "and more faults than these"))
    assert "" not in {fault.path for fault in named}


def test_of_endless_unknown_fields_twenty_are_named() -> None:
    assert len(faults({f"k{number}": 1 for number in range(9_000)})) == 21
    assert len(faults({f"k{number}": 1 for number in range(20)})) == 20


def test_a_fault_behind_very_many_sound_parts_is_named_all_the_same() -> None:
    sent = b'{"names": [' + b'"a",' * 9_000 + b'1], "number": "one"}'
    with pytest.raises(BadInput) as raised:
        body.decode(sent, Everything, Limits())
    assert FieldError("names[9000]", "must be a string") in raised.value.errors


MANY = 200_000
TOO_MANY: dict[str, Callable[[], bytes]] = {
    "keys": lambda: b"{" + b",".join(b'"k%d":1' % number for number in range(MANY)) + b"}",
    "values": lambda: b'{"names":[' + b",".join([b"1"] * MANY) + b"]}",
    "texts": lambda: b'{"names":[' + b",".join([b'""'] * MANY) + b"]}",
    "marks in texts": lambda: b'{"names":[' + b",".join([rb'"\\\""'] * MANY) + b"]}",
    "lists": lambda: b'{"names":[' + b",".join([b"[]"] * MANY) + b"]}",
    "deep": lambda: b'{"names":' + b"[" * MANY,
    "objects": lambda: b'{"inner":' + b'{"a":' * MANY,
}


@pytest.mark.parametrize("made", TOO_MANY.values(), ids=TOO_MANY)
def test_what_has_too_many_elements_is_refused_before_anything_is_made_of_it(made: Callable[[], bytes]) -> None:
    sent = made()
    tracemalloc.start()
    try:
        with pytest.raises(BadInput) as raised:
            body.decode(sent, Everything, Limits())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert raised.value.errors == (FieldError("", "must have at most 10,000 elements"),)
    assert peak < 3 * len(sent) + 1_000_000


def test_commas_and_brackets_in_texts_are_no_elements() -> None:
    for text in (",[{" * MANY, '","' * MANY, "\\," * MANY, '\\",[' * MANY):
        with pytest.raises(BadInput) as raised:
            body.decode(msgspec.json.encode({"text": text}), Everything, Limits())
        assert raised.value.errors == (FieldError("text", "must have at most 8 bytes"),)


def test_exactly_as_many_elements_as_allowed_are_decoded() -> None:
    for count, message in ((9_999, "must have at most 2 entries"), (10_000, "must have at most 10,000 elements")):
        (told,) = faults({"ids": ["a,"] * count}).values()
        assert told == message


def test_a_fault_before_something_that_is_no_json_is_named() -> None:
    with pytest.raises(BadInput) as raised:
        body.decode(b'{"number": "one", oops', Everything, Limits())
    assert raised.value.errors == (FieldError("number", "must be an integer"),)


def test_what_is_within_its_limits_passes() -> None:
    sent = {"names": ["abcde"], "text": "äöüä", "ids": ["a", "b"], "inner": {"name": "abcde"}, "user": "A-b_9"}
    data = body.decode(msgspec.json.encode(sent), Everything, Limits())
    assert data.text == "äöüä"


@pytest.mark.parametrize("uuid_", ["a" * 65, "-a", "_a", "a/b", "ä", "a\n", "a\nb", "", "a.b", " a"])
def test_a_uuid_is_matched_whole(uuid_: str) -> None:
    assert faults({"user": uuid_}) == {"user": "does not have the required form"}


@pytest.mark.parametrize("uuid_", ["a", "9", "a" * 64, "3f1c2b9e-0001", "A_-"])
def test_a_good_uuid_passes(uuid_: str) -> None:
    assert body.decode(msgspec.json.encode({"user": uuid_}), Everything, Limits()).user == uuid_


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.just(CANARY) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([CANARY, "word"]), inner, max_size=2),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(Everything.__struct_fields__), anything, max_size=2))
@settings(max_examples=300)
def test_no_value_is_ever_repeated(sent: dict[str, object]) -> None:
    found: tuple[FieldError, ...] = ()
    try:
        body.decode(msgspec.json.encode(sent), Everything, Limits())
    except BadInput as error:
        found = error.errors
    assert not [fault for fault in found if CANARY in fault.message]


def test_a_message_that_is_not_known_is_not_repeated_either() -> None:
    assert explain(f"Strange {CANARY} - at `$.field`") == ("field", "is not valid")
    assert explain(f"Strange {CANARY}") == ("", "is not valid")


@pytest.mark.parametrize(
    ("sent", "paths"),
    [
        ({"text": "a\0b"}, ["text"]),
        ({"names": ["a", "\0", "b\0"]}, ["names[1]", "names[2]"]),
        ({"inner": {"name": "\0"}, "user": "a"}, ["inner.name"]),
        ({"variables": {"NAME": "\0", "\0": None}}, ["variables[...]", "variables[...]"]),
        ({"either": "\0" * 1000}, ["either"]),
        ({"names": ["\0"] * 1000}, [f"names[{index}]" for index in range(20)] + [""]),
    ],
)
def test_a_text_with_nul_is_refused_wherever_it_stands(sent: dict[str, object], paths: list[str]) -> None:
    with pytest.raises(BadInput) as refused:
        body.decode(msgspec.json.encode(sent), Everything, Limits())
    assert [fault.path for fault in refused.value.errors] == paths
    assert body.decode(msgspec.json.encode({"text": "\\u0000"}), Everything, Limits()).text == "\\u0000"
