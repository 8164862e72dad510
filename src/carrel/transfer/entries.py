"""The files of an export that an import reads: JSON, or one JSON object per line where there are many."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from carrel.contents.schemas import ContentIn
from carrel.datasets.schemas import MAX_COLUMNS, Column, Format
from carrel.http.requests.schema import Description, Name
from carrel.presets.drafts import DraftIn
from carrel.presets.schemas import PresetIn
from carrel.providers.own_prices import ModelPriceIn
from carrel.vault.ids import ContentId, DataSetId, DraftId

FORMAT: Final = "carrel-workspace"
VERSION: Final = 1

MANIFEST: Final = "carrel.json"
CONTENTS: Final = "contents.jsonl"
DATA_SETS: Final = "data_sets.jsonl"
PRESETS: Final = "presets.jsonl"
SETTINGS: Final = "settings.json"
MODEL_PRICES: Final = "model_prices.jsonl"
DRAFTS: Final = "preset_drafts.jsonl"

ShortText = Annotated[str, Meta(max_length=200)]


class ExportManifest(msgspec.Struct, frozen=True):
    """The first entry: the kind of the zip and the version of its format."""

    format: str = FORMAT
    version: int = VERSION


class ContentLine(ContentIn, frozen=True, kw_only=True):
    """A content whose body is in `file`. Fields that an earlier program did not have may be missing."""

    id: Annotated[ContentId, Meta(min_length=1, max_length=64)]
    file: ShortText
    body: Literal[""] = ""
    version: int
    created_at: ShortText
    updated_at: ShortText


class DataSetLine(msgspec.Struct, frozen=True, kw_only=True):
    """A data set whose rows are in `file`, one JSON object a line."""

    id: Annotated[DataSetId, Meta(min_length=1, max_length=64)]
    file: ShortText
    name: Name
    description: Description
    format: Format
    columns: Annotated[list[Column], Meta(max_length=MAX_COLUMNS)]
    row_count: int
    bytes: int
    version: int
    created_at: ShortText
    updated_at: ShortText


class PresetLine(PresetIn, frozen=True, kw_only=True):
    """A preset with its whole configuration."""

    id: Annotated[str, Meta(max_length=64)]
    version: int
    created_at: ShortText
    updated_at: ShortText


class DraftLine(DraftIn, frozen=True, kw_only=True):
    """An unfinished set-up with its body."""

    id: Annotated[DraftId, Meta(max_length=64)]
    version: int
    updated_at: ShortText


class PriceLine(ModelPriceIn, frozen=True, kw_only=True):
    """A price that the user has set for a model."""

    model: ShortText
    updated_at: ShortText


class KeyEntry(msgspec.Struct, frozen=True):
    """A provider that has a stored key. Nothing of the key is exported, not even its last characters."""

    provider: str
    base_url: str | None
    created_at: str
    updated_at: str


class Imported(msgspec.Struct, frozen=True):
    """How much was imported, under new ids. The settings are now those of the export."""

    contents: int
    presets: int
    data_sets: int = 0


class Received(msgspec.Struct, frozen=True):
    """How many bytes of an import in parts are here; the next part begins there."""

    received_bytes: int
