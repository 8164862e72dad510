"""Names that providers give: of their models, and of the version of their protocol in a URL. Pure."""

from collections.abc import Iterable

_LONGEST_NAME = 200
_MOST_MODELS = 2_000


def bounded(names: Iterable[str]) -> tuple[str, ...]:
    """The names of models as Carrel shows them: sorted, each once, without very long ones, and only up to a limit."""
    return tuple(sorted({name for name in names if 0 < len(name) <= _LONGEST_NAME})[:_MOST_MODELS])


def versioned(base: str, version: str) -> str:
    """The base URL with the protocol's version at its end, whether or not it was there before."""
    return base if base.endswith(f"/{version}") else f"{base}/{version}"
