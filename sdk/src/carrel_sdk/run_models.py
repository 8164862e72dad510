"""What the service tells about runs. Fields that a newer service adds are ignored."""

from typing import Literal, TypeAlias

import msgspec

from carrel_sdk.configuration import Configuration

RunState: TypeAlias = Literal[
    "pending", "running", "paused", "completed", "completed_with_errors", "failed", "cancelled"
]
ENDED: frozenset[RunState] = frozenset({"completed", "completed_with_errors", "failed", "cancelled"})
"""The states that a run leaves only by a new round."""


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How many tasks of the round stand where; `percent` of `total` is done."""

    total: int
    pending: int = 0
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    skipped: int = 0
    cancelled: int = 0
    percent: float = 0
    eta_seconds: float | None = None


class Spend(msgspec.Struct, frozen=True, kw_only=True):
    """What the run's calls cost, in credits as a decimal string, and of how many calls nobody knows."""

    cost: str
    unknown_calls: int = 0


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a list."""

    id: str
    name: str
    state: RunState
    created_at: str
    progress: Progress | None = None
    preset_id: str | None = None
    pause_reason: str | None = None
    phase: str | None = None
    round: int = 1
    verdict: str | None = None
    spend: Spend | None = None
    started_at: str | None = None
    finished_at: str | None = None
    pinned: bool = False
    tags: list[str] = msgspec.field(default_factory=list)


class Run(msgspec.Struct, kw_only=True):
    """A run: where it stands, what it has spent, and the configuration that was snapshotted."""

    id: str
    name: str
    state: RunState
    created_at: str
    progress: Progress
    spend: Spend
    configuration: Configuration | None = None
    preset_id: str | None = None
    pause_reason: str | None = None
    phase: str | None = None
    round: int = 1
    verdict: str | None = None
    started_at: str | None = None
    finished_at: str | None = None
    pinned: bool = False
    tags: list[str] = msgspec.field(default_factory=list)
    quiesced: bool | None = None
    etag: str = ""

    @property
    def ended(self) -> bool:
        """Nothing more happens to it, unless somebody asks for a new round."""
        return self.state in ENDED


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What a run would take: calls, likely and worst cost as decimal strings."""

    calls: int
