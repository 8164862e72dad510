"""A local server that keeps one git repository and takes what GitHub's REST documentation describes, nothing else."""

import asyncio
import base64
import hashlib
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

import msgspec
from aiohttp import web
from msgspec import Meta

from tests.support.strict_servers import serving

TOKEN = "github_pat_canaryTokenVermilion0123456789"
REPOSITORY = "octo/texts"
_SHA = re.compile(r"[0-9a-f]{40}")


class _In(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A body: fields that are not documented are refused."""


class _Leaf(_In):
    path: Annotated[str, Meta(min_length=1)]
    mode: Literal["100644", "100755", "040000", "160000", "120000"]
    type: Literal["blob", "tree", "commit"]
    content: str


class _TreeIn(_In):
    tree: list[_Leaf]
    base_tree: str


class _CommitIn(_In):
    message: Annotated[str, Meta(min_length=1)]
    tree: str
    parents: list[str]


class _RefIn(_In):
    ref: Annotated[str, Meta(pattern="^refs/heads/.+")]
    sha: str


class _Move(_In):
    sha: str
    force: bool = False


def sha_of(kind: str, body: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(body)}\0".encode() + body).hexdigest()


class GitHub:
    """Objects by sha as git has them: bytes of blobs, {path: (mode, sha)} of trees, (tree, parents) of commits."""

    def __init__(self) -> None:
        self.port = 0
        self.blobs: dict[str, bytes] = {}
        self.trees: dict[str, dict[str, tuple[str, str]]] = {}
        self.commits: dict[str, tuple[str, list[str], str]] = {}
        self.refs: dict[str, str] = {}
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        self.refuse: dict[str, list[web.Response]] = {}
        """Refusals by the last part of the method and path that they are for; each once."""
        self.meanwhile: dict[str, Any] = {}
        """What happens just before the branch is moved."""
        self.can_push = True
        self.held: asyncio.Event | None = None
        """Nobody is answered before it is set."""
        self.unheard: list[str] = []
        """What is done, but not answered as it should be: methods and paths by their last part, each once."""
        self.reached = asyncio.Event()
        self.waiting = 0
        self.refs["main"] = self.commit({"README.md": b"# Texts\n"}, [])

    @property
    def base_url(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def host(self) -> str:
        """What `CARREL_GITHUB_HOSTS` must name."""
        return f"localhost:{self.port}"

    def commit(self, files: dict[str, bytes], parents: list[str], message: str = "m") -> str:
        """A commit of these files, shown by no branch."""
        sha = sha_of("commit", json.dumps([self.tree(files), parents, message]).encode())
        self.commits[sha] = (self.tree(files), parents, message)
        return sha

    def tree(self, files: dict[str, bytes]) -> str:
        here: dict[str, tuple[str, str]] = {}
        below: dict[str, dict[str, bytes]] = {}
        for path, body in files.items():
            name, _, rest = path.partition("/")
            if rest:
                below.setdefault(name, {})[rest] = body
            else:
                sha = sha_of("blob", body)
                self.blobs[sha] = body
                here[name] = ("100644", sha)
        for name, inner in below.items():
            here[name] = ("040000", self.tree(inner))
        sha = sha_of("tree", json.dumps(sorted(here.items())).encode())
        self.trees[sha] = here
        return sha

    def files(self, branch: str = "main") -> dict[str, bytes]:
        """What a branch shows."""
        return self._flat(self.commits[self.refs[branch]][0])

    def _flat(self, tree: str, above: str = "") -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for name, (mode, sha) in self.trees[tree].items():
            if mode == "040000":
                found |= self._flat(sha, f"{above}{name}/")
            elif sha in self.blobs:
                found[above + name] = self.blobs[sha]
        return found

    def routes(self) -> list[web.RouteDef]:
        return [web.route("*", "/{tail:.*}", self.answer)]

    async def answer(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.reached.set()
        if self.held is not None:
            self.waiting += 1
            await self.held.wait()
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.asked.append((request.method, request.path_qs, headers, body))
        refused = self._unwelcome(request, headers, body)
        if refused is not None:
            return refused
        said = f"{request.method} {request.path}"
        for end, refusals in self.refuse.items():
            if said.endswith(end) and refusals:
                return refusals.pop(0)
        root = f"/repos/{REPOSITORY}"
        if request.path != root and not request.path.startswith((f"{root}/git/", f"{root}/compare/")):
            return _error(404, "Not Found")
        try:
            done = self._routed(request.method, request.path.removeprefix(root), body)
        except msgspec.ValidationError as fault:
            return _error(422, str(fault))
        lost = next((end for end in self.unheard if said.endswith(end)), None)
        if lost is None:
            return done
        self.unheard.remove(lost)
        return _error(502, "Bad Gateway")

    def _unwelcome(self, request: web.Request, headers: dict[str, str], body: bytes) -> web.Response | None:
        if TOKEN in str(request.url) or TOKEN.encode() in body:
            return _error(400, "The token stands where it should not.")
        if not headers.get("user-agent"):
            return _error(403, "Request forbidden by administrative rules.")
        if (
            headers.get("accept") != "application/vnd.github+json"
            or headers.get("x-github-api-version") != "2022-11-28"
        ):
            return _error(415, "Unsupported 'Accept' header or version.")
        if body and headers.get("content-type") != "application/json":
            return _error(415, "Unsupported media type.")
        if headers.get("authorization") != f"Bearer {TOKEN}":
            return _error(401, "Bad credentials")
        return None

    def _routed(self, method: str, path: str, body: bytes) -> web.Response:
        if method == "GET":
            return self._read(path)
        if not self.can_push:
            return _error(403, "Resource not accessible by personal access token")
        if (method, path) == ("POST", "/git/trees"):
            return self._new_tree(msgspec.json.decode(body, type=_TreeIn))
        if (method, path) == ("POST", "/git/commits"):
            return self._new_commit(msgspec.json.decode(body, type=_CommitIn))
        if (method, path) == ("POST", "/git/refs"):
            return self._new_ref(msgspec.json.decode(body, type=_RefIn))
        if method == "PATCH" and path.startswith("/git/refs/heads/"):
            return self._move(path.removeprefix("/git/refs/heads/"), msgspec.json.decode(body, type=_Move))
        return _error(404, "Not Found")

    def _read(self, path: str) -> web.Response:
        if not path:
            allowed = {"admin": False, "push": self.can_push, "pull": True}
            return _ok({"full_name": REPOSITORY, "private": True, "default_branch": "main", "permissions": allowed})
        if path.startswith("/compare/"):
            return self._compared(*path.removeprefix("/compare/").split("..."))
        kind, _, name = path.removeprefix("/git/").partition("/")
        if kind == "ref" and name.removeprefix("heads/") in self.refs:
            return self._ref(name.removeprefix("heads/"))
        if kind in ("commits", "trees", "blobs") and not _SHA.fullmatch(name):
            return _error(422, "The sha parameter must be exactly 40 characters and contain only [0-9a-f].")
        if kind == "commits" and name in self.commits:
            tree, parents, message = self.commits[name]
            return _ok(
                {"sha": name, "tree": {"sha": tree}, "parents": [{"sha": one} for one in parents], "message": message}
            )
        if kind == "trees" and name in self.trees:
            return _ok(
                {"sha": name, "tree": [self._node(*one) for one in self.trees[name].items()], "truncated": False}
            )
        if kind == "blobs" and name in self.blobs:
            # With line breaks, as GitHub has them.
            content = base64.encodebytes(self.blobs[name]).decode()
            return _ok({"sha": name, "content": content, "encoding": "base64", "size": len(self.blobs[name])})
        return _error(404, "Not Found")

    def _compared(self, base: str, head: str) -> web.Response:
        if base not in self.commits or head not in self.commits:
            return _error(404, "Not Found")
        ahead = base in self._ancestors(head)
        status = "identical" if base == head else "ahead" if ahead else "diverged"
        return _ok({"status": status, "ahead_by": 0, "behind_by": 0, "total_commits": 0, "commits": []})

    def _node(self, name: str, found: tuple[str, str]) -> dict[str, Any]:
        mode, sha = found
        node = {"path": name, "mode": mode, "sha": sha, "url": "x"}
        if mode == "040000":
            return node | {"type": "tree"}
        if mode == "160000":
            return node | {"type": "commit"}
        return node | {"type": "blob", "size": len(self.blobs[sha])}

    def _new_tree(self, asked: _TreeIn) -> web.Response:
        if asked.base_tree not in self.trees:
            return _error(404, "Not Found")
        files = self._flat(asked.base_tree)
        for leaf in asked.tree:
            if leaf.path.startswith("/") or (leaf.mode, leaf.type) != ("100644", "blob"):
                return _error(422, "tree.path contains a malformed path component")
            files[leaf.path] = leaf.content.encode()
        sha = self.tree(files)
        return _ok({"sha": sha, "tree": [], "truncated": False}, 201)

    def _new_commit(self, asked: _CommitIn) -> web.Response:
        if asked.tree not in self.trees or not all(parent in self.commits for parent in asked.parents):
            return _error(422, "Tree SHA does not exist")
        sha = self.commit(self._flat(asked.tree), asked.parents, asked.message)
        return _ok({"sha": sha, "tree": {"sha": asked.tree}, "message": asked.message}, 201)

    def _new_ref(self, asked: _RefIn) -> web.Response:
        name = asked.ref.removeprefix("refs/heads/")
        if name in self.refs:
            return _error(422, "Reference already exists")
        if asked.sha not in self.commits:
            return _error(422, "Object does not exist")
        self.refs[name] = asked.sha
        return self._ref(name, 201)

    def _move(self, name: str, asked: _Move) -> web.Response:
        self.refs |= self.meanwhile
        if name not in self.refs:
            return _error(422, "Reference does not exist")
        if asked.sha not in self.commits:
            return _error(422, "Object does not exist")
        if self.refs[name] not in self._ancestors(asked.sha) and not asked.force:
            return _error(422, "Update is not a fast forward")
        self.refs[name] = asked.sha
        return self._ref(name)

    def _ancestors(self, sha: str) -> set[str]:
        return {sha}.union(*(self._ancestors(parent) for parent in self.commits[sha][1]))

    def _ref(self, name: str, status: int = 200) -> web.Response:
        return _ok({"ref": f"refs/heads/{name}", "object": {"type": "commit", "sha": self.refs[name]}}, status)


def _ok(said: dict[str, Any], status: int = 200) -> web.Response:
    return web.json_response(said, status=status, content_type="application/json")


def _error(status: int, message: str, **headers: str) -> web.Response:
    return web.json_response({"message": f"{message} {TOKEN}"}, status=status, headers=headers)


def refusal(status: int, headers: dict[str, str] | None = None) -> web.Response:
    """A refusal, which repeats the token as no server should."""
    return web.json_response({"message": f"no: {TOKEN}"}, status=status, headers=headers)


@asynccontextmanager
async def github() -> AsyncIterator[GitHub]:
    """The server on a free port of this machine, in this event loop."""
    async with serving(GitHub(), 8 * 1024 * 1024) as server:
        yield server
