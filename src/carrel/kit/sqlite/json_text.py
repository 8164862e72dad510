"""JSON as the text that a column of a database holds."""

import msgspec

_encode = msgspec.json.Encoder().encode


def as_json(value: object) -> str:
    """`value` as JSON."""
    return _encode(value).decode()
