"""Checks what a configuration names: contents and models exist and fit, and judges can judge by the criteria."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from carrel.checks import compiler, definition
from carrel.checks.compiler import SourceText
from carrel.errors import BadInput, FieldError
from carrel.http.requests.validation import join
from carrel.keys import store as keys
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import as_json
from carrel.models import listing
from carrel.presets import rows, rules
from carrel.presets.configuration import Candidate, Configuration, Judge, contents_of, ids_of
from carrel.providers import own_prices
from carrel.providers.base import (
    Criterion,
    GenerateMatter,
    ModelRequest,
    Parameters,
    ParametersNotTaken,
    ProviderError,
    Role,
    ScoreMatter,
)
from carrel.providers.catalogue import KNOWN, SEARCHING, has_batches
from carrel.providers.local import can_combine, supported_criterion
from carrel.providers.own_prices import Billing
from carrel.providers.registry import Registry, is_built_in, name_of, provider_of
from carrel.vault.ids import ContentId

_criteria = msgspec.json.Decoder(tuple[Criterion, ...])


class CriterionNotSupported(BadInput):
    """A built-in judge cannot measure what a criterion names."""

    code = "criterion-not-supported"
    detail = "A judge cannot judge by one of the criteria; see errors."


class BudgetUnpriced(BadInput):
    """A model has no known price, so Carrel could not keep a budget."""

    code = "budget-unpriced"
    detail = "A budget needs models whose prices are known; see errors."


def checked(conn: Connection, configuration: Configuration, registry: Registry, root: str = "") -> Configuration:
    """Check the configuration and return it as it is stored, every candidate with a label and every check with a name.

    `root` goes before every path in an error. What `sources` names was compiled before, or is stored already.

    Raises:
        BadInput: a rule is broken, or a content or model is not there or does not fit.
        CriterionNotSupported, BudgetUnpriced: nothing else is wrong.
    """
    table = rows.table(conn, configuration)
    documents = rows.count(conn, configuration, table)
    refuse(BadInput, rules.faults(configuration, documents), root)
    refuse(BadInput, rows.faults(configuration, table, documents), root)
    missing = (*_content_faults(conn, configuration), *_connection_faults(conn, configuration))
    refuse(BadInput, (*missing, *_model_faults(configuration, registry)), root)
    refuse(BadInput, (*_grounding_faults(configuration), *_schema_faults(configuration)), root)
    refuse(BadInput, _parameter_faults(conn, configuration, registry), root)
    if configuration.economy:
        refuse(BadInput, _economy_faults(configuration), root)
    judges = [(path, judge.model) for path, judge in _judges(configuration)]
    refuse(CriterionNotSupported, criteria_faults(judges, _criteria_of(conn, configuration)), root)
    if configuration.limits.budget is not None:
        refuse(BudgetUnpriced, _search_faults(configuration), root)
        models = ((path, model) for path, model, _ in _models(configuration))
        refuse(BudgetUnpriced, price_faults(conn, configuration.billing, models), root)
    return _labelled(configuration)


def sources(configuration: Configuration, root: str = "") -> list[SourceText]:
    """What a worker has to compile before the configuration may be kept; `root` goes before every path.

    Raises:
        BadInput: a schema is nested too deeply.
    """
    found = [*compiler.of_checks(configuration.checks)]
    for path, candidate in _candidates(configuration):
        if candidate.response_schema is not None:
            found.append(compiler.of_schema(f"{path}.response_schema", candidate.response_schema))
    return [source._replace(path=join(root, source.path)) for source in found]


def refuse(kind: type[BadInput], faults: Iterable[FieldError], root: str = "") -> None:
    """Go on only if there are no faults.

    Raises:
        BadInput: of this kind, with the faults; `root` goes before the path of each.
    """
    found = tuple(FieldError(join(root, path), message) for path, message in faults)
    if found:
        raise kind(errors=found)


def type_fault(found: str | None, allowed: Sequence[str]) -> str | None:
    """Say in constant words why a content of the type `found` does not fit; `None` if it does.

    `found` is `None` if there is no such content.
    """
    if found is None:
        return "is not the id of a content"
    return None if found in allowed else f"must be a content of type {' or '.join(allowed)}"


def role_faults(models: Iterable[tuple[str, str, Role]], registry: Registry) -> Iterator[FieldError]:
    """Find the models that cannot be used in their role. Each model comes with the path where it is named."""
    for path, model, role in models:
        message = listing.fault(registry, model, role)
        if message is not None:
            yield FieldError(path, message)


def criteria_faults(judges: Iterable[tuple[str, str]], criteria: Sequence[Criterion]) -> Iterator[FieldError]:
    """Find the criteria that a built-in judge cannot judge by. Each judge's model comes with its path."""
    for path, model in judges:
        if is_built_in(model):
            for number, criterion in enumerate(criteria, start=1):
                if not supported_criterion(name_of(model), criterion):
                    yield FieldError(path, f"cannot judge by criterion number {number}")


def may_be_batched(configuration: Configuration) -> bool:
    """Whether the configuration's calls can go in batches."""
    return not any(_economy_faults(configuration))


def _economy_faults(configuration: Configuration) -> Iterator[FieldError]:
    if configuration.billing == "credits":
        yield FieldError("economy", "goes with billing own_keys only")
    models = [(path, model) for path, model, _ in _models(configuration) if not is_built_in(model)]
    if not models:
        yield FieldError("economy", "needs a model of OpenAI or Anthropic: built-in models cost nothing")
    for path, model in models:
        if not has_batches(provider_of(model)):
            yield FieldError(path, "has no batches at its provider; economy goes with models of OpenAI and Anthropic")


def _grounding_faults(configuration: Configuration) -> Iterator[FieldError]:
    for index, candidate in enumerate(configuration.generation.candidates):
        path = f"generation.candidates[{index}].grounding"
        if candidate.grounding == "off":
            continue
        if candidate.model is None or provider_of(candidate.model) not in SEARCHING:
            yield FieldError(path, "goes with models of OpenAI, Anthropic, Google and OpenRouter, which can search")
        if configuration.billing == "credits":
            yield FieldError(path, "goes with billing own_keys only: the fee of a search is in no price list")
    for index, candidate in enumerate(configuration.combination.candidates if configuration.combination else ()):
        if candidate.grounding != "off":
            yield FieldError(f"combination.candidates[{index}].grounding", "must be off: answers are combined")


def _schema_faults(configuration: Configuration) -> Iterator[FieldError]:
    for path, candidate in _candidates(configuration):
        if candidate.response_schema is None:
            continue
        if candidate.model is None or is_built_in(candidate.model):
            yield FieldError(f"{path}.response_schema", "goes with models of providers, which can write JSON")
        if candidate.grounding != "off":
            message = "goes with grounding off: providers give pages with free text only"
            yield FieldError(f"{path}.response_schema", message)


def _parameter_faults(conn: Connection, configuration: Configuration, registry: Registry) -> Iterator[FieldError]:
    """What a provider's protocol has no word for. What a single model does not take shows when it is asked."""
    asked: list[tuple[str, str, Role, Parameters]] = [
        (path, one.model, "generate", one.parameters) for path, one in _candidates(configuration) if one.model
    ]
    asked += [(path, judge.model, "judge", judge.parameters) for path, judge in _judges(configuration)]
    for path, model, role, parameters in asked:
        remote = registry.remote(provider_of(model))
        if remote is None or parameters == Parameters():
            continue
        matter = GenerateMatter("", "") if role == "generate" else ScoreMatter("", "", ())
        request = ModelRequest(model=name_of(model), system="", prompt="", matter=matter, parameters=parameters)
        try:
            remote.check(request, keys.host(conn, model))
        except ParametersNotTaken as error:
            for name in error.names:
                yield FieldError(f"{path}.parameters.{name}", f"is not taken by {KNOWN[remote.name].title}")
        except ProviderError:
            yield FieldError(f"{path}.parameters.thinking_budget", "must be below max_output_tokens")


def _search_faults(configuration: Configuration) -> Iterator[FieldError]:
    for index, candidate in enumerate(configuration.generation.candidates):
        if candidate.grounding != "off":
            yield FieldError(
                f"generation.candidates[{index}].grounding", "has a fee in no price list, so a budget cannot be kept"
            )


def price_faults(conn: Connection, billing: Billing, models: Iterable[tuple[str, str]]) -> Iterator[FieldError]:
    """Find the models without a known price. Each model comes with the path where it is named."""
    message = "has no known price, so a budget cannot be kept"
    if billing == "own_keys":
        message += "; say under Models what it costs, or leave the budget out"
    for path, model in models:
        if own_prices.price_of(conn, model, keys.host(conn, model), conn.clock.now(), billing) is None:
            yield FieldError(path, message)


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
    return replace(
        configuration,
        generation=replace(generation, candidates=candidates),
        combination=combination,
        checks=definition.named(configuration.checks),
    )


def _content_faults(conn: Connection, configuration: Configuration) -> Iterator[FieldError]:
    held = list(contents_of(configuration))
    types = _types(conn, ids_of(held))
    for named in held:
        if not set(map(types.get, named.ids)).issubset(named.types):
            for path, content_id in named.paths():
                message = type_fault(types.get(content_id), named.types)
                if message is not None:
                    yield FieldError(path, message)


def _connection_faults(conn: Connection, configuration: Configuration) -> Iterator[FieldError]:
    wanted = configuration.output.connection
    if wanted is not None and conn.one("SELECT 1 FROM github_connections WHERE id = ?", wanted) is None:
        yield FieldError("output.connection", "is not the id of a connection to GitHub")


def _types(conn: Connection, ids: list[ContentId]) -> dict[ContentId, str]:
    sql = "SELECT id, type FROM contents WHERE id IN (SELECT value FROM json_each(?))"
    return dict(conn.all(sql, as_json(ids)))


def _candidates(configuration: Configuration) -> Iterator[tuple[str, Candidate]]:
    """Every candidate with its path, also those that combine."""
    combining = configuration.combination.candidates if configuration.combination is not None else ()
    for part, candidates in (("generation", configuration.generation.candidates), ("combination", combining)):
        yield from ((f"{part}.candidates[{index}]", candidate) for index, candidate in enumerate(candidates))


def _models(configuration: Configuration) -> Iterator[tuple[str, str, Role]]:
    """Every model that the configuration names: the path, the model and its role."""
    for index, candidate in enumerate(configuration.generation.candidates):
        if candidate.model is not None:
            yield f"generation.candidates[{index}].model", candidate.model, "generate"
    for path, model in _combining(configuration):
        yield path, model, "generate"
    for path, judge in _judges(configuration):
        yield f"{path}.model", judge.model, "judge"


def _combining(configuration: Configuration) -> Iterator[tuple[str, str]]:
    """Every model that combines, and the path where it is named."""
    if configuration.combination is not None:
        for index, candidate in enumerate(configuration.combination.candidates):
            if candidate.model is not None:
                yield f"combination.candidates[{index}].model", candidate.model


def _judges(configuration: Configuration) -> Iterator[tuple[str, Judge]]:
    for phase, judging in (("scoring", configuration.scoring), ("comparison", configuration.comparison)):
        if judging is not None:
            yield from ((f"{phase}.judges[{index}]", judge) for index, judge in enumerate(judging.judges))


def _model_faults(configuration: Configuration, registry: Registry) -> Iterator[FieldError]:
    yield from role_faults(_models(configuration), registry)
    for path, model in _combining(configuration):
        name = name_of(model)
        if is_built_in(model) and listing.fault(registry, model, "generate") is None and not can_combine(name):
            yield FieldError(path, "cannot combine answers: it quotes by where a sentence stands, not by what it says")


def _criteria_of(conn: Connection, configuration: Configuration) -> tuple[Criterion, ...]:
    """The criteria of the scoring. Judges that compare use them too."""
    if configuration.scoring is None:
        return ()
    stored = conn.value("SELECT criteria FROM contents WHERE id = ?", configuration.scoring.criteria)
    return () if stored is None else _criteria.decode(stored)
