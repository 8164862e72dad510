"""The types of the ids of a workspace's rows; all ids are UUIDv7 strings."""

from typing import NewType

from carrel.kit.ids import Id

ContentId = NewType("ContentId", Id)
PresetId = NewType("PresetId", Id)
DataSetId = NewType("DataSetId", Id)
