"""Paths inside a repository, and names of branches: whether they are safe to send to a server. Pure."""

import re
from urllib.parse import quote

_MAX_DEPTH = 32
_BRANCH = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._/-]{0,198}[A-Za-z0-9_-])?")
_ODD = re.compile(r"[\x00-\x1f\x7f\\]")


def is_plain(path: str) -> bool:
    """Whether every part of the path is a name: none is empty, `.`, `..` or git's own folder."""
    parts = path.split("/")
    if len(parts) > _MAX_DEPTH or _ODD.search(path) is not None:
        return False
    return not any(part in ("", ".", "..") or part.lower() == ".git" or part.endswith(".lock") for part in parts) and (
        ".." not in path
    )


def is_branch(name: str) -> bool:
    """Whether this can be the name of a branch."""
    return _BRANCH.fullmatch(name) is not None and is_plain(name)


def quoted(path: str) -> str:
    """The path, escaped for a URL."""
    return quote(path, safe="/")
