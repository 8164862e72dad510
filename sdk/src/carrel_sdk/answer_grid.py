"""The answers of a run as a grid of documents and candidates. Fields that a newer service adds are ignored."""

import msgspec


class CandidateFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate's figures between 0 and 1, one for each document in order; a list is empty if it would hold none.

    `checks` is the mean of an answer's marks. The other lists have numbers of documents, counted from 1.
    """

    candidate: str
    win_share: list[float | None]
    score: list[float | None]
    checks: list[float | None]
    awaited: list[int]
    failed: list[int]
    cut_off: list[int]
    flipped: list[int]


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of every answer. `flips` counts those on each document, and is empty if there are none.

    `disagreements` are the documents on which two judges name opposite winners of the same answers.
    """

    documents: int
    candidates: list[CandidateFigures]
    flips: list[int]
    disagreements: list[int]


class AnswerBeginnings(msgspec.Struct, frozen=True):
    """A document and the beginnings of its answers, in the order of the run's candidates; `None` without an answer."""

    document: int
    name: str
    answers: list[str | None]


class Beginnings(msgspec.Struct, frozen=True):
    """The rows that were asked for. `found` are all documents that hold the words, if words were given."""

    rows: list[AnswerBeginnings]
    found: list[int] | None
