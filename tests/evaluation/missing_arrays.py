"""`ranking.missing` over arrays: what missing verdicts could have changed, for thousands of tournaments at once."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from carrel.evaluation.ranking.missing import CLEARLY, MARGIN, uneven

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_LEVEL = 1e-9


class Heard(NamedTuple):
    """Which part of what was to be said about a pair was said, by so many `judges`; like `met` elsewhere."""

    part: Array
    judges: int


def heard(said: Array, candidates: int) -> Heard:
    """From what each judge said, by tournament, judge, document and pair, NaN where nothing came back."""
    first, second = np.triu_indices(candidates, 1)
    part = np.zeros((said.shape[0], said.shape[2], candidates, candidates))
    part[:, :, first, second] = part[:, :, second, first] = (~np.isnan(said)).mean(axis=1)
    return Heard(part, said.shape[1])


def gone(met: Array, asked: Flags, said: Heard | None) -> Array:
    """Which part of what was asked about each pair never came back."""
    return np.where(asked, 1.0 - ((met > 0) if said is None else said.part), 0.0)


def mixed(met: Array, won: Array, missing: Array, said: Heard | None, end: float) -> Array:
    """What was heard, with so much of what is missing as if it had come out at this end."""
    heard = met if said is None else said.part
    known = won / np.maximum(met, 1.0)
    return np.where(missing > 0, (heard * known + missing * end) / np.maximum(heard + missing, _LEVEL), known)


def everybody(met: Array) -> Flags:
    """Everybody was to meet everybody."""
    return np.broadcast_to(~np.eye(met.shape[2], dtype=bool), met.shape)


def reaches(
    met: Array,
    won: Array,
    asked: Flags,
    said: Heard | None = None,
    by_document: Flags | None = None,
) -> tuple[Array, Array] | None:
    """By how much each win share could be lower, and higher; `None` if nothing is missing.

    `by_document` says where shares are by document, and not by opponent.
    """
    missing = gone(met, asked, said)
    if missing.max() < _LEVEL:
        return None
    part = unexplained(met, asked, said)
    missing *= np.maximum(part[:, None, :, None], part[:, None, None, :])

    def ended(missing: Array, end: float) -> Array:
        terms, values = np.where(met > 0, 1.0, missing), mixed(met, won, missing, said, end)
        on_document = (values * terms).sum(axis=3) / np.maximum(terms.sum(axis=3), _LEVEL)
        # A document on which nothing was said counts as far as it is not explained.
        voices = np.where(met.sum(axis=3) > 0, 1.0, missing.max(axis=3))
        means: Array = (on_document * voices).sum(axis=1) / np.maximum(voices.sum(axis=1), _LEVEL)
        if by_document is None:
            return means
        usual = (values * terms).sum(axis=1) / np.maximum(terms.sum(axis=1), _LEVEL)
        opponents = (terms.sum(axis=1) > _LEVEL).sum(axis=2)
        return np.where(by_document[:, None], means, usual.sum(axis=2) / np.maximum(opponents, 1))

    told = ended(np.zeros_like(missing), 0.0)
    return told - ended(missing, 0.0), ended(missing, 1.0) - told


def unexplained(met: Array, asked: Flags, said: Heard | None) -> Array:
    """By tournament and candidate: which part of its missing comparisons others do not explain."""
    missing, judges = gone(met, asked, said), 1 if said is None else said.judges
    of_ours, ours = asked.sum(axis=(1, 3)) * judges, missing.sum(axis=(1, 3)) * judges
    of_others = asked.sum(axis=(1, 2, 3))[:, None] * judges / 2 - of_ours
    others = missing.sum(axis=(1, 2, 3))[:, None] * judges / 2 - ours
    often, usual = ours / np.maximum(of_ours, 1), others / np.maximum(of_others, 1)
    pooled = (ours + others) / np.maximum(of_ours + of_others, 1)
    error = np.sqrt(
        np.maximum(pooled * (1.0 - pooled), 0.0) * (1.0 / np.maximum(of_ours, 1) + 1.0 / np.maximum(of_others, 1))
    )
    chance = np.where(often - usual > CLEARLY * error, 0.0, MARGIN * error)
    pairs, of = missing.sum(axis=1) * judges, asked.sum(axis=1) * judges
    rates = np.where(of > 0, pairs / np.maximum(of, 1), np.nan)
    for place in range(len(met)):
        there = ~np.isnan(rates[place])
        if uneven(rates[place][there], of[place][there]):
            usual[place], chance[place] = usual[place][of_others[place] > 0].min(), 0.0
    share = np.clip((often - usual - chance) / np.maximum(often, _LEVEL), 0.0, 1.0)
    return np.where(of_others > 0, share, 1.0)
