"""The dependencies that every route can take: `paging: NamedDependency[Paging]`, `if_match: NamedDependency[...]`.

They are not in `paging` and `etag`, because stores use those modules, which therefore know no web framework.
"""

from typing import Annotated

from litestar.params import HeaderParameter, QueryParameter

from carrel.kit.http import etag
from carrel.kit.http.etag import IfMatch
from carrel.kit.sqlite import paging
from carrel.kit.sqlite.paging import DEFAULT_LIMIT, MAX_LIMIT, Paging


def provide_paging(
    limit: Annotated[
        int, QueryParameter(ge=1, le=MAX_LIMIT, description="Rows in a page at most; a page of large rows has fewer.")
    ] = DEFAULT_LIMIT,
    cursor: Annotated[str | None, QueryParameter(description="The `next_cursor` of the page before.")] = None,
) -> Paging:
    """The page of a list that the request asks for.

    Raises:
        InvalidCursor: no list returned this cursor.
    """
    return Paging(limit, None if cursor is None else paging.decode(cursor))


def provide_if_match(
    header: Annotated[
        str | None,
        HeaderParameter(name="If-Match", description="Go on only if the resource still has this ETag."),
    ] = None,
) -> IfMatch:
    """The versions of a resource that the request may change.

    Raises:
        BadInput: the header is not a list of ETags.
    """
    return etag.parse_if_match(header)
