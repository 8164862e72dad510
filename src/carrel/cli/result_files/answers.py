"""What a file of finished answers comes to, and how values of JSON become texts. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

_SHOWN_CHARACTERS: Final = 60


class Unreadable(Exception):
    """A file is not what it was taken for. The message says where, for people."""


@dataclass(frozen=True, kw_only=True)
class AnswerTable:
    """One row for each question, as texts by column. Every row has the same columns, in the same order.

    `inputs` are the columns with what was asked, `candidates` those with the answers; `None` is no answer.
    """

    rows: list[dict[str, str | None]]
    id: str | None = None
    inputs: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    expected: str | None = None
    group: str | None = None

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return list(self.rows[0])

    def only(self, candidates: Sequence[str]) -> "AnswerTable":
        """The same without the other candidates.

        Raises:
            Unreadable: one of them is not there.
        """
        missing = next((name for name in candidates if name not in self.columns), None)
        if missing is not None:
            raise Unreadable(f"no candidate is called {missing}; there are {'; '.join(self.candidates)}")
        left_out = set(self.candidates) - set(candidates)
        rows = [{name: cell for name, cell in row.items() if name not in left_out} for row in self.rows]
        return replace(self, rows=rows, candidates=tuple(candidates))

    def as_json_lines(self) -> bytes:
        """The rows as a JSONL file."""
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.rows).encode("utf-8", "replace")


def get(value: Any, *path: str | int) -> Any:
    """What is at a path in decoded JSON; `None` if there is nothing."""
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and len(value) > step:
            value = value[step]
        else:
            return None
    return value


def text_of(value: Any) -> str | None:
    """A value as a judge should read it: the text of messages and of their parts, and JSON for what is no text."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, dict) and "role" in value and "content" in value:
        return text_of(value["content"])
    if isinstance(value, dict) and list(value) == ["messages"]:
        return text_of(value["messages"])
    if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        if all("role" in part and "content" in part for part in value):
            return _conversation(value)
        if all("type" in part for part in value):
            texts = [part["text"] for part in value if isinstance(part.get("text"), str)]
            return "\n".join(texts) or None
    return json.dumps(value, ensure_ascii=False)


def _conversation(messages: Sequence[Mapping[str, Any]]) -> str | None:
    if len(messages) == 1:
        return text_of(messages[0]["content"])
    return "\n\n".join(f"{message['role']}: {text_of(message['content']) or ''}" for message in messages)


def shown(text: str) -> str:
    """A text in a message, cut if it is long."""
    return repr(text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…")


def free_name(name: str, taken: Sequence[str]) -> str:
    """A column's name that nobody has taken."""
    while name in taken:
        name = f"{name}_"
    return name
