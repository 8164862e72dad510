"""Markdown as prose: what is read, what is left out, and that nothing makes it slow."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.providers.local.markdown import Block, blocks, plain
from carrel.providers.local.text import read, read_all

GUIDE = """---
title: Front matter
---
# Setting *up*

<!-- a comment
over two lines -->
First paragraph
on two lines.

- [Contents](#contents)
- [ ] one task, with [a link](https://example.org/a_(b))
  that goes on
* two

    code by indent after a list is the item's

## Under a hash ##

| a | b |
|---|---|
| 1 | 2 |

```python
code = "left out"
```

> A quotation with `a*b_c` and <b>tags</b> &amp; [![badge](x.svg)](y) [^1].

[ref]: https://example.org

Setext
------

    indented code

***

1. numbered \\*star\\*
"""


def test_headings_and_prose_come_in_order_without_markup_code_and_tables() -> None:
    assert list(blocks(GUIDE)) == [
        Block(1, "Setting up"),
        Block(0, "First paragraph on two lines."),
        Block(0, "one task, with a link that goes on"),
        Block(0, "two"),
        Block(0, "code by indent after a list is the item's"),
        Block(2, "Under a hash"),
        Block(0, "A quotation with a*b_c and tags & ."),
        Block(2, "Setext"),
        Block(0, "numbered star"),
    ]


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("_one_ __two__ snake_case _", "one two snake_case "),
        ("[text][ref] and [text][] and [text]", "text and text and text"),
        ("![image](a.png) stays out", "stays out"),
        ("`npm install <name>` keeps its name", "npm install <name> keeps its name"),
        ("an unclosed [bracket and `tick", "an unclosed [bracket and tick"),
    ],
)
def test_inline_marks_go_and_their_text_stays(markdown: str, text: str) -> None:
    assert plain(markdown) == text.strip()


def test_an_unclosed_fence_and_an_unclosed_comment_lose_only_what_they_must() -> None:
    assert list(blocks("before\n```\nnever closed")) == [Block(0, "before")]
    assert list(blocks("a <!-- b")) == [Block(0, "a b")]
    assert list(blocks("---\nno front matter follows")) == [Block(0, "no front matter follows")]


@given(st.text(max_size=400))
@settings(max_examples=150, deadline=None)
def test_any_text_can_be_read(text: str) -> None:
    assert all(block.text == " ".join(block.text.split()) != "" for block in blocks(text))


NASTY_MARKS = "[ ![ ]( [a]( [a](b [^ ( () [a](x)( * _ _a ` < <a <!-- --> & \\ .) e.g. A. # | ~~~ a a- 字 。"
NASTY_LINES = ["` ", ". ", "...a ", "e.g. ", "# ", "> ", "- ", "-\n", "1. ", " | ", "~~~\n", "\n", " ", "\t", "a "]


@pytest.mark.parametrize("piece", NASTY_MARKS.split() + NASTY_LINES)
def test_the_time_to_read_grows_with_the_text_and_no_faster(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    before = time.process_time()
    for document in (text, text + "a", "a" + text + "\n"):
        read(document)
        read_all(document)
    assert time.process_time() - before < 8  # the square of 60,000 would take longer
