"""What goes over the wire about suites."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from carrel.datasets.schemas import UploadedDataSet
from carrel.http.requests.schema import In, Name, Text
from carrel.presets.configuration import DroppedPart, ModelName
from carrel.presets.drafts import DraftSummary
from carrel.presets.schemas import Preset
from carrel.vault.ids import ContentId

MAX_FILES = 100


class SuiteIn(In, frozen=True, kw_only=True):
    """A `promptfooconfig.yaml` as its text.

    `files` are the texts of files that it names, by their paths beside it: prompts and tests, never code. `models` say
    what to call instead of a provider that Carrel cannot call, by the provider's id. Nothing is executed, and no
    variable of an environment is read.
    """

    MAX_ELEMENTS: ClassVar[int] = 2 * MAX_FILES + 100

    config: Text
    name: Name = "promptfoo suite"
    files: Annotated[dict[Annotated[str, Meta(max_length=500)], Text], Meta(max_length=MAX_FILES)] = msgspec.field(
        default_factory=dict
    )
    models: Annotated[dict[Annotated[str, Meta(max_length=500)], ModelName], Meta(max_length=MAX_FILES)] = (
        msgspec.field(default_factory=dict)
    )


class ImportedSuite(msgspec.Struct, frozen=True):
    """What was made: a data set of the tests, a content for each prompt, and a preset with checks.

    Where no provider is one that Carrel can call, there is an unfinished set-up in place of the preset, `draft`, which
    needs models. `criteria` are what judges score in place of a model that grades: by the suite's grader, else by the
    default judges. `dropped` is what was left out, also in the preset and in every verdict of it.
    """

    data_set: UploadedDataSet
    prompts: list[ContentId]
    criteria: ContentId | None
    preset: Preset | None
    draft: DraftSummary | None
    dropped: list[DroppedPart]


class ExportedSuite(msgspec.Struct, frozen=True):
    """A preset as the text of a `promptfooconfig.yaml`; `dropped` is what promptfoo has no word for."""

    config: str
    dropped: list[DroppedPart]
