"""What somebody could write into etcd who wants more than to disturb: keys and values of every wrong form."""

import json
import random
import re
from typing import Any, Final

WORDS: Final = (
    "a;set server node_a/a addr 127.0.0.1 port 6666",
    "a;set server node_a/a addr 127.0.0.1 port 6666;set server any/a addr 127.0.0.1 port 6666",
    "a\nshutdown sessions server node_a/a",
    "a\r\nset maxconn global 1",
    "a\n",
    "a ",
    " a",
    "a\tb",
    "a\\;clear map #0",
    "a << EOF\nset ssl cert\nEOF",
    "a;",
    ";",
    "#",
    '"a"',
    "'a'",
    "a%[src]",
    "a\x00b",
    "a\x1b[2J",
    "a\u2028b",
    "a\u00a0b",
    "\u0430",
    "\uff41",
    "a\u0301",
    "A",
    "-a",
    "0a",
    "a_b",
    "a.b",
    "a/b",
    "../a",
    "/etc/passwd",
    "..",
    "a" * 33,
    "a" * 100_000,
    "",
    "a=b",
    "$(id)",
    "`id`",
    "a|b",
    "a&b",
    "node_a\n    server evil 127.0.0.1:6666",
)
"""In place of a name."""
IDS: Final = tuple(word for word in WORDS if not re.fullmatch("[0-9a-z-]{1,64}", word))
"""In place of the id of a copy or a move."""
ADDRESSES: Final = (
    "127.0.0.1:6666 backup\n    server evil 127.0.0.1:6667",
    "127.0.0.1:6666;x",
    "127.0.0.1:6666 send-proxy",
    "unix@/run/x:1",
    "fd@3:1",
    "user@127.0.0.1:6666",
    "127.0.0.1:6666/path",
    "127.0.0.1:6666?x",
    "127.0.0.1:6666#x",
    "127.0.0.1",
    "127.0.0.1:666666",
    ":6666",
    "[::1]:6666]:1",
    "127.0.0.1:6666\n",
    "127.0.0.1:\u0661",
    "\u0661:1",
    "http://127.0.0.1:6666",
    "a" * 3_000 + ":1",
    "",
)
BROKEN: Final = (b"", b"{", b"\xff\xfe", b"\xef\xbb\xbf{}", b"[" * 100_000, b'{"node":"\xff"}', b"{}{}")
OTHERS: Final = (b"null", b'"a"', b"1", b"[]", b"{}")
OBJECTS: Final[tuple[object, ...]] = (None, 1, 1e999, True, [], {}, ["a"], {"node": "a"}, [[["a;b"]]])


def entry(chance: random.Random) -> bytes:
    """A value of a slot, never a good one."""
    if chance.random() < 0.1:
        return chance.choice(BROKEN + OTHERS)
    value: dict[str, Any] = {"node": "a", "copy": "new", "move": "m1", "to": "b"}
    field = chance.choice(("node", "copy", "move", "to"))
    words = WORDS if field in ("node", "to") else IDS
    value[field] = chance.choice((chance.choice(words), chance.choice(words), mutated(chance), chance.choice(OBJECTS)))
    if chance.random() < 0.1:
        value[chance.choice(WORDS)] = "a"
    return encoded(value, chance)


def mutated(chance: random.Random) -> str:
    """A good name with one character in it that does not belong there."""
    name = list(chance.choice(("a", "node-7", "carrel-0")))
    name.insert(chance.randrange(len(name) + 1), chance.choice(" ;\n\r\t\\\"'#%$&|<>=/.,:@_\x00\x7f\u0085\u2029ABC"))
    return "".join(name)


def encoded(value: object, chance: random.Random) -> bytes:
    text = json.dumps(value, ensure_ascii=chance.random() < 0.5)
    return text.encode(errors="surrogatepass")


def value(chance: random.Random) -> bytes:
    """A value of any key, never a good one."""
    kind = chance.randrange(4)
    if kind == 0:
        return chance.choice(BROKEN + OTHERS)
    if kind == 1:
        return entry(chance)
    if kind == 2:
        return encoded({"move": "m1", "step": "copying", "refusal": chance.choice(WORDS) + "\x1b[2J"}, chance)
    address = chance.choice(ADDRESSES) if chance.random() < 0.5 else "127.0.0.1:6666"
    return encoded({"address": address, "proof": chance.choice(("", "0" * 64, "f" * 64))}, chance)
