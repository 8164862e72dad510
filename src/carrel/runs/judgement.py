"""From what the judges of a round said to its ranking and verdict. Pure, and fit for the worker process."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from carrel.evaluation import ranking, verdict
from carrel.evaluation.ranking import Ranking
from carrel.evaluation.records import Score, Verdict
from carrel.providers.base import Criterion


class Evidence(msgspec.Struct, frozen=True):
    """The input of every statistic about one round. Candidates are their labels, documents `d1`, `d2`, …"""

    candidates: tuple[str, ...]
    verdicts: list[Verdict]
    scores: list[Score]
    criteria: tuple[Criterion, ...]
    comparison_weights: dict[str, float]
    scoring_weights: dict[str, float]


class Ending(NamedTuple):
    """How a round ends: its ranking as JSON, the verdict in words, and whether there was anything to rank."""

    ranking: bytes
    verdict: str
    ranked: bool


def rank(evidence: Evidence, weights: Mapping[str, float] | None = None) -> Ranking:
    """The ranking; with other `weights` than the run's it is exploratory."""
    return ranking.rank(
        evidence.candidates,
        evidence.verdicts,
        scored=evidence.scores,
        criteria=evidence.criteria,
        weights=evidence.comparison_weights | dict(weights or {}),
        score_weights=evidence.scoring_weights | dict(weights or {}),
        exploratory=weights is not None,
    )


def conclude(evidence: Evidence) -> Ending:
    """The ranking of a round that is over, in figures and in words."""
    found = rank(evidence)
    ranked = bool(found.groups) or any(row.score is not None for row in found.rows)
    return Ending(msgspec.json.encode(found), verdict.state(found).text, ranked)
