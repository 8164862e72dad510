"""The providers that this process can call, and their models by the name under which users know them."""

from collections.abc import Iterable, Iterator

import msgspec

from carrel.providers import catalogue
from carrel.providers.base import ModelInfo, Provider
from carrel.providers.remote import Remote

_BUILT_IN = "local"
_free = {_BUILT_IN}


class Registry:
    """Models are named `provider:name`, such as `local:lexrank`. A `remote` provider accepts any name.

    Servers of users' own, whatever their names are, are called by one of the remote providers.
    """

    def __init__(self, providers: Iterable[Provider], remote: Iterable[Remote] = ()) -> None:
        self._remote = {provider.name: provider for provider in remote}
        self._providers: dict[str, Provider] = {provider.name: provider for provider in providers} | self._remote

    def provider_of(self, model: str) -> Provider | None:
        """The provider of `model`, whether or not there is such a model."""
        name = provider_of(model)
        return self._providers.get(name) or self.remote(name)

    def remote(self, provider: str) -> Remote | None:
        """The remote provider of that name; `None` if this process cannot call it."""
        named = catalogue.is_own_name(provider) and provider not in self._providers
        return self._remote.get(catalogue.OF_ANY_NAME if named else provider)

    def find(self, model: str) -> ModelInfo | None:
        """The model, if there may be one. Whether the user may call it is another question."""
        provider = self.provider_of(model)
        if provider is None:
            return None
        name = name_of(model)
        elsewhere = self.remote(provider.name)
        if elsewhere is not None:
            return elsewhere.named(name)
        return next((info for info in provider.models() if info.name == name), None)

    def family(self, model: str | None) -> str | None:
        """The family of the model, that is who made it; `None` if that is not known, or there is no model."""
        info = self.find(model) if model is not None else None
        return None if info is None else info.family

    def models(self) -> Iterator[tuple[str, ModelInfo]]:
        """Every model that can be called now, under its full name."""
        for provider in self._providers.values():
            for info in provider.models():
                yield f"{provider.name}:{info.name}", info

    async def close(self) -> None:
        """Close every provider."""
        for provider in self._providers.values():
            await provider.close()


def provider_of(model: str) -> str:
    """The name of the provider in a model's full name."""
    return model.partition(":")[0]


def canonical(name: str) -> str:
    """`OpenAI` as `openai`, and `OpenAI:Name` as `openai:Name`: in the name of a provider, capitals do not count."""
    provider, colon, model = name.partition(":")
    return f"{provider.lower()}{colon}{model}"


def fold(body: msgspec.Struct, field: str) -> None:
    """Make the name in a field of a new body canonical. For `__post_init__`, before anybody has seen the body."""
    name: str | None = getattr(body, field)
    if name is not None:
        msgspec.structs.force_setattr(body, field, canonical(name))


def lane_of(model: str) -> str:
    """What is held together when the provider of this model refuses a call as too fast: all its models, or this one."""
    provider, _, name = model.partition(":")
    known = catalogue.find(provider)
    if known is None or known.limits_each == "none" or (known.limits_each == "free" and not name.endswith(":free")):
        return provider
    return model


def name_of(model: str) -> str:
    """What its provider calls the model of this full name."""
    return model.partition(":")[2]


def is_built_in(model: str) -> bool:
    """Whether the model is one of our own. These run on this machine and are not language models."""
    return model.startswith(f"{_BUILT_IN}:")


def is_free(model: str) -> bool:
    """Whether a call costs nothing, however it ends."""
    return provider_of(model) in _free


def register_free(provider: str) -> None:
    """Register that calls of this provider, which the process provides itself, cost nothing."""
    _free.add(provider)


def needs_key(model: str) -> bool:
    """Whether a call of the model needs a key."""
    return not is_free(model) and catalogue.find(provider_of(model)) is not None


def replays(model: str) -> bool:
    """Whether the model always gives the same answer to the same request, so that a repetition adds no evidence."""
    return is_built_in(model)


def reads_matter(model: str) -> bool:
    """Whether the model reads a request's matter, so that the request needs no prompt."""
    return is_built_in(model)
