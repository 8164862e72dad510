"""What goes over the wire about presets."""

import msgspec
from msgspec import UNSET, UnsetType

from carrel.http.requests.schema import Description, Name, Tags
from carrel.kit.clock import Time
from carrel.presets.configuration import Configuration
from carrel.vault.ids import PresetId


class PresetIn(Configuration, frozen=True, kw_only=True):
    """A preset as its user writes it."""

    name: Name
    description: Description = ""
    tags: Tags = msgspec.field(default_factory=list)


class PresetChange(PresetIn, frozen=True, kw_only=True):
    """A preset as it is to be. The client may send back the fields that Carrel keeps, unchanged."""

    id: PresetId | UnsetType = UNSET
    version: int | UnsetType = UNSET
    created_at: Time | UnsetType = UNSET
    updated_at: Time | UnsetType = UNSET


class Preset(Configuration, frozen=True, kw_only=True):
    """A preset with its whole configuration."""

    id: PresetId
    name: str
    description: str
    tags: list[str]
    version: int
    created_at: Time
    updated_at: Time


class PresetSummary(msgspec.Struct, frozen=True):
    """A preset in a list."""

    id: PresetId
    name: str
    description: str
    tags: list[str]
    version: int
    created_at: Time
    updated_at: Time
    input_count: int
    candidate_labels: list[str]
