"""Which words of a verdict follow from which figures, found by trying: without a figure, do the words stay?"""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from carrel.evaluation.judges.human import HumanCheck
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.verdict import Statement

State = Callable[[Ranking, HumanCheck | None], Statement]

HUMAN: Final = "human"
CANDIDATES: Final = "candidates"
_BLANKS: Final[tuple[tuple[type, object], ...]] = ((tuple, ()), (bool, False), (int, 0))


class Ground(msgspec.Struct, frozen=True):
    """Words, and the fields of the ranking from which they follow.

    `human` are the person's votes, `candidates` what answered for each candidate.
    """

    words: str
    follow_from: tuple[str, ...]


def grounds(ranking: Ranking, human: HumanCheck | None, state: State, without_candidates: State) -> tuple[Ground, ...]:
    """The sentence, the scope and each note, with every figure that changes or removes them when it is taken away."""
    said = _parts(state(ranking, human))
    stays: dict[str, Sequence[str]] = {}
    for name in ranking.__struct_fields__:
        try:
            stays[name] = _parts(state(replace(ranking, **{name: _blank(getattr(ranking, name))}), human))
        except (AttributeError, IndexError, TypeError, ValueError):
            # Without this figure no sentence can be made; of the other words this tells nothing.
            stays[name] = said[1:]
    if human is not None:
        stays[HUMAN] = _parts(state(ranking, None))
    stays[CANDIDATES] = _parts(without_candidates(ranking, human))
    return tuple(Ground(words, tuple(name for name, left in stays.items() if words not in left)) for words in said)


def _blank(value: object) -> object:
    """What says nothing, of the same type where it is not `None`."""
    return next((blank for kind, blank in _BLANKS if isinstance(value, kind)), None)


def _parts(statement: Statement) -> tuple[str, ...]:
    return (statement.sentence, statement.scope, *statement.notes)
