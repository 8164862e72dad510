"""Whether every model that a run is about to call can be called: before anything is spent, not task by task."""

from collections.abc import Iterator

from carrel.errors import Conflict, FieldError
from carrel.kit.database import Connection
from carrel.providers import keys
from carrel.providers.keys import ProviderKeyMissing
from carrel.providers.registry import needs_key, provider_of
from carrel.runs.setup import Setup


class CreditsUnavailable(Conflict):
    """The operator's keys cannot be used by runs yet."""

    code = "credits-unavailable"
    detail = "Runs cannot be paid with credits yet; set billing to own_keys and store a key of your own."


def require(conn: Connection, setup: Setup) -> None:
    """Go on only if there is a key for every model of the run and of its present round.

    Raises:
        ProviderKeyMissing: naming each model without one.
        CreditsUnavailable: it would need the operator's keys.
    """
    needed = [(path, model) for path, model in _models(setup) if needs_key(model)]
    if not needed:
        return
    if conn.one(
        "SELECT 1 FROM run_snapshots WHERE run = ? AND json_extract(configuration, '$.billing') = 'credits'", setup.seq
    ):
        raise CreditsUnavailable
    stored = keys.stored(conn)
    faults = tuple(
        FieldError(path, "has no stored key of its provider")
        for path, model in needed
        if provider_of(model) not in stored
    )
    if faults:
        raise ProviderKeyMissing(errors=faults)


def _models(setup: Setup) -> Iterator[tuple[str, str]]:
    for candidate in setup.candidates:
        # A later round only judges what was written in the first.
        if candidate.model is not None and setup.round.number == 1:
            yield f"candidates[{candidate.ordinal - 1}].model", candidate.model
    for judge in setup.round.judges:
        yield f"judges[{judge.ordinal - 1}].model", judge.model
