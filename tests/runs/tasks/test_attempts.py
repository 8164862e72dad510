"""One attempt: what is asked, and what an answer means."""

from typing import Any

import pytest

from carrel.contents.resolve import Slot
from carrel.evaluation.asking import replies
from carrel.providers.base import CompareMatter, Criterion, GenerateMatter, Matter, Parameters, ScoreMatter
from carrel.runs.model.prompts import Instructions
from carrel.runs.tasks import attempts
from carrel.runs.tasks.attempts import Attempt, CompareResult, GenerateResult, InvalidReply, ScoreResult
from tests.support.models import said, said_json

CRITERIA = (Criterion("Wit", "Is it funny?"),)
SCORE = ScoreMatter("The document.", "The answer.", CRITERIA)
COMPARE = CompareMatter("The document.", "One.", "Two.", CRITERIA)
GENERATE = GenerateMatter("The document.", "Summarise.")


def attempt(matter: Matter, model: str = "test:judge", **fields: Any) -> Attempt:
    kinds = {GenerateMatter: "generate", ScoreMatter: "score", CompareMatter: "compare"}
    return Attempt(
        task=1,
        key="r1.some.task",
        kind=kinds[type(matter)],  # type: ignore[arg-type]
        number=1,
        call_id="call",
        model=model,
        host=None,
        parameters=Parameters(temperature=0.5),
        matter=matter,
        **({"instructions": None} | fields),
    )


@pytest.mark.parametrize("matter", [GENERATE, SCORE, COMPARE])
def test_the_same_attempt_gives_the_same_request_and_another_task_another_fence(matter: Matter) -> None:
    one = attempt(matter)
    assert attempts.request(one, "fence", 60.0) == attempts.request(one, "fence", 60.0)
    assert attempts.request(one, "fence", 60.0).prompt != attempts.request(one, "other", 60.0).prompt
    assert attempts.request(one, "fence", 60.0).parameters == Parameters(temperature=0.5)
    assert (attempts.request(one, "fence", 60.0).schema is None) == isinstance(matter, GenerateMatter)


def test_nobody_writes_prompts_for_models_that_read_the_matter() -> None:
    request = attempts.request(attempt(SCORE, "local:reader"), "fence", 60.0)
    assert (request.model, request.system, request.prompt, request.matter) == ("reader", "", "", SCORE)


@pytest.mark.parametrize("matter", [GENERATE, SCORE, COMPARE])
def test_only_the_places_that_the_resolver_found_take_the_document(matter: Matter) -> None:
    text = "Given: {{document}}. Here: {{document}}."
    slots = [Slot(text.rindex("{{"), text.rindex("}}") + 2, "document")]
    prompt = attempts.request(attempt(matter, instructions=Instructions(text, slots)), "fence", 60.0).prompt
    assert prompt.startswith("Given: {{document}}. Here: ")
    assert prompt.count("The document.") == 1


def test_every_fault_has_a_code_and_is_told_in_words() -> None:
    faults = {text for name, text in vars(replies).items() if name.isupper() and isinstance(text, str)}
    assert set(attempts._FAULTS) == faults
    for sentence, code in attempts._FAULTS.items():
        assert sentence in attempts.request(attempt(SCORE, fault=code), "fence", 60.0).prompt
    assert "not accepted" not in attempts.request(attempt(SCORE, fault="provider-timeout"), "fence", 60.0).prompt


def test_answers_mean_what_they_say() -> None:
    assert attempts.result(attempt(GENERATE), said("A text.", "length")) == GenerateResult("A text.", "length")
    scored = said_json({"reason": "Ha.", "scores": {"Wit": 4}})
    assert attempts.result(attempt(SCORE), scored) == ScoreResult({"Wit": 4.0}, "Ha.")
    compared = said_json({"reason": "Ha.", "winner": "second"})
    assert attempts.result(attempt(COMPARE), compared) == CompareResult("second", "Ha.")
    assert attempts.result(attempt(COMPARE), said("Two!")) == InvalidReply("reply-not-json", "Two!")


def test_what_no_database_can_hold_is_replaced() -> None:
    found = attempts.result(attempt(GENERATE), said("half a pair: \ud800, NUL: \0"))
    assert isinstance(found, GenerateResult)
    assert found.text == "half a pair: ?, NUL: \ufffd"
    malformed = attempts.result(attempt(SCORE), said("\ud800"))
    assert isinstance(malformed, InvalidReply)
    malformed.raw.encode()
