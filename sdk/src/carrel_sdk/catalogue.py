"""The models that candidates and judges can use."""

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from carrel_sdk.calls import Calls
from carrel_sdk.models import Model, ModelEnding, ModelEndings, ModelPrice, ModelPrices


class Models:
    """The routes under `/models` and `/model-prices`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def each(self) -> Iterator[Model]:
        """Every model, both generators and judges."""
        return self._calls.each("/models", Model)

    def get(self, model: str) -> Model:
        """One model by its full name, which may hold slashes."""
        return self._calls.get(f"/models/{quote(model, safe='/:')}", Model)

    def endings(self, models: Sequence[str]) -> list[ModelEnding]:
        """Those of these models that are switched off within 60 days, or were, the first to end first."""
        return self._calls.get("/models/endings", ModelEndings, {"model": [*models]}).items

    def prices(self) -> list[ModelPrice]:
        """Every price that the user has set, by model."""
        return self._calls.get("/model-prices", ModelPrices).items

    def set_price(self, model: str, *, input_per_million: str, output_per_million: str) -> ModelPrice:
        """Say what a model costs with the user's own key, or all models of a provider whose price is not known.

        US dollars for a million tokens, as decimal strings; "0" is free. Calls that begin from now on cost this.
        """
        body = {"input_per_million": input_per_million, "output_per_million": output_per_million}
        return self._calls.put(f"/model-prices/{quote(model, safe='/:')}", ModelPrice, body)

    def unset_price(self, model: str) -> None:
        """Remove a price that the user has set. Calls that were made keep their costs."""
        self._calls.delete(f"/model-prices/{quote(model, safe='/:')}")
