"""The structs of the part of a report that sets a run against another one."""

from typing import Literal

import msgspec

from carrel.evaluation.ranking.differences import PairedDifference
from carrel.evaluation.statistics.rates import PassRate
from carrel.kit.money import DollarsText
from carrel.runs.model.setup import RunId

Scale = Literal["checks", "score", "win_share"]


class OtherRun(msgspec.Struct, frozen=True):
    """The facts of the other run."""

    id: RunId
    name: str


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate in one of two runs. `passes` is how often it passes every required check, or their mean."""

    place: int | None
    win_share: float | None
    low: float | None
    high: float | None
    score: float | None
    cost_per_answer: DollarsText | None
    passes: PassRate | None = None
    median_ms: int | None = None


class AgainstRow(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate, known by its label, in this run and in the other; `None` if it did not take part in one.

    `score`, `win_share` and `checks` are paired differences, `None` without a document on which both have the figure.
    """

    candidate: str
    here: Standing | None
    there: Standing | None
    score: PairedDifference | None = None
    win_share: PairedDifference | None = None
    checks: PairedDifference | None = None


class AgainstCell(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate's figure on one document in both runs; the difference is here minus there."""

    candidate: str
    here: float | None
    there: float | None
    difference: float | None


class AgainstDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document that both runs have: its number in each, its name here, and the candidates of both runs."""

    here: str
    there: str
    name: str
    cells: tuple[AgainstCell, ...]


class OnlyIn(msgspec.Struct, frozen=True):
    """What only one of the two runs has."""

    here: tuple[str, ...]
    there: tuple[str, ...]


class PromptChange(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates with other instructions: numbers in the lists of this run's configuration and of the other's.

    `None` if the candidates have no instructions there.
    """

    candidates: tuple[str, ...]
    here: int | None
    there: int | None


class ModelChange(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate with another model, or at another host; `None` where all its answers existed before."""

    candidate: str
    here: str | None
    there: str | None


class QuestionChange(msgspec.Struct, frozen=True, kw_only=True):
    """Another question to the judges; `None` is the default one, or one that the report has no room for."""

    kind: Literal["score", "compare"]
    here: str | None
    there: str | None


class AgainstChanges(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between the two runs.

    `parameters` are candidates of both runs with other parameters or another schema. `judges` are models of judges, and
    `changed_judges` those in both runs with another weight, other repeats or parameters. `changed_criteria` are in both
    runs with another meaning, weight or scale.
    """

    instructions: tuple[PromptChange, ...]
    models: tuple[ModelChange, ...]
    parameters: tuple[str, ...]
    candidates: OnlyIn
    judges: OnlyIn
    changed_judges: tuple[str, ...]
    questions: tuple[QuestionChange, ...]
    criteria: OnlyIn
    changed_criteria: tuple[str, ...]
    documents_only_here: int
    documents_only_there: int


class Against(msgspec.Struct, frozen=True, kw_only=True):
    """This run beside another one. Win shares depend on who takes part; `notes` say what else differs.

    `instructions` are those of the other run's candidates, each once; `None` if the report has no room for a text.
    `by_document` are the shared documents, those on which a candidate lost most first, and `scale` is that of their
    figures, `None` if there are none; `more_documents` are left out. `no_win_share` says why win shares are not paired.
    """

    run: OtherRun
    finished: bool
    verdict: str
    documents: int
    shared_documents: int
    notes: tuple[str, ...]
    rows: tuple[AgainstRow, ...]
    changes: AgainstChanges
    instructions: tuple[str | None, ...]
    scale: Scale | None
    by_document: tuple[AgainstDocument, ...]
    more_documents: int
    no_win_share: str | None
