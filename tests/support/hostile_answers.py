"""Answers of a model's server that would become many more bytes, objects or pieces than they are sent as."""

from collections.abc import Callable

GOOD = b'{"choices": [{"message": {"content": "%b"}, "finish_reason": "stop"}]}'
_EVENT = b'data: {"choices": [%b]}\n\n'


def many(item: bytes, before: bytes, after: bytes, length: int) -> bytes:
    """As many items with commas between them as make so many bytes."""
    return before + b",".join([item] * ((length - len(before) - len(after)) // (len(item) + 1))) + after


def _usage(length: int) -> bytes:
    counts = b",".join(b'"%x":1' % number for number in range(length // 9))
    return b'{"choices":[{"message":{"content":"Hello"}}],"usage":{' + counts + b"}}"


SHAPES: dict[str, Callable[[int], bytes]] = {
    "choices": lambda length: many(b'{"message":{}}', b'{"choices":[', b"]}", length),
    "annotations": lambda length: many(b"{}", b'{"choices":[{"message":{"annotations":[', b"]}}]}", length),
    "parts": lambda length: many(b"{}", b'{"choices":[{"message":{"content":[', b"]}}]}", length),
    "unknown": lambda length: many(b"[]", b'{"more":[', b"]}", length),
    "usage": _usage,
    "nested": lambda length: b'{"choices":' + b"[" * length,
    "text": lambda length: GOOD % (b"ab cd " * (length // 6)),
    "wide text": lambda length: GOOD % (b"\\ud83d\\ude00" * (length // 12)),
    "spaces": lambda length: b" " * length + GOOD % b"Hello",
    "zeros": bytes,
}
"""Answers of about a length: of many elements, of deep ones, of one huge one, and of nothing."""
STREAMS: dict[str, bytes] = {
    "long texts": _EVENT % b'{"delta": {"content": "%b"}}' % (b"ab" * 10_000),
    "short texts": _EVENT % b'{"delta": {"content": "ab\\ud83d\\ude00"}}' * 400,
    "refusals": _EVENT % b'{"delta": {"refusal": "%b"}}' % (b"ab" * 10_000),
    "elements": _EVENT % many(b"{}", b"", b"", 400_000),
    "no end of a line": b"data: " + b"x" * 10_000,
}
"""What a stream says again and again, until it is given up."""
SILENT_STREAMS: dict[str, bytes] = {"empty events": b"data:{}\n" * 1_000, "empty lines": b"\n" * 10_000}
"""What a stream may say for long, although it is nothing."""
