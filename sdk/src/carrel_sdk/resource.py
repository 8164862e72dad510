"""What all things that can be changed have in common."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class Resource(Protocol):
    """Its `etag`, given back as `if_match`, makes sure that nobody else has changed it; it is no part of the body."""

    etag: str
