"""Which documents belong together: by what the user says, and because their texts are nearly the same.

Documents of one topic, author or source suit a candidate alike, so ten of them tell less than ten that have nothing to
do with each other. Groups of such documents are the sampling units, and a document without a group is one of its own.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

import msgspec

By = Literal["tag", "name", "map"]
"""What makes a group: the same tag, the same beginning of the name (such as a folder), or a map that the user gives."""


class Groups(msgspec.Struct, frozen=True, kw_only=True):
    """The groups of a run's documents, as the run began with them.

    `of` has the group of each document that the user put into one, by what `by` says. `near` names an earlier document
    with nearly the same text for each later one. `suggested` is what seems to make groups where the user gave none.
    """

    by: By | None = None
    of: dict[str, str] = {}
    near: dict[str, str] = {}
    suggested: By | None = None

    @property
    def joined(self) -> dict[str, str]:
        """The group of each document that is not alone: documents that are nearly the same share their groups."""
        firsts: dict[str, str] = {}
        together = [(document, firsts.setdefault(group, document)) for document, group in sorted(self.of.items())]
        return joined([*together, *sorted(self.near.items())])


class Grouping(msgspec.Struct, frozen=True, kw_only=True):
    """How the documents of a ranking belong together: `independent` groups, a document alone being one.

    `near` counts the documents whose text is nearly that of an earlier one. `by` and `suggested` are those of `Groups`.
    """

    independent: int
    by: By | None = None
    near: int = 0
    suggested: By | None = None


def joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The group of each document that is joined to another, directly or through others; it is named after one of them.

    A pair of a document with itself joins nothing.
    """
    root: dict[str, str] = {}

    def find(document: str) -> str:
        while root.setdefault(document, document) != document:
            root[document] = root[root[document]]
            document = root[document]
        return document

    found = list(pairs)
    for one, other in found:
        root[find(one)] = find(other)
    roots = {document: find(document) for document in sorted(root)}
    often = Counter(roots.values())
    return {document: one for document, one in roots.items() if often[one] > 1}


def with_copies(groups: Groups, same: Mapping[str, str]) -> dict[str, str]:
    """The group of each document that is not alone, where documents of the same text are of one group."""
    return joined([*groups.joined.items(), *same.items()])


def seen(groups: Groups | None, documents: Collection[str]) -> Grouping | None:
    """What there is to say about the groups of these documents; `None` if nothing is."""
    if groups is None or groups == Groups():
        return None
    of = groups.joined
    independent = len({of.get(document, document) for document in documents})
    near = sum(1 for document in groups.near if document in documents)
    return Grouping(independent=independent, by=groups.by, near=near, suggested=groups.suggested)


def moved(groups: Groups, same: Mapping[str, str]) -> Groups:
    """With each document that has the same text as an earlier one joined to it, and called by its name."""
    if not same or groups == Groups():
        return groups
    of = with_copies(groups, same)
    kept = {document: group for document, group in of.items() if document not in same}
    near = {document: same.get(first, first) for document, first in groups.near.items() if document not in same}
    return msgspec.structs.replace(
        groups, of=kept, near={document: first for document, first in near.items() if document != first}
    )
