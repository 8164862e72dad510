"""The types of the ids of a workspace's rows; all ids are UUIDv7 strings."""

from typing import NewType

ContentId = NewType("ContentId", str)
PresetId = NewType("PresetId", str)
