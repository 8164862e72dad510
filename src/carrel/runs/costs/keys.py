"""Checks before a run spends anything that every model that it is about to call has a key."""

from collections.abc import Collection, Iterator, Sequence

from carrel.errors import Conflict, FieldError
from carrel.keys import store as keys
from carrel.keys.store import ProviderKeyMissing
from carrel.kit.sqlite.database import Connection
from carrel.providers.prices import is_priced
from carrel.providers.registry import needs_key, provider_of
from carrel.runs.model.setup import Setup


class CreditsUnavailable(Conflict):
    """Credits cannot pay for a model of the run."""

    code = "credits-unavailable"
    detail = "Credits cannot pay for a model of this run; see errors. A key of your own can, with billing own_keys."


def require(conn: Connection, setup: Setup, system: Collection[str]) -> None:
    """Go on only if there is a key for every model of the run and of its present round.

    `system` are the providers for which the operator has a key.

    Raises:
        ProviderKeyMissing: naming each model without one.
        CreditsUnavailable: naming each model for which the operator has no key, or whose price nobody knows.
    """
    needed = [(path, model) for path, model in _models(setup) if needs_key(model)]
    if not needed:
        return
    if setup.billing == "credits":
        _require_credits(needed, system)
        return
    stored = keys.stored(conn)
    faults = tuple(
        FieldError(path, "has no stored key of its provider")
        for path, model in needed
        if provider_of(model) not in stored
    )
    if faults:
        raise ProviderKeyMissing(errors=faults)


def _require_credits(needed: Sequence[tuple[str, str]], system: Collection[str]) -> None:
    faults = [
        FieldError(path, "is of a provider for which the operator has no key")
        for path, model in needed
        if provider_of(model) not in system
    ]
    faults += [
        FieldError(path, "has no known price, so credits cannot pay for it")
        for path, model in needed
        if provider_of(model) in system and not is_priced(model)
    ]
    if faults:
        raise CreditsUnavailable(errors=tuple(faults))


def _models(setup: Setup) -> Iterator[tuple[str, str]]:
    for candidate in setup.candidates:
        # A later round only judges answers of the first, so it needs no keys of candidates.
        if candidate.model is not None and setup.round.number == 1:
            yield f"candidates[{candidate.ordinal - 1}].model", candidate.model
    for judge in setup.round.judges:
        yield f"judges[{judge.ordinal - 1}].model", judge.model
