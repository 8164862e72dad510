"""Narrows a configuration: to other inputs, or to a trial of its candidates on one input."""

from msgspec.structs import replace

from carrel.kit.sqlite.database import Connection
from carrel.presets import rows
from carrel.presets.configuration import Configuration, Output
from carrel.vault.ids import ContentId


def with_inputs(configuration: Configuration, inputs: list[ContentId]) -> Configuration:
    """Replace the inputs of the configuration, and drop what it says of inputs that are gone."""
    candidates = [
        replace(candidate, existing={i: c for i, c in candidate.existing.items() if i in inputs})
        for candidate in configuration.generation.candidates
    ]
    groups = configuration.groups
    if groups is not None:
        groups = replace(groups, of={i: group for i, group in groups.of.items() if i in inputs})
    return replace(
        configuration,
        inputs=inputs,
        rows=None,
        groups=groups,
        references={i: c for i, c in configuration.references.items() if i in inputs},
        generation=replace(configuration.generation, candidates=candidates),
    )


def to_trial(conn: Connection, configuration: Configuration) -> Configuration:
    """Take the first input alone, or the first row, and one answer of each candidate, without judges and destinations.

    A trial asks exactly what the whole run asks first, so that a run with `reuse` takes its answers, as a trial takes
    those of earlier trials. Nothing goes in batches, because somebody waits for the answers.
    """
    if configuration.rows is None:
        configuration = with_inputs(configuration, configuration.inputs[:1])
    elif (first := rows.first(conn, configuration)) is not None:
        configuration = replace(configuration, rows=replace(configuration.rows, row=first))
    return replace(
        configuration,
        groups=None,
        generation=replace(configuration.generation, repeats=1),
        scoring=None,
        comparison=None,
        combination=None,
        economy=False,
        reuse=True,
        output=Output(),
    )
