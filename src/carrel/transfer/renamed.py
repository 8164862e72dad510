"""Configurations and unfinished set-ups whose contents have got new ids."""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from msgspec.structs import replace

from carrel.presets.configuration import Candidate, Configuration, Output
from carrel.vault.ids import ContentId, DataSetId

NewIdOf = Callable[[ContentId], ContentId]

C = TypeVar("C", bound=Configuration)

_ID = re.compile(rb'"([0-9a-f-]{36})(?=")')
"""What stands behind the quote that begins a text that is nothing but an id, or behind one within a text."""


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


def renamed_json(line: bytes, new_ids: Mapping[bytes, bytes]) -> bytes:
    """JSON in which every text that is nothing but an old id is the new one, wherever it stands."""

    def new(found: re.Match[bytes]) -> bytes:
        is_within_a_text = line[found.start() - 1 : found.start()] == b"\\"
        return found[0] if is_within_a_text else b'"' + new_ids.get(found[1], found[1])

    return _ID.sub(new, line)


def _candidates(candidates: list[Candidate], new: NewIdOf) -> list[Candidate]:
    return [
        replace(one, instructions=_maybe(one.instructions, new), existing=_by_input(one.existing, new))
        for one in candidates
    ]


def _by_input(held: dict[ContentId, ContentId], new: NewIdOf) -> dict[ContentId, ContentId]:
    return {new(one): new(answer) for one, answer in held.items()}


def _maybe(content_id: ContentId | None, new: NewIdOf) -> ContentId | None:
    return None if content_id is None else new(content_id)
