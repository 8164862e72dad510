"""What goes over the wire about contents."""

from typing import Annotated, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from carrel.http.requests.schema import CriteriaText, Description, In, Name, Tags, Text, limited
from carrel.kit.clock import Time
from carrel.kit.placeholders import NAME
from carrel.vault.ids import ContentId

ContentType = Literal[
    "input_document",
    "reference_document",
    "generation_instructions",
    "scoring_instructions",
    "comparison_instructions",
    "combination_instructions",
    "criteria",
    "fragment",
    "output_document",
]
CONTENT_TYPES: tuple[ContentType, ...] = get_args(ContentType)

VariableName = Annotated[str, Meta(pattern=NAME)]
Variables = Annotated[dict[VariableName, ContentId | None], limited("max_variables", "entries")]
GivenVariables = Annotated[dict[VariableName, Text], limited("max_variables", "entries")]
"""Texts for placeholders, from whoever resolves or executes."""


class ContentIn(In, frozen=True):
    """A content as its user writes it. A variable links its placeholder to a content, or leaves it open (null)."""

    name: Name
    type: ContentType
    body: Text = ""
    variables: Variables = msgspec.field(default_factory=dict)
    description: Description = ""
    tags: Tags = msgspec.field(default_factory=list)


class ContentChange(ContentIn, frozen=True):
    """A content as it is to be. The fields that Carrel keeps may be sent back as they are stored."""

    id: ContentId | UnsetType = UNSET
    version: int | UnsetType = UNSET
    created_at: Time | UnsetType = UNSET
    updated_at: Time | UnsetType = UNSET


class Content(msgspec.Struct, frozen=True):
    """A content with its body."""

    id: ContentId
    name: str
    type: ContentType
    body: str
    variables: dict[str, ContentId | None]
    description: str
    tags: list[str]
    version: int
    created_at: Time
    updated_at: Time


class ContentSummary(msgspec.Struct, frozen=True, gc=False):
    """A content in a list: how its body begins and how many bytes it has."""

    id: ContentId
    name: str
    type: ContentType
    variables: dict[str, ContentId | None]
    description: str
    tags: list[str]
    version: int
    created_at: Time
    updated_at: Time
    body_preview: str
    body_bytes: int


class ContentVersion(msgspec.Struct, frozen=True):
    """One version of a content, the present one included; `updated_at` is when it was saved."""

    version: int
    name: str
    updated_at: Time
    body_preview: str
    body_bytes: int


class ContentCounts(msgspec.Struct, frozen=True):
    """How many contents there are, in all and of each type."""

    total: int
    by_type: dict[ContentType, int]


class CriteriaIn(In, frozen=True):
    """Criteria as YAML, to be read as rows."""

    body: CriteriaText


class ResolveIn(In, frozen=True):
    """Texts for the content's placeholders; they win over the contents that its variables link to."""

    variables: GivenVariables = msgspec.field(default_factory=dict)


class Used(msgspec.Struct, frozen=True):
    """A placeholder that was replaced, and the content it was replaced by; null if by a text that was given."""

    name: str
    content_id: ContentId | None


class Resolution(msgspec.Struct, frozen=True):
    """A body with its placeholders replaced; those in `unresolved` still stand in it."""

    body: str
    unresolved: list[str]
    used: list[Used]
