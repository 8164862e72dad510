"""What a client gets when several representations are on offer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.http.answers.accept import choose
from carrel.http.answers.problem import NotAcceptable

OFFERED = ("application/json", "text/markdown")


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        (None, "application/json"),
        ("", "application/json"),
        ("*/*", "application/json"),
        ("text/markdown", "text/markdown"),
        ("TEXT/Markdown; charset=utf-8", "text/markdown"),
        ("text/*", "text/markdown"),
        ("text/*;q=0.5, application/json;q=0.4", "text/markdown"),
        ("application/json;q=0.1, text/markdown;q=0.2", "text/markdown"),
        ("*/*;q=1, application/json;q=0", "text/markdown"),
        ("application/json;q=nonsense, text/markdown;q=0.001", "text/markdown"),
    ],
)
def test_the_best_liked_of_what_there_is_is_chosen(accept: str | None, chosen: str) -> None:
    assert choose(accept, OFFERED) == chosen


@pytest.mark.parametrize("accept", ["image/png", "text/html", "*/*;q=0", "application/json;q=0", ";;;", "a/b,c/d"])
def test_what_likes_none_of_it_is_refused(accept: str) -> None:
    with pytest.raises(NotAcceptable):
        choose(accept, OFFERED)


@settings(max_examples=100)
@given(st.text(max_size=60))
def test_no_header_breaks_the_choice(accept: str) -> None:
    try:
        assert choose(accept, OFFERED) in OFFERED
    except NotAcceptable:
        return
