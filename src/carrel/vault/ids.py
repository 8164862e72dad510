"""What the ids of a workspace's rows are called in signatures; all are UUIDv7 strings."""

from typing import NewType

ContentId = NewType("ContentId", str)
PresetId = NewType("PresetId", str)
