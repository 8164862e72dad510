"""What a user says that models cost whose price no list has: own servers, deployments, private names.

These prices hold only where the user's own key pays. What credits pay for is charged by the list, in `prices`.
A price is in every call's row as its id, which says the price itself, so a later change alters no call that was made.
"""

import re
from decimal import Decimal
from typing import Final, Literal, NamedTuple

import msgspec

from carrel.errors import BadInput, Conflict, NotFound
from carrel.http.answers.etag import IfMatch
from carrel.http.requests.schema import In
from carrel.kit.clock import Time
from carrel.kit.money import MICROS, DollarsIn, DollarsText, micros_of, text_of
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select, SqlColumn
from carrel.kit.sqlite.versions import NO_ROW, version_of
from carrel.providers import hosts, prices
from carrel.providers.catalogue import find
from carrel.providers.prices import Price, PriceTier
from carrel.providers.protocols import names
from carrel.providers.registry import is_free, name_of, provider_of

SOURCE: Final = "own"
MAX_PRICES: Final = 1_000
MAX_DOLLARS: Final = 10_000
_LONGEST_MODEL = 250
_ID = re.compile(rf"{SOURCE}/([0-9]+)/([0-9]+)(/batch)?")

Billing = Literal["own_keys", "credits"]


class TooManyPrices(Conflict):
    """The user has set as many prices as allowed."""

    code = "too-many-prices"
    detail = "You have set prices for as many models as you may; remove some."


class ModelPriceIn(In, frozen=True):
    """What a million tokens cost; 0 is free, which is not the same as an unknown price."""

    input_per_million: DollarsIn
    output_per_million: DollarsIn


class ModelPrice(msgspec.Struct, frozen=True, kw_only=True):
    """A price that the user has set, for the calls that the user's own key pays for.

    `model` is `provider:name`, or a provider alone: then the price is that of all its models for which the user has set
    none and whose list price is not known.
    """

    model: str
    input_per_million: DollarsText
    output_per_million: DollarsText
    updated_at: Time


class _Row(NamedTuple):
    model: str
    input_micros: int
    output_micros: int
    updated_at: str


_rows = Select(_Row)
_prices = Select(
    ModelPrice,
    input_per_million=SqlColumn("input_micros", text_of),
    output_per_million=SqlColumn("output_micros", text_of),
)


def price_of(
    conn: Connection, model: str, host: str | None, at_seconds: float, billing: Billing = "own_keys"
) -> Price | None:
    """The price of a call of `provider:name` at this host and time; `None` if nobody knows it.

    With `own_keys`, the price that the user has set for this model comes first, then that of the list if the host is
    the provider's own, then the one that the user has set for the provider. With `credits`, only that of the list
    counts, whatever the host of the operator's key is: there the list is the rate at which credits are charged.
    """
    if billing == "credits" or is_free(model):
        return prices.price_of(model, at_seconds)
    found = _rows.all(conn, "FROM model_prices WHERE model IN (?, ?)", model, provider_of(model))
    own = {row.model: row for row in found}
    if model in own:
        return _price(own[model])
    of_list = prices.price_of(model, at_seconds) if hosts.has_list_prices(provider_of(model), host) else None
    usual = own.get(provider_of(model))
    return of_list if of_list is not None or usual is None else _price(usual)


def of_id(price_id: str) -> Price | None:
    """The price that a user had set, from the id in a call's row; `None` if the id is that of a list."""
    found = _ID.fullmatch(price_id)
    if found is None:
        return None
    price = _priced(int(found[1]), int(found[2]), None)
    return price.of_batches if found[3] else price


def listed(conn: Connection) -> list[ModelPrice]:
    """Every price that the user has set, by model."""
    return _prices.all(conn, "FROM model_prices ORDER BY model")


def put(conn: Connection, model: str, data: ModelPriceIn, if_match: IfMatch) -> tuple[ModelPrice, int]:
    """Set a price; return it with its version. It holds for calls that begin from now on.

    Raises:
        BadInput: nobody can have such a model, or an amount is too large.
        TooManyPrices: there are `MAX_PRICES` already.
        PreconditionFailed: it was changed in the meantime.
    """
    _check_model(model)
    amounts = _micros(data)
    before = version_of(conn, "model_prices", "model", model)
    if_match.require(before)
    if before == NO_ROW and conn.value("SELECT count(*) FROM model_prices") >= MAX_PRICES:
        raise TooManyPrices
    conn.run(
        "INSERT INTO model_prices (model, input_micros, output_micros, updated_at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (model) DO UPDATE SET input_micros = excluded.input_micros,"
        " output_micros = excluded.output_micros, updated_at = excluded.updated_at, version = version + 1",
        *(model, *amounts, conn.now()),
    )
    saved = _prices.one(conn, "FROM model_prices WHERE model = ?", model)
    if saved is None:
        raise NotFound
    return saved, version_of(conn, "model_prices", "model", model)


def delete(conn: Connection, model: str, if_match: IfMatch) -> None:
    """Remove a price. Calls that were made keep their costs.

    Raises:
        NotFound: the user has set no price for this model.
        PreconditionFailed: it was changed in the meantime.
    """
    version = version_of(conn, "model_prices", "model", model)
    if version == NO_ROW:
        raise NotFound
    if_match.require(version)
    conn.run("DELETE FROM model_prices WHERE model = ?", model)


def _check_model(model: str) -> None:
    if find(provider_of(model)) is None:
        raise BadInput.at("model", "must be a provider, or a model of one as `provider:name`")
    if ":" in model and not (len(model) <= _LONGEST_MODEL and names.can_be(name_of(model))):
        raise BadInput.at("model", "is not a name that a model of this provider can have")


def _micros(data: ModelPriceIn) -> tuple[int, int]:
    for field in ("input_per_million", "output_per_million"):
        if micros_of(getattr(data, field)) > MAX_DOLLARS * MICROS:
            raise BadInput.at(field, f"must be at most {MAX_DOLLARS} US dollars for a million tokens")
    return micros_of(data.input_per_million), micros_of(data.output_per_million)


def _price(row: _Row) -> Price:
    return _priced(row.input_micros, row.output_micros, row.updated_at[:10])


def _priced(input_micros: int, output_micros: int, since: str | None) -> Price:
    read, written = Decimal(input_micros) / MICROS, Decimal(output_micros) / MICROS
    return Price(f"{SOURCE}/{input_micros}/{output_micros}", SOURCE, since, (PriceTier(0, read, read, read, written),))
