"""Reading a repository: its branches, the folders of a commit, the bytes of a file. Nothing here changes it."""

import asyncio
import base64
import binascii
import hashlib
from typing import Literal, NamedTuple

import msgspec

from carrel.errors import BadInput
from carrel.github.client import Github, Target
from carrel.github.refusals import GithubNotFound, GithubUnavailable
from carrel.github.schemas import Tree, TreeEntry
from carrel.kit.git_paths import is_plain, quoted

_KINDS: dict[str, Literal["file", "folder", "other"]] = {"blob": "file", "tree": "folder"}
_LINK = "120000"
_SHA1_CHARACTERS = 40
_MOST_ENTRIES = 5_000
_MOST_KEPT = 50_000
"""Of the entries of all folders of a commit, so many stay in memory: about 20 MB."""
_MOST_BYTES = 8 * 1024 * 1024
"""Of an answer with a folder or a file: GitHub itself sends seven megabytes of a folder at most."""


class _Permissions(msgspec.Struct, frozen=True):
    push: bool = False


class About(msgspec.Struct, frozen=True):
    """What GitHub says of a repository."""

    default_branch: str
    private: bool
    permissions: _Permissions = _Permissions()


class _Object(msgspec.Struct, frozen=True):
    sha: str


class _Ref(msgspec.Struct, frozen=True):
    object: _Object


class _Commit(msgspec.Struct, frozen=True):
    sha: str
    tree: _Object


class _Node(msgspec.Struct, frozen=True):
    path: str
    mode: str
    type: str
    sha: str
    size: int | None = None


class _Nodes(msgspec.Struct, frozen=True):
    tree: list[_Node]
    truncated: bool = False


class _Blob(msgspec.Struct, frozen=True):
    content: str
    encoding: str


class BranchHead(NamedTuple):
    """A commit and the tree of its root folder."""

    commit: str
    tree: str


class File(NamedTuple):
    """A file of a commit: where its bytes are, and how many."""

    path: str
    sha: str
    bytes: int


async def about(github: Github, target: Target) -> About:
    """The repository as this token sees it."""
    return await github.ask(target, "GET", "", About)


async def branch_of(github: Github, target: Target) -> str:
    """The connection's branch, or else the repository's default branch."""
    if target.branch is not None:
        return target.branch
    found = (await about(github, target)).default_branch
    if not is_plain(found):
        raise GithubUnavailable
    return found


async def head(github: Github, target: Target, branch: str) -> BranchHead:
    """The newest commit of a branch.

    Raises:
        GithubNotFound: there is no such branch.
    """
    # This route takes only whole names; another route takes beginnings.
    ref = await github.ask(target, "GET", f"/git/ref/heads/{quoted(branch)}", _Ref)
    return await at(github, target, ref.object.sha)


async def at(github: Github, target: Target, commit: str) -> BranchHead:
    """A commit by its sha."""
    found = await github.ask(target, "GET", f"/git/commits/{quoted(commit)}", _Commit)
    return BranchHead(found.sha, found.tree.sha)


async def start(github: Github, target: Target, commit: str | None) -> BranchHead:
    """The given commit, or else the newest one of the connection's branch."""
    if commit is not None:
        return await at(github, target, commit)
    return await head(github, target, await branch_of(github, target))


async def folder(github: Github, target: Target, commit: str | None, path: str) -> Tree:
    """What is in one folder, folders first.

    Raises:
        BadInput: this is not a path.
        GithubNotFound: there is no such folder.
    """
    _check(path, "path")
    point = await start(github, target, commit)
    listed = await Folders(github, target, point).listed(path)
    # There may be tens of thousands.
    return await asyncio.to_thread(_tree, point, path, listed)


def _tree(point: BranchHead, path: str, listed: "_Folder") -> Tree:
    entries = [TreeEntry(_join(path, node.path), _kind(node), node.size) for node in listed.nodes.values()]
    entries.sort(key=lambda entry: (entry.kind != "folder", entry.path))
    cut = listed.truncated or len(entries) > _MOST_ENTRIES
    return Tree(point.commit, path, entries[:_MOST_ENTRIES], cut)


class _Folder(NamedTuple):
    """What is in a folder, by its names."""

    nodes: dict[str, _Node]
    truncated: bool


class Folders:
    """The folders of one commit. Each is fetched by itself, so that GitHub never truncates a listing."""

    def __init__(self, github: Github, target: Target, point: BranchHead) -> None:
        self._github = github
        self._target = target
        self._point = point
        self._known: dict[str, _Folder] = {}
        self._kept = 0

    async def listed(self, path: str) -> _Folder:
        """What is in the folder; the empty path is the root.

        Raises:
            GithubNotFound: there is no such folder.
        """
        if path not in self._known:
            sha = self._point.tree
            if path:
                above, _, name = path.rpartition("/")
                node = (await self.listed(above)).nodes.get(name)
                if node is None or _kind(node) != "folder":
                    raise GithubNotFound
                sha = node.sha
            url = f"/git/trees/{quoted(sha)}"
            found = await self._github.ask(self._target, "GET", url, _Nodes, most_bytes=_MOST_BYTES)
            if self._kept + len(found.tree) > _MOST_KEPT:
                self._known.clear()
                self._kept = 0
            self._known[path] = _Folder({node.path: node for node in found.tree}, found.truncated)
            self._kept += len(found.tree)
        return self._known[path]

    async def file(self, path: str) -> File | None:
        """The file at this path; `None` if there is none."""
        above, _, name = path.rpartition("/")
        try:
            found = (await self.listed(above)).nodes.get(name)
        except GithubNotFound:
            return None
        return None if found is None or _kind(found) != "file" else File(path, found.sha, found.size or 0)


async def read(github: Github, target: Target, file: File) -> bytes:
    """The bytes of a file, compared with the hash by which git names them.

    Raises:
        GithubUnavailable: the bytes do not have that hash.
    """
    # A file may be longer where the operator allows longer contents. It comes in base64, with line breaks.
    most = max(_MOST_BYTES, file.bytes * 3 // 2)
    blob = await github.ask(target, "GET", f"/git/blobs/{quoted(file.sha)}", _Blob, most_bytes=most)
    if blob.encoding != "base64":
        raise GithubUnavailable
    try:
        # GitHub breaks the lines; apart from that only base64's alphabet may occur.
        body = base64.b64decode(blob.content.replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        raise GithubUnavailable from None
    if blob_sha(body, len(file.sha)) != file.sha:
        raise GithubUnavailable
    return body


def blob_sha(body: bytes, characters: int = _SHA1_CHARACTERS) -> str:
    """The name that git gives to a file with these bytes."""
    # Security does not depend on it: GitHub was asked for the file by this hash, the older of git's two.
    digest = hashlib.sha1 if characters == _SHA1_CHARACTERS else hashlib.sha256
    return digest(b"blob %d\0" % len(body) + body).hexdigest()


def check_path(path: str, place: str) -> None:
    """Refuse a text that is not the path of a file. `place` names the field.

    Raises:
        BadInput: it is not.
    """
    if not is_plain(path):
        raise BadInput.at(place, "is not a path inside the repository")


def _check(path: str, place: str) -> None:
    if path:
        check_path(path, place)


def _kind(node: _Node) -> Literal["file", "folder", "other"]:
    return "other" if node.mode == _LINK else _KINDS.get(node.type, "other")


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
