"""`docs/errors.md` is held against the errors that the program knows."""

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import carrel
from carrel.errors import CarrelError

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"


def errors(kind: type[CarrelError] = CarrelError) -> Iterator[type[CarrelError]]:
    """Every error of the service; those of tests do not count."""
    if kind.__module__.startswith("carrel."):
        yield kind
    for below in kind.__subclasses__():
        yield from errors(below)


def known() -> dict[str, set[int]]:
    for module in pkgutil.walk_packages(carrel.__path__, "carrel."):
        # The terminal program raises none of them, and a worker's main module is no module to import.
        if not module.name.startswith("carrel.cli") and not module.name.endswith("_child"):
            import_module(module.name)
    found: dict[str, set[int]] = {}
    for error in errors():
        found.setdefault(error.code, set()).add(error.status)
    return found


def test_every_code_is_explained_and_no_other() -> None:
    rows = [line.split("|")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    explained = [code for row in rows for code in re.findall(r"`([a-z0-9-]+)`", row)]
    assert sorted(explained) == sorted(known())


def test_one_code_has_one_status() -> None:
    assert [code for code, statuses in known().items() if len(statuses) > 1] == []
