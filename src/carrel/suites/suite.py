"""What a promptfoo configuration comes to: prompts, candidates, rows, checks, and what is left out. Pure."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from carrel.checks.definition import Check
from carrel.datasets.schemas import Role
from carrel.presets.configuration import MAX_DROPPED_KINDS, DroppedPart
from carrel.providers.base import Criterion, Parameters

_KIND_CHARACTERS = 100


class SuitePrompt(NamedTuple):
    """A prompt with its label."""

    label: str
    text: str


class SuiteProvider(NamedTuple):
    """A provider with its label. `model` is `None` if Carrel cannot call it."""

    label: str
    model: str | None
    parameters: Parameters


@dataclass
class Drops:
    """What is left out of a suite, counted by its kind."""

    counts: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, count: int = 1) -> None:
        """Count something."""
        if count:
            self.counts[" ".join(kind.split())[:_KIND_CHARACTERS]] += count

    def listed(self) -> list[DroppedPart]:
        """The kinds, those with most first."""
        most = self.counts.most_common()
        rest = sum(count for _, count in most[MAX_DROPPED_KINDS - 1 :])
        found = [DroppedPart(kind=kind, count=count) for kind, count in most[: MAX_DROPPED_KINDS - 1]]
        return [*found, DroppedPart(kind="others", count=rest)] if rest else found


@dataclass(frozen=True)
class Suite:
    """A configuration as Carrel takes it. Every row has all columns; the `roles` are those of the columns."""

    description: str
    prompts: list[SuitePrompt]
    providers: list[SuiteProvider]
    rows: list[dict[str, str | None]]
    roles: dict[str, Role]
    checks: list[Check]
    patterns: list[str]
    """The columns with patterns that its author wrote, which may be none in RE2."""
    criteria: list[Criterion]
    """What judges are asked, in place of a model that grades."""
    grader: str | None
    """The model that grades, if Carrel can call it."""
    dropped: Drops
