"""What a model thought is no part of its answer, whole or piece by piece."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.providers.thought import Apart, Spoken, apart

TEXTS = [
    ("<think>\nHm.\n</think>\n\nThe answer.", "\nHm.\n", "The answer."),
    ("\n<think></think>The answer.", "", "The answer."),
    ("<thinking>Hm.</thinking> The answer.", "Hm.", "The answer."),
    ("<seed:think>Hm.</seed:think>The answer.", "Hm.", "The answer."),
    ("[THINK]Hm.[/THINK]The answer.", "Hm.", "The answer."),
    ("◁think▷Hm.◁/think▷The answer.", "Hm.", "The answer."),
    ("<|channel>thought\nHm.<channel|>The answer.", "\nHm.", "The answer."),
    ("<think>a</think>\n<think>b</think>The answer.", "a\nb", "The answer."),
    ("Hm.\n</think>\n\nThe answer.", "Hm.\n", "The answer."),
    (
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>The answer.<|return|>",
        "Hm.",
        "The answer.",
    ),
    ("analysisHm.assistantfinalThe answer.", "Hm.", "The answer."),
]
PLAIN = ["The answer.", "", "a < b", "<p>The answer.</p>", "[1] The answer.", "Models write `</think>` there.", "<th"]


@pytest.mark.parametrize(("text", "thought", "answer"), TEXTS)
def test_what_was_thought_stands_apart(text: str, thought: str, answer: str) -> None:
    assert apart(text) == Apart(thought, answer)


@pytest.mark.parametrize("text", PLAIN)
def test_any_other_text_stays_as_it_is(text: str) -> None:
    assert apart(text) == Apart("", text)


@pytest.mark.parametrize("text", ["<think>Hm, and", "<|channel|>analysis<|message|>Hm", "<think>a</think><think>b"])
def test_a_thought_without_an_end_leaves_no_answer(text: str) -> None:
    found = apart(text)
    assert (found.text, found.is_open) == ("", True)


@given(
    st.sampled_from(
        [(text, answer) for text, _, answer in TEXTS if text[0] in "<[\n◁"] + [(text, text) for text in PLAIN]
    ),
    st.lists(st.integers(1, 9), min_size=1, max_size=80),
)
def test_the_pieces_that_are_passed_on_begin_the_answer(told: tuple[str, str], cuts: list[int]) -> None:
    text, answer = told
    spoken, said, left = Spoken(), "", text
    for cut in cuts:
        said += spoken.feed(left[:cut])
        left = left[cut:]
    said += spoken.feed(left)
    assert answer.startswith(said.removesuffix("<|return|>"))


@given(st.text(alphabet="<>/[]|◁▷think analysis\n", max_size=60))
def test_no_text_does_harm(text: str) -> None:
    found = apart(text)
    assert len(found.text) <= len(text)
