"""Counts what a JSON text is made of before anything is made from it.

Two megabytes of `[[],[],…]` become a million objects: that takes a hundred megabytes, and while the decoder makes them
nobody else gets the interpreter. To count takes a millisecond for each megabyte, and no memory beyond a copy.
"""


def are_more_than(most: int, text: bytes) -> bool:
    """Whether the text has more than `most` elements: commas and opening brackets outside of strings.

    There is at most one value more. What is no JSON counts right up to where a decoder stops.
    """
    if sum(map(text.count, (b",", b"[", b"{"))) <= most:
        return False
    # Commas in texts do not count. Without escaped quotation marks, every second piece between marks is a text.
    plain = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    # An element has two texts at most, a name and a value. More texts would be as many objects to take apart here.
    if plain.count(b'"') > 4 * (most + 1):
        return True
    outside = b"".join(plain.split(b'"')[::2])
    return sum(map(outside.count, (b",", b"[", b"{"))) > most
