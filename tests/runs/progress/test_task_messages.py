"""What a task that failed says of its reason."""

import re
from pathlib import Path

from carrel.runs.progress.task_list import message_of

GUIDE = Path(__file__).parents[3] / "docs" / "user-guide" / "models.md"


def test_every_code_of_the_user_guide_has_words_of_its_own() -> None:
    table = GUIDE.read_text(encoding="utf-8").partition("A failed task says why:")[2].partition("\nAfter ")[0]
    codes = [code for line in table.splitlines()[3:] for code in re.findall(r"`([a-z-]+-[a-z-]+)`", line.split("|")[1])]
    assert len(codes) == 23
    assert [code for code in codes if message_of(code) == message_of("something else")] == []


def test_a_model_that_never_was_is_not_said_to_be_gone() -> None:
    assert message_of("model-unknown").startswith("There is no model of this name")
