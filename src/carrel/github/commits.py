"""Writing to a repository: files become one commit on a branch, which appears in one step or not at all.

Before that step GitHub holds loose objects that no branch shows. The step never forces: if somebody else committed
meanwhile, nothing of theirs is lost, and the caller gets an error.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from carrel.errors import BadInput
from carrel.github import repository
from carrel.github.client import Github, Target
from carrel.github.refusals import GithubNotFound, GithubUnavailable
from carrel.github.repository import BranchHead
from carrel.kit.git_paths import is_plain, quoted

MAX_FILES = 500
MAX_BYTES = 16 * 1024 * 1024
_TREE_BYTES = 2 * 1024 * 1024
_TREE_FILES = 100
"""A commit's files are sent in several trees, each based on the one before, so that no request is too large."""


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


class _Created(msgspec.Struct, frozen=True):
    sha: str


class _Comparison(msgspec.Struct, frozen=True):
    status: str


class _Ref(msgspec.Struct, frozen=True):
    object: _Created


class CommitResult(NamedTuple):
    """The branch's commit now. `changed` is false if the branch held the same files already."""

    commit: str
    branch: str
    changed: bool
    new_branch: bool


class Memory(NamedTuple):
    """What is known about earlier attempts at the same commit, so that all of them together make one at most.

    `made` is the commit of an attempt whose outcome is unknown. `keep` is called with a commit before it is shown.
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
) -> CommitResult:
    """Put the files (text by path) on a branch, the connection's unless another is named, as one commit.

    A branch that does not exist begins at the connection's branch. Files that are not named stay as they are. If an
    earlier attempt succeeded after all, the branch stays as it is, even if the files have changed since.

    Raises:
        BadInput: `branch` cannot be the name of one.
        GithubConflict: somebody else committed meanwhile, or the branch is protected.
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
        return CommitResult(point.commit, name, changed=False, new_branch=False)
    tree = await _tree(github, target, point, files)
    if tree == point.tree and not new:
        return CommitResult(point.commit, name, changed=False, new_branch=False)
    made = point.commit
    if tree != point.tree:
        body = _CommitIn(message, tree, [point.commit])
        made = (await github.ask(target, "POST", "/git/commits", _Created, body)).sha
        if memory is not None:
            await memory.keep(made)
    await _show(github, target, name, made, new=new)
    return CommitResult(made, name, changed=tree != point.tree, new_branch=new)


async def _holds(github: Github, target: Target, point: BranchHead, sha: str) -> bool:
    """Whether a commit is an ancestor of `point`."""
    try:
        # The second page: only the first one lists the changes of the commits, which may be long.
        path = f"/compare/{sha}...{point.commit}?per_page=1&page=2"
        return (await github.ask(target, "GET", path, _Comparison)).status in ("ahead", "identical")
    except GithubNotFound:
        # The commit was made but never shown, and GitHub has deleted it since.
        return False


async def _tree(github: Github, target: Target, point: BranchHead, files: Mapping[str, str]) -> str:
    tree = point.tree
    for leaves in _batches(files):
        tree = (await github.ask(target, "POST", "/git/trees", _Created, _TreeIn(tree, leaves))).sha
    return tree


async def _show(github: Github, target: Target, branch: str, sha: str, *, new: bool) -> None:
    """Move the branch to the commit. This is the only step that others can see."""
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
