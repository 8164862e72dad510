"""The structs of the SDK are made from `openapi.json`: exact in what is sent, tolerant of what is answered."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from carrel_sdk import behaviour, models

from carrel.http.requests.schema import Hidden
from sdk import generate_models
from tests.transfer.test_fields import WRITTEN

ROOT = Path(__file__).parents[2]


def test_what_is_there_is_what_the_generator_writes() -> None:
    done = subprocess.run([sys.executable, "-m", "sdk.generate", "--check"], cwd=ROOT)
    assert done.returncode == 0, "run `make client`"


def test_what_the_service_hides_is_hidden_here() -> None:
    hidden = {generate_models.NAMES.get(kind.__name__, kind.__name__) for kind in Hidden.__subclasses__()}
    found = [kind for name in hidden if isinstance(kind := getattr(models, name, None), type)]
    assert len(found) > 3
    assert all(issubclass(kind, behaviour.Hidden) for kind in found)
    session = models.SessionOut(session_token="secret", expires_in=1)
    assert "secret" not in f"{session!r}{session.__rich_repr__()}"


def test_the_tables_of_the_generator_name_nothing_that_is_gone() -> None:
    schemas = msgspec.json.decode((ROOT / "openapi.json").read_bytes())["components"]["schemas"]
    assert generate_models.NAMES.keys() <= schemas.keys()
    assert all(hasattr(models, name) for name in (*generate_models.BASES, *generate_models.WORDS))


def answered(**told: object) -> models.Task:
    body = {"key": "k", "kind": "score", "state": "running", "candidate": "c", "document_name": "d", **told}
    return msgspec.json.decode(msgspec.json.encode(body), type=models.Task)


def test_an_answer_of_a_newer_or_an_earlier_service_is_read() -> None:
    newer = answered(kind="dream", mood={"of": "the judge"})
    assert newer.kind == "dream"
    earlier = answered()
    assert (earlier.attempts, earlier.reused, earlier.judge) == (0, False, None)


def test_an_answer_without_its_first_field_or_with_another_type_is_none() -> None:
    for body in (b"{}", b'{"items":[]}', b'{"total":"1"}'):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(body, type=models.RunCount)


def made(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """The structs of contents that are made of a document with changed schemas."""
    document = msgspec.json.decode((ROOT / "openapi.json").read_bytes())
    change(document["components"]["schemas"])
    module: dict[str, Any] = {"__name__": "made"}
    exec(generate_models.generated(document, ["Content", "ContentChange", "Preset"]), module)
    return module


def test_a_field_that_the_service_adds_is_read_and_saved() -> None:
    def add(schemas: dict[str, Any]) -> None:
        mood = {"enum": ["calm", "odd", None]}
        schemas["Content"]["properties"]["mood"] = mood
        schemas["Content"]["required"].append("mood")
        schemas["ContentChange"]["properties"]["mood"] = {**mood, "default": "calm"}

    module = made(add)
    told = {**WRITTEN, "id": "1", "created_at": "now", "updated_at": "now"}
    content = msgspec.convert({**told, "mood": "strange"}, module["Content"])
    assert content.mood == "strange"
    content.mood = "odd"
    written = msgspec.convert(content, module["ContentChange"], from_attributes=True)
    assert msgspec.to_builtins(written) == {**WRITTEN, "mood": "odd"}
    content.mood = "strange"
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(content, module["ContentChange"], from_attributes=True)


def test_a_default_that_is_not_the_struct_s_own_is_refused() -> None:
    def change(schemas: dict[str, Any]) -> None:
        schemas["Configuration"]["properties"]["limits"]["default"]["concurrency"] += 1

    with pytest.raises(ValueError, match="RunLimits"):
        made(change)
