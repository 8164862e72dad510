"""Prints: the one place through which every word of a command reaches the terminal.

Anybody may have written a word: a file's name, a candidate in a results file, the answer of a model, a message of a
server. A terminal obeys some characters, which can set its title, write its clipboard or rewrite what stands on it;
others change the order in which a line is read. They are replaced before they are printed.
"""

import re
import sys
from typing import Final, TextIO

_OBEYED: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but the tab and the end of a line
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # of direction
    "\u2028\u2029\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # other ends of lines, and what nobody sees
    "\ud800-\udfff"  # halves of characters, which cannot be encoded
)
_obeyed = re.compile(f"[{_OBEYED}]")


def plain(text: str) -> str:
    """The text without characters that a terminal would obey or nobody would see; each becomes a question mark."""
    return _obeyed.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def plain_json(text: str) -> str:
    """Encoded JSON that means the same, with such characters escaped."""
    return _obeyed.sub(_escaped, text)


def one_line(text: str) -> str:
    """The text on one line, so that nothing in it can pass for a line of our own."""
    return " ".join(plain(text).splitlines())


def say(words: str, *, stderr: bool = False, end: str = "\n") -> None:
    """Print words for people."""
    _write(plain(words) + end, sys.stderr if stderr else sys.stdout)


def say_json(encoded: bytes, *, stderr: bool = False) -> None:
    """Print one line of encoded JSON, for programs."""
    _write(plain_json(encoded.decode()) + "\n", sys.stderr if stderr else sys.stdout)


def is_to_terminal() -> bool:
    """Whether people read stdout. A file or a program gets what a server or a file holds to the byte."""
    return sys.stdout.isatty()


def _write(text: str, stream: TextIO) -> None:
    stream.write(text)
    stream.flush()


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
