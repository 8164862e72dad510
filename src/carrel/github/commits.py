"""Writing to a repository: files become one commit on a branch, which appears in one step or not at all.

What GitHub holds before that step are loose pieces that no branch shows. The step never forces: if somebody else's
commit came between, nothing of theirs is lost and the caller is told.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from carrel.errors import BadInput
from carrel.github import repository
from carrel.github.client import Github
from carrel.github.refusals import GithubNotFound, GithubUnavailable
from carrel.github.repository import Point
from carrel.github.target import Target
from carrel.kit.git_paths import is_plain, quoted

MAX_FILES = 500
MAX_BYTES = 16 * 1024 * 1024
_TREE_BYTES = 2 * 1024 * 1024
_TREE_FILES = 100
"""A commit's files go in several trees, each upon the one before, so that no request is too large for GitHub."""


class _Leaf(msgspec.Struct, frozen=True):
    path: str
    content: str
    mode: str = "100644"
    type: str = "blob"


class _TreeIn(msgspec.Struct, frozen=True):
    base_tree: str
    tree: list[_Leaf]


class _CommitIn(msgspec.Struct, frozen=True):
    message: str
    tree: str
    parents: list[str]


class _RefIn(msgspec.Struct, frozen=True):
    ref: str
    sha: str


class _Move(msgspec.Struct, frozen=True):
    sha: str
    force: bool = False


class _Made(msgspec.Struct, frozen=True):
    sha: str


class _Compared(msgspec.Struct, frozen=True):
    status: str


class _Ref(msgspec.Struct, frozen=True):
    object: _Made


class Committed(NamedTuple):
    """Where the branch stands now; `changed` is false if it held the files already, as they are."""

    commit: str
    branch: str
    changed: bool
    new_branch: bool


class Memory(NamedTuple):
    """What is known of earlier attempts at the same commit, so that all of them together make one at most.

    `made` is the commit that one of them made and whose fate is unknown; `keep` is told of a commit before it is shown.
    """

    made: str | None
    keep: Callable[[str], Awaitable[None]]


async def commit(
    github: Github,
    target: Target,
    files: Mapping[str, str],
    *,
    message: str,
    branch: str | None,
    memory: Memory | None = None,
) -> Committed:
    """Put the files (text by path) on a branch, the connection's unless another is named, as one commit.

    A branch that there is not begins where the connection's branch stands. Files that are not named stay as they are.
    If an earlier attempt had come through after all, the branch stays as it is, whatever became of the files since.

    Raises:
        BadInput: `branch` cannot be the name of one.
        GithubConflict: somebody else's commit came between, or the branch is protected.
        CarrelError: another of `refusals.OF_GITHUB`.
    """
    if branch is not None and not is_plain(branch):
        raise BadInput.at("branch", "is not the name of a branch")
    own = await repository.branch_of(github, target)
    name = branch or own
    new = False
    try:
        point = await repository.head(github, target, name)
    except GithubNotFound:
        if name == own:
            raise
        point, new = await repository.head(github, target, own), True
    if memory is not None and memory.made is not None and await _holds(github, target, point, memory.made):
        return Committed(point.commit, name, changed=False, new_branch=False)
    tree = await _tree(github, target, point, files)
    if tree == point.tree and not new:
        return Committed(point.commit, name, changed=False, new_branch=False)
    made = point.commit
    if tree != point.tree:
        body = _CommitIn(message, tree, [point.commit])
        made = (await github.ask(target, "POST", "/git/commits", _Made, body)).sha
        if memory is not None:
            await memory.keep(made)
    await _show(github, target, name, made, new=new)
    return Committed(made, name, changed=tree != point.tree, new_branch=new)


async def _holds(github: Github, target: Target, point: Point, sha: str) -> bool:
    """Whether a commit is part of what leads to `point`."""
    try:
        # The second page: what the commits changed stands on the first one only, and may be long.
        path = f"/compare/{sha}...{point.commit}?per_page=1&page=2"
        return (await github.ask(target, "GET", path, _Compared)).status in ("ahead", "identical")
    except GithubNotFound:
        # Made, but never shown, and cleared away since.
        return False


async def _tree(github: Github, target: Target, point: Point, files: Mapping[str, str]) -> str:
    tree = point.tree
    for leaves in _batches(files):
        tree = (await github.ask(target, "POST", "/git/trees", _Made, _TreeIn(tree, leaves))).sha
    return tree


async def _show(github: Github, target: Target, branch: str, sha: str, *, new: bool) -> None:
    """Let the branch show the commit: the one step that anybody sees."""
    if new:
        ref = await github.ask(target, "POST", "/git/refs", _Ref, _RefIn(f"refs/heads/{branch}", sha))
    else:
        ref = await github.ask(target, "PATCH", f"/git/refs/heads/{quoted(branch)}", _Ref, _Move(sha))
    if ref.object.sha != sha:
        raise GithubUnavailable


def _batches(files: Mapping[str, str]) -> Iterator[list[_Leaf]]:
    batch: list[_Leaf] = []
    size = 0
    for path, content in files.items():
        if batch and (size + len(content) > _TREE_BYTES or len(batch) >= _TREE_FILES):
            yield batch
            batch, size = [], 0
        batch.append(_Leaf(path, content))
        size += len(content)
    if batch:
        yield batch
