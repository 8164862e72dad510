"""The types of the ids of a workspace's rows: UUIDv7 strings, and any UUIDs for drafts, whose ids clients make."""

from typing import NewType

from carrel.kit.ids import Id

ContentId = NewType("ContentId", Id)
PresetId = NewType("PresetId", Id)
DraftId = NewType("DraftId", Id)
DataSetId = NewType("DataSetId", Id)
