"""The models that this process can call, with their prices, and whether this user may call them now."""

from carrel.errors import NotFound
from carrel.kit.database import Connection
from carrel.models.schemas import Model, Models, Prices
from carrel.providers import keys
from carrel.providers.base import ModelInfo, Role
from carrel.providers.registry import Registry, is_free, needs_key, provider_of

_NOTHING = Prices(input_per_million="0", output_per_million="0", source="built-in")


def everything(registry: Registry) -> Models:
    """Every model, in the providers' own order."""
    return Models([_model(name, info) for name, info in registry.models()])


def get(conn: Connection, registry: Registry, name: str) -> Model:
    """One model by its full name. One of a remote provider is taken at its word, and needs a key.

    Raises:
        NotFound: there is no such model.
    """
    info = registry.find(name)
    if info is None:
        raise NotFound
    keyless = needs_key(name) and provider_of(name) not in keys.stored(conn)
    return _model(name, info, "provider-key-missing" if keyless else None)


def fault(registry: Registry, name: str, role: Role) -> str | None:
    """Why the model cannot be used in this role, in constant words; `None` if it can."""
    info = registry.find(name)
    if info is None:
        return "is not a known model"
    if role not in info.roles:
        return "is not a model that generates" if role == "generate" else "is not a model that judges"
    return None


def prices(name: str) -> Prices | None:
    """What the model's tokens cost; `None` if that is not known."""
    return _NOTHING if is_free(name) else None


def _model(name: str, info: ModelInfo, reason: str | None = None) -> Model:
    return Model(
        model=name,
        provider=provider_of(name),
        family=info.family,
        description=info.description,
        roles=list(info.roles),
        available=reason is None,
        reason=reason,
        context_tokens=info.context_tokens,
        prices=prices(name),
    )
