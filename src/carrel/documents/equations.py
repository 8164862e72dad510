"""Formulas as LaTeX: of Word files (Office MathML) and of web pages (MathML).

The symbols stay the characters that they are; only what is built of parts, such as a fraction, needs a command.
"""

import re
from collections.abc import Callable
from typing import Final

from lxml import etree

_SKIPPED: Final = frozenset({"annotation", "annotation-xml", "none", "mphantom", "del", "moveFrom"})
_ACCENTS: Final = {
    "\u0302": "hat",
    "\u0303": "tilde",
    "\u0305": "overline",
    "\u0304": "bar",
    "\u20d7": "vec",
    "\u0307": "dot",
}
_SPACING: Final = {"^": "hat", "ˆ": "hat", "~": "tilde", "¯": "bar", "‾": "overline", "→": "vec", "˙": "dot"}
"""Accents that have a place of their own, as web pages write them over a letter."""
_BRACES: Final = {"{": r"\{", "}": r"\}"}
_NEXT_ROW: Final = r" \\ "
_NAME: Final = re.compile("^[A-Za-z]{2,}")
_COMMAND: Final = re.compile(
    "arc(cos|sin|tan)|arg|(cos|sin|tan)h?|coth?|csc|deg|det|dim|exp|gcd|hom|inf|ker|lg|lim(inf|sup)?|ln|log|max|min|Pr"
    "|sec|sup"
)
"""The functions that LaTeX has a command for."""
_OWN: Final = str.maketrans({sign: f"\\{sign}" for sign in "%#$"})
"""Signs that LaTeX would take for its own. Formulas in Word's linear form mean by `_` and `^` what LaTeX means."""
_LEAVES: Final = frozenset({"t", "mi", "mn", "mo", "mtext", "ms"})


def latex(formula: etree._Element) -> str:
    """The formula between dollar signs; nothing for one without a sign in it."""
    text = " ".join(_text(formula).split())
    return f"${text}$" if text else ""


def _text(node: etree._Element) -> str:
    name = _name(node)
    if name in _LEAVES:
        return "".join(map(str, node.itertext())).translate(_OWN)
    if name in _SKIPPED or name.endswith("Pr"):
        return ""
    made = _PARTS.get(name)
    if made:
        return made(node, [_text(one) for one in node if _is_part(one)])
    return "".join(map(_text, _elements(node))) or str(node.text or "").translate(_OWN)


def _elements(node: etree._Element) -> list[etree._Element]:
    return [one for one in node if isinstance(one.tag, str)]


def _is_part(node: etree._Element) -> bool:
    return isinstance(node.tag, str) and not _name(node).endswith("Pr")


def _name(node: etree._Element) -> str:
    return etree.QName(node).localname if isinstance(node.tag, str) else "none"


def _property(node: etree._Element, name: str, default: str) -> str:
    """A value among the properties of a part of Word's; an absent value of a property that stands there means none."""
    for found in node.iterchildren("{*}" + _name(node) + "Pr"):
        for one in found.iterchildren("{*}" + name):
            return next((str(value) for key, value in one.attrib.items() if str(key).endswith("val")), "")
    return default


def _group(text: str) -> str:
    return text if len(text) == 1 else f"{{{text}}}"


def _at(parts: list[str], place: int) -> str:
    return parts[place].strip() if place < len(parts) else ""


def _scripts(*marks: str) -> Callable[[etree._Element, list[str]], str]:
    """A base with what stands below and above it, in the order of `marks`."""

    def made(_: etree._Element, parts: list[str]) -> str:
        raised = (mark + _group(_at(parts, place)) for place, mark in enumerate(marks, 1) if _at(parts, place))
        return _at(parts, 0) + "".join(raised)

    return made


def _fraction(node: etree._Element, parts: list[str]) -> str:
    if _property(node, "type", "bar") == "lin":
        return f"{_at(parts, 0)}/{_at(parts, 1)}"
    if _property(node, "type", "bar") == "noBar" or node.get("linethickness", "").rstrip("px") == "0":
        return f"{{{_at(parts, 0)} \\atop {_at(parts, 1)}}}"
    return f"\\frac{{{_at(parts, 0)}}}{{{_at(parts, 1)}}}"


def _root(node: etree._Element, parts: list[str]) -> str:
    inner, degree = (parts[::-1] if _name(node) == "rad" else parts)[:2] if len(parts) > 1 else (_at(parts, 0), "")
    return f"\\sqrt[{degree}]{{{inner}}}" if degree.strip() else f"\\sqrt{{{inner}}}"


def _fences(node: etree._Element, parts: list[str]) -> str:
    if _name(node) == "mfenced":
        return str(node.get("open", "(")) + ", ".join(parts) + str(node.get("close", ")"))
    opening, between, closing = (
        _property(node, name, usual) for name, usual in (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
    )
    return _BRACES.get(opening, opening) + between.join(parts) + _BRACES.get(closing, closing)


def _sum(node: etree._Element, parts: list[str]) -> str:
    return f"{_property(node, 'chr', '∫')}{_bounds(parts)} {_at(parts, 2)}"


def _bounds(parts: list[str]) -> str:
    return "".join(mark + _group(_at(parts, at)) for at, mark in enumerate("_^") if _at(parts, at))


def _accent(node: etree._Element, parts: list[str]) -> str:
    command = _ACCENTS.get(_property(node, "chr", "\u0302"))
    return f"\\{command}{{{_at(parts, 0)}}}" if command else _at(parts, 0) + _property(node, "chr", "")


def _over(node: etree._Element, parts: list[str]) -> str:
    command = _SPACING.get(_at(parts, 1))
    return f"\\{command}{{{_at(parts, 0)}}}" if command else _scripts("^")(node, parts)


def _side(node: etree._Element, top: str, bottom: str) -> str:
    return top if _property(node, "pos", "bot") == "top" else bottom


def _grouped(node: etree._Element, parts: list[str]) -> str:
    """A brace over or under something, or a sign such as an arrow with something on its other side."""
    sign = _property(node, "chr", "⏟")
    if sign in ("⏞", "⏟"):
        return f"\\{'over' if sign == '⏞' else 'under'}brace{{{_at(parts, 0)}}}"
    return f"\\{_side(node, 'under', 'over')}set{{{_at(parts, 0)}}}{{{sign}}}" if sign else _at(parts, 0)


def _before(_: etree._Element, parts: list[str]) -> str:
    return f"{{}}{_bounds(parts)}{_at(parts, 2)}"


def _function(_: etree._Element, parts: list[str]) -> str:
    """A name of several letters would otherwise run into what stands before it."""
    return f"{_NAME.sub(_command, _at(parts, 0))} {_at(parts, 1)}"


def _command(name: re.Match[str]) -> str:
    return f"\\{name[0]}" if _COMMAND.fullmatch(name[0]) else f"\\operatorname{{{name[0]}}}"


def _scripts_around(node: etree._Element, _: list[str]) -> str:
    """A base with pairs of indices and powers behind it, and behind `mprescripts` those before it."""
    base, *rest = [one for one in node if isinstance(one.tag, str)] or [node]
    names = [_name(one) for one in rest]
    at = names.index("mprescripts") if "mprescripts" in names else len(rest)

    def pairs(found: list[etree._Element]) -> str:
        marks = (("_" if place % 2 == 0 else "^", _text(one).strip()) for place, one in enumerate(found))
        return "".join(mark + _group(text) for mark, text in marks if text)

    before = pairs(rest[at + 1 :])
    return (f"{{}}{before}" if before else "") + (_text(base) if rest else "") + pairs(rest[:at])


def _matrix(_: etree._Element, parts: list[str]) -> str:
    return f"\\begin{{matrix}}{_NEXT_ROW.join(parts)}\\end{{matrix}}"


def _lines(node: etree._Element, parts: list[str]) -> str:
    return _matrix(node, parts) if len(parts) > 1 else _at(parts, 0)


_PARTS: Final[dict[str, Callable[[etree._Element, list[str]], str]]] = {
    "f": _fraction,
    "mfrac": _fraction,
    "rad": _root,
    "mroot": _root,
    "msqrt": lambda _, parts: f"\\sqrt{{{''.join(parts)}}}",
    "sSup": _scripts("^"),
    "msup": _scripts("^"),
    "mover": _over,
    "limUpp": _scripts("^"),
    "sSub": _scripts("_"),
    "msub": _scripts("_"),
    "munder": _scripts("_"),
    "limLow": _scripts("_"),
    "sSubSup": _scripts("_", "^"),
    "msubsup": _scripts("_", "^"),
    "munderover": _scripts("_", "^"),
    "sPre": _before,
    "d": _fences,
    "mfenced": _fences,
    "nary": _sum,
    "acc": _accent,
    "bar": lambda node, parts: f"\\{_side(node, 'over', 'under')}line{{{_at(parts, 0)}}}",
    "groupChr": _grouped,
    "phant": lambda node, parts: "" if _property(node, "show", "1") in ("0", "off", "false") else _at(parts, 0),
    "func": _function,
    "mr": lambda _, parts: " & ".join(parts),
    "mtr": lambda _, parts: " & ".join(parts),
    "m": _matrix,
    "mtable": _matrix,
    "eqArr": _lines,
    "mmultiscripts": _scripts_around,
    "semantics": lambda _, parts: _at(parts, 0),
    "mspace": lambda *_: " ",
}
