"""Checks the variables of a content before it is saved: free names, links to existing contents, and no circle."""

from collections.abc import Iterable, Mapping

from carrel.contents.resolve import RESERVED, VariableCycle
from carrel.errors import BadInput, FieldError
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import as_json
from carrel.vault.ids import ContentId

Links = Mapping[str, ContentId | None]


def check_names(names: Iterable[str]) -> None:
    """Refuse the names that are reserved for runs.

    Raises:
        BadInput: a name is reserved.
    """
    faults = tuple(FieldError(f"variables.{name}", "is a reserved name") for name in names if name in RESERVED)
    if faults:
        raise BadInput(errors=faults)


def check(conn: Connection, variables: Links, content_id: ContentId | None = None) -> None:
    """Check what `variables` link to; `content_id` is the content that has them, if it exists already.

    Raises:
        BadInput: a linked content does not exist, or a name is reserved.
        VariableCycle: a linked content leads back to `content_id`.
    """
    check_names(variables)
    linked = sorted({target for target in variables.values() if target is not None})
    if not linked:
        return
    found = conn.column("SELECT id FROM contents WHERE id IN (SELECT value FROM json_each(?))", as_json(linked))
    missing = _at(variables, set(linked).difference(found), "is not the id of a content")
    if missing:
        raise BadInput(errors=missing)
    if content_id is not None:
        circling = _at(variables, _above(conn, content_id, linked), "leads back to this content")
        if circling:
            raise VariableCycle(errors=circling)


def _above(conn: Connection, content_id: ContentId, candidates: list[ContentId]) -> set[ContentId]:
    """Which of `candidates` hold `content_id`, directly or through others, or are it."""
    above = conn.column(
        "WITH RECURSIVE above (id) AS ("
        " SELECT ? UNION SELECT contents.id FROM above"
        " JOIN content_links ON content_links.linked_id = above.id"
        " JOIN contents ON contents.seq = content_links.content_seq)"
        " SELECT id FROM above WHERE id IN (SELECT value FROM json_each(?))",
        *(content_id, as_json(candidates)),
    )
    return set(above)


def _at(variables: Links, targets: set[ContentId], message: str) -> tuple[FieldError, ...]:
    return tuple(FieldError(f"variables.{name}", message) for name, target in variables.items() if target in targets)
