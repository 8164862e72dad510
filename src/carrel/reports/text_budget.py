"""How many bytes of texts a report takes, so that it stays small enough to be made and read."""

import html

import msgspec


class TextBudget:
    """The remaining room of the report, and how many texts it could not take."""

    def __init__(self, bytes_: int) -> None:
        self._left = bytes_
        self.left_out = 0

    def take(self, text: str | None) -> str | None:
        """The text, or `None` if there is none or no room for it."""
        if text is None:
            return None
        size = len(text)
        if size <= self._left:
            # JSON writes a control character as six bytes, a page writes a quotation mark as five.
            size = max(len(msgspec.json.encode(text)), len(html.escape(text)))
        if size > self._left:
            self.left_out += 1
            return None
        self._left -= size
        return text
