"""Parameters that routes share: a page of a list, a condition on the version, days from and to."""

from typing import Annotated

from carrel.http.answers import etag
from carrel.http.answers.etag import IfMatch
from carrel.http.requests.routing import Header, Query
from carrel.kit.sqlite import paging
from carrel.kit.sqlite.paging import DEFAULT_LIMIT, MAX_LIMIT, Paging

RoundNumber = Annotated[int | None, Query(name="round", ge=1, description="Of this round; else of the present one.")]


FromDay = Annotated[str | None, Query(name="from", max_length=10, description="The first day, such as 2026-11-21.")]
ToDay = Annotated[str | None, Query(name="to", max_length=10, description="The day after the last one.")]


def provide_paging(
    limit: Annotated[
        int, Query(ge=1, le=MAX_LIMIT, description="Rows in a page at most; a page of large rows has fewer.")
    ] = DEFAULT_LIMIT,
    cursor: Annotated[str | None, Query(description="The `next_cursor` of the page before.")] = None,
) -> Paging:
    """The page of a list that the request asks for.

    Raises:
        InvalidCursor: no list returned this cursor.
    """
    return Paging(limit, None if cursor is None else paging.decode(cursor))


def provide_if_match(
    header: Annotated[
        str | None,
        Header(name="If-Match", description="Go on only if the resource still has this ETag."),
    ] = None,
) -> IfMatch:
    """The versions of a resource that the request may change.

    Raises:
        BadInput: the header is not a list of ETags.
    """
    return etag.parse_if_match(header)
