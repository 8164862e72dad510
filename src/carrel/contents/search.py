"""Lists of contents: all, by type, by tag, by words; always newest first."""

from typing import Any, Final

import apsw
import msgspec

from carrel.contents.schemas import ContentSummary, ContentType
from carrel.contents.store import SUMMARIES
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging, fetch

TOKENIZER: Final = ("unicode61", "remove_diacritics", "2")
"""What makes words of texts, in the index and of what is searched for (`0002_contents.sql`)."""
_SHORT_CHARACTERS: Final = 2
_FIRST_WITHOUT_SPACES: Final = "\u2e80"
"""From here on are the characters of Chinese, Japanese and Korean, where two are much of a word."""


class ContentFilters(msgspec.Struct, frozen=True):
    """Which contents to list. The search looks for `words` in name, description, tags and body; a blank finds all."""

    type: ContentType | None = None
    tag: str | None = None
    words: str | None = None

    @property
    def bounded(self) -> bool:
        """Whether one index leads straight to a page; otherwise the query may read every row for nothing."""
        return self.words is None and (self.type is None or self.tag is None)


def find(conn: Connection, filters: ContentFilters, paging: Paging) -> Page[ContentSummary]:
    """One page of the contents that satisfy every filter."""
    tables, conditions, params = "contents", [], list[Any]()
    seq = "contents.seq"
    if filters.type is not None:
        conditions.append("contents.type = ?")
        params.append(filters.type)
    if filters.tag is not None:
        # The tag's own rows are in order; from the contents of a type SQLite would have to sort all that it finds.
        tables = "content_tags CROSS JOIN contents ON contents.seq = content_tags.content_seq"
        conditions.append("content_tags.tag = ?")
        params.append(filters.tag)
        seq = "content_tags.content_seq"
    expression = match_expression(conn, filters.words) if filters.words else ""
    if expression:
        # Not joined: in descending order FTS5 makes room for eight more rows at a time, which takes seconds where the
        # C library overwrites what is freed (`vault.process`).
        conditions.append(f"{seq} IN (SELECT rowid FROM contents_text WHERE contents_text MATCH ?)")
        params.append(expression)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return fetch(conn, paging, SUMMARIES, f"FROM {tables}{where}", *params, seq=seq)


def match_expression(conn: Connection, words: str) -> str:
    """`words` in the query language of SQLite's full-text search: all of them, each as the beginning of a word.

    One or two letters have to be a whole word in a body: words that begin with them are in most texts, and FTS5 would
    put the places of every one in order, which takes 0.5 s for one letter in 100,000 texts of 4 kB.

    Empty if there are no words. An empty phrase, which finds nothing, if they have no letter or digit.
    """
    tokenize = conn.fts5_tokenizer(TOKENIZER[0], [*TOKENIZER[1:]])
    phrases = [_phrase(tokenize, word) for word in words.replace("\0", " ").split()]
    asked = " AND ".join(_beginning(phrase) for phrase in dict.fromkeys(phrases) if phrase)
    return asked or ('""' if phrases else "")


def _phrase(tokenize: apsw.FTS5Tokenizer, word: str) -> str:
    # Tokens are letters and digits alone, so nothing that a user types is read as an operator.
    reason = apsw.FTS5_TOKENIZE_QUERY
    return " ".join(map(str, tokenize(word.encode(), reason, None, include_offsets=False, include_colocated=False)))


def _beginning(phrase: str) -> str:
    last = phrase.rpartition(" ")[2]
    if len(last) > _SHORT_CHARACTERS or last >= _FIRST_WITHOUT_SPACES:
        return f'"{phrase}"*'
    return f'(- body : "{phrase}"* OR "{phrase}")'
