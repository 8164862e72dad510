"""The events of a run, as its stream tells them."""

from typing import Literal

import msgspec

from carrel_sdk.event_stream import ServerEvent
from carrel_sdk.models import LogEntry, RunSummary


class AnswerPart(msgspec.Struct, frozen=True):
    """A part of an answer while a model writes it: its beginning, or what follows the part before, or a gap."""

    task_key: str
    candidate: str
    document: str
    after: Literal["nothing", "text", "gap"]
    text: str


class RunEvent(msgspec.Struct, frozen=True):
    """An event: a row of the log (`kind` is its event), or the run as it is now (`progress`, and at last `end`).

    `id` is what to go on after. An event of the kind `text` is a `part` of an answer, if texts were asked for.
    """

    id: str
    kind: str
    entry: LogEntry | None = None
    run: RunSummary | None = None
    part: AnswerPart | None = None


def ends(event: ServerEvent) -> bool:
    """Whether no further event comes."""
    return event.kind == "end"


def run_event(event: ServerEvent) -> RunEvent:
    """The event with its data as structs."""
    try:
        if event.kind in ("progress", "end"):
            return RunEvent(event.id, event.kind, run=msgspec.json.decode(event.data, type=RunSummary))
        if event.kind == "text":
            return RunEvent(event.id, event.kind, part=msgspec.json.decode(event.data, type=AnswerPart))
        return RunEvent(event.id, event.kind, entry=msgspec.json.decode(event.data, type=LogEntry))
    except msgspec.DecodeError:
        # A kind that a newer service knows: that it came is all that can be told.
        return RunEvent(event.id, event.kind)
