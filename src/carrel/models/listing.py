"""The models of every provider that can be called, with their prices."""

from carrel.errors import NotFound
from carrel.models.schemas import Model, Models, Prices
from carrel.providers.base import ModelInfo, Role
from carrel.providers.registry import Registry, is_free

_NOTHING = Prices(input_per_million="0", output_per_million="0", source="built-in")


def everything(registry: Registry) -> Models:
    """Every model, in the providers' own order."""
    return Models([_model(name, info) for name, info in registry.models()])


def get(registry: Registry, name: str) -> Model:
    """One model by its full name.

    Raises:
        NotFound: there is no such model.
    """
    info = registry.find(name)
    if info is None:
        raise NotFound
    return _model(name, info)


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


def _model(name: str, info: ModelInfo) -> Model:
    return Model(
        model=name,
        provider=name.partition(":")[0],
        family=info.family,
        description=info.description,
        roles=list(info.roles),
        available=True,
        reason=None,
        context_tokens=info.context_tokens,
        prices=prices(name),
    )
