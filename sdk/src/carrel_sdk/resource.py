"""What all resources that can be changed have in common."""

import msgspec


class Resource(msgspec.Struct, kw_only=True):
    """A thing that can be changed. Its `etag`, given back as `if_match`, makes sure that nobody else changed it."""

    etag: str = ""
