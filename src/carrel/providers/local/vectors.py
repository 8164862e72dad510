"""Sentences as vectors of tf·isf, and how alike any two of them are."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

PAIRED_SENTENCES = 400
"""How many sentences are compared in pairs, because the work grows with the square. Of more, an even spread is
taken."""
_DECIMALS = 9
"""Every compared number is rounded to this, so that the last bits of another processor change no answer."""


def paired(indices: Sequence[int]) -> list[int]:
    """Which of `indices` take part in pairwise work: all, or 400 of them evenly spread."""
    count = min(len(indices), PAIRED_SENTENCES)
    return [indices[at * len(indices) // count] for at in range(count)]


def unit_vectors(of_stems: Sequence[Sequence[str]], weights: Mapping[str, float]) -> Matrix:
    """One row for each run of stems: term frequency × `weights` (0 for an unknown stem), scaled to length 1 or 0.

    The idf-modified cosine of Erkan & Radev (2004), "LexRank", is the product of two such rows; the
    frequencies here are of sentences.
    """
    columns: dict[str, int] = {}
    for stems in of_stems:
        for stem in stems:
            if stem in weights:
                columns.setdefault(stem, len(columns))
    matrix = np.zeros((len(of_stems), max(1, len(columns))))
    for row, stems in enumerate(of_stems):
        for stem, times in Counter(stems).items():
            if stem in columns:
                matrix[row, columns[stem]] = times * weights[stem]
    lengths = np.sqrt((matrix * matrix).sum(axis=1, keepdims=True))
    scaled: Matrix = np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0)
    return scaled


def similarities(rows: Matrix, others: Matrix) -> Matrix:
    """Cosines of every unit row with every other unit row."""
    cosines: Matrix = rows @ others.T
    return settled(cosines)


def settled(values: Matrix) -> Matrix:
    """Round `values` to the digits that are equal on all machines."""
    rounded: Matrix = np.round(values, _DECIMALS)
    return rounded


def best_first(scores: Vector) -> list[int]:
    """Indices by falling score; equals in document order."""
    order: list[int] = np.argsort(-settled(scores), kind="stable").tolist()
    return order
