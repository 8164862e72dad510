"""Which documents of a run belong together: as its configuration says, or as tags and names suggest."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from carrel.evaluation.ranking.grouping import By
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.presets.configuration import DocumentGroups
from carrel.vault.ids import ContentId

LEAST_GROUPS: Final = 3
COVERED: Final = 0.8
"""So many groups of several documents that hold this part of all documents suggest that documents come in groups."""


class _Labels(NamedTuple):
    name: str
    tags: list[str]


class Belonging(NamedTuple):
    """The group of each document in the order of the inputs, and what suggests groups where none are given."""

    groups: list[str | None]
    suggested: By | None


_labels = Select(_Labels)


def belonging(conn: Connection, inputs: Sequence[ContentId], groups: DocumentGroups | None) -> Belonging:
    """Find the groups of the inputs."""
    rows = [_labels.one(conn, "FROM contents WHERE id = ?", content_id) or _Labels("", []) for content_id in inputs]
    if groups is None:
        return Belonging([None] * len(rows), _suggested(rows))
    if groups.by == "map":
        return Belonging([groups.of.get(content_id) for content_id in inputs], None)
    if groups.by == "name":
        return Belonging([beginning(row.name) for row in rows], None)
    return Belonging([_tag(row.tags, groups.prefix) for row in rows], None)


def beginning(name: str) -> str:
    """The folder of a name like `letters/anna 1`; without one, the words before the first mark or number.

    A name that begins with a mark or number is its own beginning.
    """
    folder, slash, _ = name.rpartition("/")
    if slash:
        return folder.casefold()
    end = next((i for i, sign in enumerate(name) if not (sign.isalpha() or sign.isspace())), len(name))
    return (name[:end].strip() or name.strip()).casefold()


def _tag(tags: Sequence[str], prefix: str) -> str | None:
    """The first tag that begins so."""
    return next((tag.casefold() for tag in tags if tag.casefold().startswith(prefix.casefold())), None)


def _suggested(rows: Sequence[_Labels]) -> By | None:
    if _come_in_groups([_tag(row.tags, "") for row in rows]):
        return "tag"
    return "name" if _come_in_groups([beginning(row.name) for row in rows]) else None


def _come_in_groups(groups: Sequence[str | None]) -> bool:
    several = [often for often in Counter(group for group in groups if group).values() if often > 1]
    return len(several) >= LEAST_GROUPS and sum(several) >= COVERED * len(groups)
