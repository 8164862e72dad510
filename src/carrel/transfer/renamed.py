"""Configurations and unfinished set-ups whose contents have got new ids."""

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from msgspec.structs import replace

from carrel.presets.configuration import Candidate, Configuration, Output
from carrel.vault.ids import ContentId, DataSetId

NewIdOf = Callable[[ContentId], ContentId]

C = TypeVar("C", bound=Configuration)

_ID = re.compile(rb'(?<=[^\\]")([0-9a-f-]{36})(?=")')
"""What stands between the quotes of a text that is nothing but an id."""
_NO_ID = re.compile(rb'[^0-9a-f"-]')
"""What cannot be a part of it."""
PIECE_BYTES: Final = 16 * 1024


def renamed(configuration: C, new: NewIdOf, new_data_set: Callable[[DataSetId], DataSetId] = lambda old: old) -> C:
    """The configuration with new ids.

    Connections to GitHub are not imported, so such an output becomes `none`. Of data sets only the newest versions are,
    so rows are taken from those.
    """
    generation, scoring = configuration.generation, configuration.scoring
    comparison, combination = configuration.comparison, configuration.combination
    groups = configuration.groups
    return replace(
        configuration,
        inputs=[new(one) for one in configuration.inputs],
        rows=configuration.rows
        and replace(configuration.rows, data_set=new_data_set(configuration.rows.data_set), version=None),
        references=_by_input(configuration.references, new),
        instructions=_maybe(configuration.instructions, new),
        generation=replace(generation, candidates=_candidates(generation.candidates, new)),
        scoring=scoring
        and replace(scoring, criteria=new(scoring.criteria), instructions=_maybe(scoring.instructions, new)),
        comparison=comparison and replace(comparison, instructions=_maybe(comparison.instructions, new)),
        combination=combination
        and replace(
            combination,
            instructions=_maybe(combination.instructions, new),
            candidates=_candidates(combination.candidates, new),
        ),
        groups=groups and replace(groups, of={new(one): group for one, group in groups.of.items()}),
        output=Output() if configuration.output.destination == "github" else configuration.output,
    )


def renamed_json(line: bytes, new_ids: Mapping[bytes, bytes], take_turn: Callable[[], None]) -> bytes:
    """JSON in which every text that is nothing but an old id is the new one, wherever it stands.

    It is done in pieces of 16 kB, with turns for others between them.
    """
    done = []
    start = 0
    while start < len(line):
        take_turn()
        cut = _NO_ID.search(line, start + PIECE_BYTES)
        end = cut.start() if cut else len(line)
        parts = _ID.split(line[start:end])
        # As above, without a step of the interpreter for each.
        old_ids = parts[1::2]
        parts[1::2] = map(new_ids.get, old_ids, old_ids)
        done.append(b"".join(parts))
        start = end
    return b"".join(done)


def _candidates(candidates: list[Candidate], new: NewIdOf) -> list[Candidate]:
    return [
        replace(one, instructions=_maybe(one.instructions, new), existing=_by_input(one.existing, new))
        for one in candidates
    ]


def _by_input(held: dict[ContentId, ContentId], new: NewIdOf) -> dict[ContentId, ContentId]:
    # Without a step of the interpreter for each of up to 20,000 answers, which would keep everybody waiting.
    return dict(zip(map(new, held), map(new, held.values()), strict=True))


def _maybe(content_id: ContentId | None, new: NewIdOf) -> ContentId | None:
    return None if content_id is None else new(content_id)
