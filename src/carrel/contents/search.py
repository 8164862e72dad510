"""Lists of contents: all, by type, by tag, by words; always newest first."""

from typing import Any

import msgspec

from carrel.contents.schemas import ContentSummary, ContentType
from carrel.contents.store import SUMMARIES
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging, fetch


class Filters(msgspec.Struct, frozen=True):
    """Which contents to list. The search looks for `words` in name, description, tags and body; a blank finds all."""

    type: ContentType | None = None
    tag: str | None = None
    words: str | None = None

    @property
    def bounded(self) -> bool:
        """Whether one index leads straight to a page; otherwise the query may read every row for nothing."""
        return self.words is None and (self.type is None or self.tag is None)


def find(conn: Connection, filters: Filters, paging: Paging) -> Page[ContentSummary]:
    """One page of the contents that satisfy every filter."""
    tables, conditions, params = "contents", [], list[Any]()
    seq = "contents.seq"
    if filters.type is not None:
        conditions.append("contents.type = ?")
        params.append(filters.type)
    if filters.tag is not None:
        tables += " JOIN content_tags ON content_tags.content_seq = contents.seq"
        conditions.append("content_tags.tag = ?")
        params.append(filters.tag)
        seq = "content_tags.content_seq"
    expression = match_expression(filters.words) if filters.words else ""
    if expression:
        tables += " JOIN contents_text ON contents_text.rowid = contents.seq"
        conditions.append("contents_text MATCH ?")
        params.append(expression)
        seq = "contents_text.rowid"
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return fetch(conn, paging, SUMMARIES, f"FROM {tables}{where}", *params, seq=seq)


def match_expression(words: str) -> str:
    """`words` in the query language of SQLite's full-text search: all of them, each as the beginning of a word.

    The function quotes every word, so SQLite reads nothing that a user types as an operator.
    """
    # A NUL would end the query.
    return " ".join('"' + word.replace('"', '""') + '"*' for word in words.replace("\0", " ").split())
