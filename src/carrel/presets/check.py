"""Whether what a configuration names is there and fits: contents, models, judges that can judge by the criteria."""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from carrel.errors import BadInput, FieldError
from carrel.kit.http.validation import join
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.json_text import as_json
from carrel.models import listing
from carrel.presets import rules
from carrel.presets.configuration import Configuration, Judge, contents_of
from carrel.providers.base import Criterion, Role
from carrel.providers.local import can_combine, supported_criterion
from carrel.providers.prices import is_priced
from carrel.providers.registry import Registry, is_built_in, name_of
from carrel.vault.ids import ContentId

_criteria = msgspec.json.Decoder(tuple[Criterion, ...])


class CriterionNotSupported(BadInput):
    """A built-in judge measures nothing of what a criterion names."""

    code = "criterion-not-supported"
    detail = "A judge cannot judge by one of the criteria; see errors."


class BudgetUnpriced(BadInput):
    """Nobody knows what a model costs, so a budget could not be kept."""

    code = "budget-unpriced"
    detail = "A budget needs models whose prices are known; see errors."


def checked(conn: Connection, configuration: Configuration, registry: Registry, root: str = "") -> Configuration:
    """The configuration as it is kept, every candidate with a label. `root` goes before every path that is named.

    Raises:
        BadInput: a rule is broken, or a content or model is not there or does not fit.
        CriterionNotSupported, BudgetUnpriced: nothing else is wrong.
    """
    _refuse(BadInput, rules.faults(configuration), root)
    missing = (*_content_faults(conn, configuration), *_connection_faults(conn, configuration))
    _refuse(BadInput, (*missing, *_model_faults(configuration, registry)), root)
    _refuse(CriterionNotSupported, _criteria_faults(conn, configuration), root)
    _refuse(BudgetUnpriced, _budget_faults(configuration), root)
    return _labelled(configuration)


def _refuse(kind: type[BadInput], faults: Iterable[FieldError], root: str) -> None:
    found = tuple(FieldError(join(root, path), message) for path, message in faults)
    if found:
        raise kind(errors=found)


def _labelled(configuration: Configuration) -> Configuration:
    generation = configuration.generation
    labels = rules.named(generation.candidates)
    candidates = [
        replace(candidate, label=label) for candidate, label in zip(generation.candidates, labels, strict=True)
    ]
    combination = configuration.combination
    if combination is not None:
        combination = replace(
            combination,
            candidates=[
                replace(candidate, label=label)
                for candidate, label in zip(
                    combination.candidates, rules.named_combined(combination.candidates), strict=True
                )
            ],
        )
    return replace(configuration, generation=replace(generation, candidates=candidates), combination=combination)


def _content_faults(conn: Connection, configuration: Configuration) -> Iterator[FieldError]:
    held = list(contents_of(configuration))
    types = _types(conn, {content.id for content in held})
    for content in held:
        found = types.get(content.id)
        if found is None:
            yield FieldError(content.path, "is not the id of a content")
        elif found not in content.types:
            yield FieldError(content.path, f"must be a content of type {' or '.join(content.types)}")


def _connection_faults(conn: Connection, configuration: Configuration) -> Iterator[FieldError]:
    wanted = configuration.output.connection
    if wanted is not None and conn.one("SELECT 1 FROM github_connections WHERE id = ?", wanted) is None:
        yield FieldError("output.connection", "is not the id of a connection to GitHub")


def _types(conn: Connection, ids: set[ContentId]) -> dict[ContentId, str]:
    sql = "SELECT id, type FROM contents WHERE id IN (SELECT value FROM json_each(?))"
    return dict(conn.all(sql, as_json(sorted(ids))))


def _models(configuration: Configuration) -> Iterator[tuple[str, str, Role]]:
    """Every model that is named: where, which, and what for."""
    for index, candidate in enumerate(configuration.generation.candidates):
        if candidate.model is not None:
            yield f"generation.candidates[{index}].model", candidate.model, "generate"
    for path, model in _combining(configuration):
        yield path, model, "generate"
    for path, judge in _judges(configuration):
        yield f"{path}.model", judge.model, "judge"


def _combining(configuration: Configuration) -> Iterator[tuple[str, str]]:
    """Every model that combines, and where it is named."""
    if configuration.combination is not None:
        for index, candidate in enumerate(configuration.combination.candidates):
            if candidate.model is not None:
                yield f"combination.candidates[{index}].model", candidate.model


def _judges(configuration: Configuration) -> Iterator[tuple[str, Judge]]:
    for phase, judging in (("scoring", configuration.scoring), ("comparison", configuration.comparison)):
        if judging is not None:
            yield from ((f"{phase}.judges[{index}]", judge) for index, judge in enumerate(judging.judges))


def _model_faults(configuration: Configuration, registry: Registry) -> Iterator[FieldError]:
    for path, model, role in _models(configuration):
        message = listing.fault(registry, model, role)
        if message is not None:
            yield FieldError(path, message)
    for path, model in _combining(configuration):
        name = name_of(model)
        if is_built_in(model) and listing.fault(registry, model, "generate") is None and not can_combine(name):
            yield FieldError(path, "cannot combine answers: it quotes by where a sentence stands, not by what it says")


def _criteria_faults(conn: Connection, configuration: Configuration) -> Iterator[FieldError]:
    """Comparing judges look at the criteria of the scoring too."""
    if configuration.scoring is None:
        return
    row = conn.one("SELECT criteria FROM contents WHERE id = ?", configuration.scoring.criteria)
    criteria = _criteria.decode(row[0]) if row is not None else ()
    for path, judge in _judges(configuration):
        if is_built_in(judge.model):
            for number, criterion in enumerate(criteria, start=1):
                if not supported_criterion(name_of(judge.model), criterion):
                    yield FieldError(path, f"cannot judge by criterion number {number}")


def _budget_faults(configuration: Configuration) -> Iterator[FieldError]:
    if configuration.limits.budget is None:
        return
    for path, model, _ in _models(configuration):
        if not is_priced(model):
            yield FieldError(path, "has no known price, so a budget cannot be kept")
