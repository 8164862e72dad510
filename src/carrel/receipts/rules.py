"""The rules that make a ranking and its words of the judges' verdicts, as one digest of their sources."""

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

_NO_RULES: Final = frozenset({"asking", "__init__.py"})
"""Parts of `carrel.evaluation` that speak with models, or say nothing: they decide nothing about a ranking."""
_OUTSIDE: Final = (
    ("carrel.runs.verdicts", ("combining.py", "judgement.py", "wording.py")),
    ("carrel.providers", ("catalogue.py", "hosts.py")),
)
"""Other modules that apply the rules to a round, and that know which hosts are the providers' own."""


@cache
def digest() -> str:
    """SHA-256, in hex, of every source file that can change a ranking or its words, with the file's name."""
    found = hashlib.sha256()
    for name, source in sorted(_sources()):
        found.update(f"{name}\n{len(source)}\n".encode() + source)
    return found.hexdigest()


def _sources() -> Iterator[tuple[str, bytes]]:
    yield from _below(files("carrel.evaluation"), "evaluation")
    for package, names in _OUTSIDE:
        for name in names:
            yield f"{package}/{name}", (files(package) / name).read_bytes()


def _below(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.name in _NO_RULES:
            continue
        if entry.is_dir():
            yield from _below(entry, f"{path}/{entry.name}")
        elif entry.name.endswith(".py"):
            yield f"{path}/{entry.name}", entry.read_bytes()
