"""The models that this process can call, with their prices, and whether this user may call them now."""

import asyncio
from collections.abc import Sequence
from functools import partial

from carrel.errors import BadInput, FieldError, NotFound
from carrel.keys import store as keys
from carrel.kit.sqlite.database import Connection
from carrel.models.schemas import Model, ModelEndings, Models, Prices, Rates
from carrel.providers import catalogue, endings, families, hosts, own_prices
from carrel.providers import prices as price_list
from carrel.providers.base import Access, ModelInfo, Role
from carrel.providers.hosts import ModelAt
from carrel.providers.recent_lists import RecentLists
from carrel.providers.registry import Registry, needs_key, provider_of
from carrel.vault.workspace import Workspace


def everything(conn: Connection, registry: Registry, found: Sequence[str] = ()) -> Models:
    """Every model, in the providers' own order, then those that were `found` at servers of the user's own."""
    at = conn.clock.now()
    live = ((name, registry.find(name)) for name in found)
    everyone = [*registry.models(), *((name, info) for name, info in live if info is not None)]
    return Models([_model(conn, name, info, at) for name, info in everyone])


def _servers(conn: Connection, *, of_keys: bool) -> list[tuple[str, Access]]:
    """The user's own servers, by the provider whose models they serve; `of_keys`: those of all stored keys."""
    known = ((name, catalogue.find(name)) for name in keys.stored(conn))
    own = sorted(name for name, one in known if of_keys or (one is not None and one.own))
    found = ((name, keys.access(conn, name)) for name in own)
    return [(name, access) for name, access in found if access is not None]


async def found(registry: Registry, recent: RecentLists, workspace: Workspace, *, of_keys: bool = True) -> list[str]:
    """The full names of the models that the user's own servers list now, or those of all stored keys.

    All are asked at once.
    """
    servers = workspace.read(partial(_servers, of_keys=of_keys))
    remotes = [(name, remote, access) for name, access in servers if (remote := registry.remote(name)) is not None]
    lists = await asyncio.gather(*(recent.models(remote, access) for _, remote, access in remotes))
    named = zip((name for name, _, _ in remotes), lists, strict=True)
    return [f"{provider}:{name}" for provider, names in named for name in names]


def get(conn: Connection, registry: Registry, name: str) -> Model:
    """One model by its full name. A remote provider's model is not checked, and needs a key.

    Raises:
        NotFound: there is no such model, or nobody is known under the name of its provider.
    """
    info = registry.find(name)
    provider = provider_of(name)
    keyless = needs_key(name) and provider not in keys.stored(conn)
    is_nobody = keyless and catalogue.is_own_name(provider) and registry.remote(provider) is not None
    if info is None or is_nobody:
        raise NotFound
    return _model(conn, name, info, conn.clock.now(), "provider-key-missing" if keyless else None)


def ending(conn: Connection, registry: Registry, names: Sequence[str]) -> ModelEndings:
    """Those of these models that end soon or have ended, with the user's own keys.

    Raises:
        BadInput: no model can have one of the names.
    """
    require_known(registry, "model", names)
    found = endings.soon((ModelAt(name, keys.host(conn, name)) for name in names), conn.clock.now())
    return ModelEndings(list(found), str(endings.read_on()))


def require_known(registry: Registry, field: str, names: Sequence[str]) -> None:
    """Refuse names that no model can have.

    Raises:
        BadInput: there are some.
    """
    faults = tuple(
        FieldError(f"{field}[{place}]", "is not a known model")
        for place, name in enumerate(names)
        if registry.find(name) is None
    )
    if faults:
        raise BadInput(errors=faults)


def fault(registry: Registry, name: str, role: Role) -> str | None:
    """Why the model cannot be used in this role, as a constant text; `None` if it can."""
    info = registry.find(name)
    if info is None:
        return "is not a known model"
    if role not in info.roles:
        return "is not a model that generates" if role == "generate" else "is not a model that judges"
    return None


def prices(conn: Connection, name: str, host: str | None, at_seconds: float) -> Prices | None:
    """The price of the model's tokens with the user's own key at that time; `None` if it is not known."""
    price = own_prices.price_of(conn, name, host, at_seconds)
    if price is None:
        return None
    first, *others = (
        Rates(rates.above_tokens, *(format(rate.normalize(), "f") for rate in rates[1:])) for rates in price.rates
    )
    return Prices(
        id=price.id,
        input_per_million=first.input_per_million,
        cached_read_per_million=first.cached_read_per_million,
        cached_write_per_million=first.cached_write_per_million,
        output_per_million=first.output_per_million,
        above=others,
        effective_date=price.effective_date,
        source=price.source,
    )


def _model(conn: Connection, name: str, info: ModelInfo, at_seconds: float, reason: str | None = None) -> Model:
    provider, host = provider_of(name), keys.host(conn, name)
    is_listed = hosts.has_list_prices(provider, host)
    end = endings.end_of(name, host)
    return Model(
        model=name,
        provider=provider,
        host=host,
        family=info.family if host is None else families.family_of(provider, info.name, host),
        description=info.description,
        roles=list(info.roles),
        available=reason is None,
        reason=reason,
        context_tokens=info.context_tokens or (price_list.context_tokens(name) if is_listed else None),
        output_tokens=None,
        prices=prices(conn, name, host, at_seconds),
        ends_on=None if end is None else str(end.on),
        ends_source=None if end is None else end.source,
    )
