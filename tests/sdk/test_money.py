"""What the SDK's docs say about money: costs and budgets are US dollars, the balance is credits."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import carrel_sdk
import msgspec

COSTS = {"cost", "likely_cost", "worst_cost", "budget"}


def structs() -> Iterator[type[msgspec.Struct]]:
    for module in pkgutil.iter_modules(carrel_sdk.__path__):
        for _, kind in inspect.getmembers(importlib.import_module(f"carrel_sdk.{module.name}"), inspect.isclass):
            if issubclass(kind, msgspec.Struct) and kind.__module__ == f"carrel_sdk.{module.name}":
                yield kind


def test_every_struct_with_a_cost_says_that_it_is_in_us_dollars() -> None:
    found = [kind for kind in structs() if COSTS & set(kind.__struct_fields__)]
    assert len(found) >= 8
    for kind in found:
        assert "US dollars" in (kind.__doc__ or ""), kind
