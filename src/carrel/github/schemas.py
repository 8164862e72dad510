"""The requests and answers about connections to GitHub, and the types of their fields."""

from typing import Annotated, Literal, NewType

import msgspec
from msgspec import UNSET, Meta, UnsetType

from carrel.http.requests.schema import Hidden, In, Name
from carrel.kit.clock import Time
from carrel.kit.ids import Id

ConnectionId = NewType("ConnectionId", Id)

GITHUB = "https://api.github.com"
MAX_PATH_CHARACTERS = 500

Repository = Annotated[
    str,
    Meta(
        max_length=140,
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,38}/[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$(?!\n)",
        description="`owner/name`",
        examples=["octocat/texts"],
    ),
]
Branch = Annotated[
    str, Meta(max_length=200, pattern=r"^[A-Za-z0-9_]([A-Za-z0-9._/-]{0,198}[A-Za-z0-9_-])?$(?!\n)", examples=["main"])
]
Token = Annotated[str, Meta(min_length=8, max_length=500, pattern="^[!-~]+$(?!\\n)")]
SHA = r"^([0-9a-f]{40}|[0-9a-f]{64})$(?!\n)"
Sha = Annotated[str, Meta(pattern=SHA, description="A commit.")]
FilePath = Annotated[str, Meta(min_length=1, max_length=MAX_PATH_CHARACTERS)]
FolderPath = Annotated[
    str, Meta(max_length=MAX_PATH_CHARACTERS, description="A folder of the repository; empty for its root.")
]


class ConnectionIn(Hidden, In, frozen=True):
    """A repository and a token for it. Without a `branch`, the repository's default branch is used."""

    name: Name
    repository: Repository
    token: Token
    branch: Branch | None = None
    base_url: Annotated[str, Meta(max_length=500)] = GITHUB


class LastConnectionTest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The outcome of the last test."""

    ok: bool
    at: Time


class ConnectionChange(Hidden, In, frozen=True):
    """A changed connection. Without a `token` the stored one stays, but not if `base_url` changes.

    A client may send back the fields that only Carrel changes, as they are stored.
    """

    name: Name
    repository: Repository
    token: Token | None = None
    branch: Branch | None = None
    base_url: Annotated[str, Meta(max_length=500)] = GITHUB
    id: ConnectionId | UnsetType = UNSET
    hint: str | UnsetType = UNSET
    version: int | UnsetType = UNSET
    created_at: Time | UnsetType = UNSET
    updated_at: Time | UnsetType = UNSET
    last_test: LastConnectionTest | UnsetType | None = UNSET


class GithubConnection(msgspec.Struct, frozen=True, kw_only=True):
    """A connection as it is shown; `hint` is the last four characters of its token."""

    id: ConnectionId
    name: str
    repository: str
    branch: str | None
    base_url: str
    hint: str
    version: int
    created_at: Time
    updated_at: Time
    last_test: LastConnectionTest | None


class ConnectionTest(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one call with the token: what it gives access to, or the code of the error."""

    ok: bool
    latency_ms: int | None = None
    default_branch: str | None = None
    private: bool | None = None
    can_write: bool | None = None
    code: str | None = None


class TreeEntry(msgspec.Struct, frozen=True):
    """A file or folder; `bytes` is a file's size. Links and other repositories are `other`."""

    path: str
    kind: Literal["file", "folder", "other"]
    bytes: int | None


class Tree(msgspec.Struct, frozen=True):
    """What is in one folder at a commit; `truncated` when GitHub did not list all of it."""

    commit: str
    path: str
    entries: list[TreeEntry]
    truncated: bool
