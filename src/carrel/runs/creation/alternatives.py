"""Which models could take the place of a preset's candidate: what an answer would cost, whether texts fit, the end."""

import re
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal

import msgspec
from msgspec.structs import replace

from carrel.config import Settings
from carrel.errors import BadInput, NotFound
from carrel.kit.money import DollarsText, text_if_known
from carrel.kit.sqlite.database import Connection
from carrel.models import listing
from carrel.models.schemas import Model
from carrel.presets import rules
from carrel.providers import endings, own_prices
from carrel.providers.registry import Registry, is_built_in
from carrel.runs.creation import forecast, row_inputs, snapshot
from carrel.runs.creation.text_cache import TextCache
from carrel.runs.creation.text_sizes import RowSizes, SharedBytes
from carrel.runs.model.schemas import ExecuteIn
from carrel.vault.ids import PresetId

_WRITES_NO_TEXT = re.compile(r"embed|rerank|moderation|whisper|transcribe|\btts\b|dall-e|\bimage", re.IGNORECASE)
"""Names of models that providers list beside those that answer; the lists do not say what a model does."""


class Alternative(msgspec.Struct, frozen=True, kw_only=True):
    """One model. `likely_cost` is that of an answer, by its list price and the sizes of the preset's texts.

    `fits` is whether the longest input is likely to leave room for an answer. Each is null where it is unknown.
    """

    model: str
    host: str | None
    likely_cost: DollarsText | None
    context_tokens: int | None
    fits: bool | None
    ends_on: str | None


class Alternatives(msgspec.Struct, frozen=True, kw_only=True):
    """Models in place of the `baseline`, the cheapest first. `today` is its own one, null if its answers are finished.

    They are those that your keys open now, without those that are switched off within 60 days. What an answer has cost,
    and how good the candidate was, say the preset's trends.
    """

    baseline: str
    today: Alternative | None
    items: tuple[Alternative, ...]


def find(
    conn: Connection,
    preset_id: PresetId,
    baseline: str,
    found: Sequence[str],
    registry: Registry,
    settings: Settings,
) -> Alternatives:
    """The models; `found` are those that the providers of the stored keys list. To be scanned.

    Raises:
        NotFound: there is no such preset.
        BadInput: it has no such candidate, or as `snapshot.recipe` says.
    """
    made_from = snapshot.recipe(conn, snapshot.of_preset(conn, preset_id, ExecuteIn()), registry)
    configuration = made_from.configuration
    candidates = configuration.generation.candidates
    candidate = dict(zip(rules.named(candidates), candidates, strict=True)).get(baseline)
    if candidate is None:
        raise BadInput.at("baseline", "must be a candidate of the preset")
    text_cache = TextCache(conn, None, {}, settings, row_inputs.placeholders(conn, configuration))
    text_cache.instructions(candidate.instructions or configuration.instructions, of_rows=True)
    for content in (*configuration.inputs, *configuration.references.values(), *candidate.existing.values()):
        text_cache.material(content)
    rows = None if configuration.rows is None else RowSizes(conn, configuration, text_cache.used_fields)
    shared = SharedBytes(text_cache, configuration, snapshot.first_round(text_cache, made_from, registry))
    inputs = shared.documents() if rows is None else rows.documents
    # Finished answers have no model, and whoever takes their place gets the preset's prompt.
    prompt, places = shared.candidates([replace(candidate, model=candidate.model or "any")], configuration.instructions)
    existing = [text_cache.size(one).length for one in candidate.existing.values()] if rows is None else rows.outputs
    usual, longest = (
        forecast.likely_usage(prompt + places * size, candidate.parameters, existing)
        for size in (sum(inputs) // max(1, len(inputs)), max(inputs, default=0))
    )
    now = conn.clock.now()

    def alternative(model: Model) -> Alternative:
        price = own_prices.price_of(conn, model.model, model.host, now, configuration.billing)
        most = model.context_tokens
        return Alternative(
            model=model.model,
            host=model.host,
            likely_cost=text_if_known(None if price is None else price.cost_micros(usual)),
            context_tokens=most,
            fits=None if most is None else longest.input_tokens + longest.output_tokens <= most,
            ends_on=model.ends_on,
        )

    today = None
    if candidate.model is not None:
        with suppress(NotFound):  # a server of the user's own that is no more
            today = alternative(listing.get(conn, registry, candidate.model))
    others = (
        alternative(one)
        for one in listing.everything(conn, registry, found).items
        if "generate" in one.roles and not is_built_in(one.model) and one.model != candidate.model
        if _WRITES_NO_TEXT.search(one.model) is None
    )
    lasting = (one for one in others if not endings.ends_soon(one.model, one.host, now))
    return Alternatives(baseline=baseline, today=today, items=tuple(sorted(lasting, key=_order)))


def _order(one: Alternative) -> tuple[bool, Decimal, str]:
    return one.likely_cost is None, Decimal(one.likely_cost or 0), one.model
