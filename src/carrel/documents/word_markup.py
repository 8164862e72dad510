"""Word's markup told in terms that Mammoth knows: formulas, numbers of lists, hidden text, boxes, gaps in tables.

Each rule names an element of WordprocessingML (ECMA-376, part 1) that Mammoth passes over.
"""

import io
import posixpath
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from bs4 import Tag
from lxml import etree
from mammoth.docx.dingbats import dingbats

from carrel.documents.equations import latex
from carrel.documents.markdown import LABEL
from carrel.documents.numerals import of_word
from carrel.documents.packages import Element, choose, packed, parsed, replace
from carrel.documents.refusals import DocumentBroken

_SPACES: Final = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
_VML: Final = "urn:schemas-microsoft-com:vml"
_BEGUN, _ENDED = "\ue0f0", "\ue0f1"
"""Around the number of an item, until it is the item's label. Word writes neither character."""
_LABEL: Final = re.compile(f"^\\s*{_BEGUN}([^{_ENDED}]*){_ENDED}")
_OFF: Final = frozenset({"0", "false", "off", "none"})
_SYMBOL_FONTS: Final = ("Symbol", "Wingdings", "Wingdings 2", "Wingdings 3", "Webdings")
_SYMBOLS: Final = re.compile("([!-~\uf020-\uf0ff])")
"""Word shows these letters by the font's own signs."""
_MAX_GAP: Final = 100
_MOST_MOVED: Final = 8
"""Characters that are an exponent or an index if they only stand higher or lower; more are so for their looks."""


def readable(parts: dict[str, bytes], left_out: Counter[str]) -> io.BytesIO:
    """The package as Mammoth reads it; `left_out` counts what it will not find.

    Raises:
        DocumentBroken, etree.LxmlError
    """
    main = _main(parts)
    if main not in parts:
        raise DocumentBroken
    related = _related(parts, main)
    trees = {name: parsed(parts[name]) for name in (main, *related.values()) if name in parts}
    styles = trees.get(related.get("styles", ""))
    numbers = _Numbers(_Styles(styles), trees.get(related.get("numbering", "")))
    for kind in ("", "footnotes", "endnotes"):
        tree = trees.get(related.get(kind, "") if kind else main)
        if kind:
            _require_notes(trees[main], kind.rstrip("s"), tree)
        if tree is not None:
            _Story(tree, numbers, left_out).tell()
    _count(parts, main, left_out)
    return packed(parts | {name: etree.tostring(tree, encoding="UTF-8") for name, tree in trees.items()})


def take_labels(tree: Tag) -> None:
    """Make labels of the numbers that stand in the text of items."""
    for mark in tree.find_all(string=re.compile(_BEGUN)):
        item = mark.find_parent("li")
        found = _LABEL.match(mark)
        if item is not None and found and not item.has_attr(LABEL):
            item[LABEL] = found[1]
            mark.replace_with(mark[found.end() :])
        else:
            mark.replace_with(mark.replace(_BEGUN, "").replace(_ENDED, " "))


def _relations(parts: dict[str, bytes], source: str) -> Iterator[tuple[str, str]]:
    """The kind and the name of each part that a part refers to."""
    folder, name = posixpath.split(source)
    body = parts.get(posixpath.join(folder, "_rels", f"{name}.rels"))
    for one in parsed(body) if body else ():
        if one.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, unquote(one.get("Target", "")))).lstrip("/")
            yield one.get("Type", "").rpartition("/")[2], target


def _main(parts: dict[str, bytes]) -> str:
    found = (target for kind, target in _relations(parts, "") if kind == "officeDocument" and target in parts)
    return next(found, "word/document.xml")


def _related(parts: dict[str, bytes], main: str) -> dict[str, str]:
    usual = {kind: f"word/{kind}.xml" for kind in ("styles", "numbering", "footnotes", "endnotes")}
    return usual | {kind: target for kind, target in _relations(parts, main) if kind in usual and target in parts}


def _count(parts: dict[str, bytes], main: str, left_out: Counter[str]) -> None:
    for kind, target in _relations(parts, main):
        if kind in ("header", "footer") and target in parts:
            left_out["header_or_footer"] += any(_said(one) for one in _each(parsed(parts[target]), "t"))
        elif kind == "comments" and target in parts:
            left_out["comment"] += sum(1 for _ in _each(parsed(parts[target]), "comment"))
        elif kind == "aFChunk":  # a document within, which Word reads when it opens the file
            left_out["attachment"] += 1


def _require_notes(main: Element, kind: str, notes: Element | None) -> None:
    """Remove the marks of notes that are not there."""
    found = () if notes is None else _each(notes, kind)
    known = {_attribute(one, "id") for one in found if "eparator" not in _attribute(one, "type")}
    for mark in list(_each(main, f"{kind}Reference")):
        if _attribute(mark, "id") not in known:
            _remove(mark)


def _said(element: Element) -> bool:
    return bool("".join(map(str, element.itertext())).strip())


def _each(tree: Element, *names: str) -> Iterator[Element]:
    return tree.iter(*(f"{{{space}}}{name}" for space in _SPACES for name in names))


def _value(element: Element | None, *path: str, default: str = "") -> str:
    """The `val` at the end of a path of children; `default` where the path ends early."""
    for name in path:
        element = None if element is None else next(element.iterchildren(f"{{*}}{name}"), None)
    if element is None:
        return default
    return str(next((value for key, value in element.attrib.items() if str(key).endswith("}val")), ""))


def _has(element: Element | None, *path: str) -> bool:
    """Whether a property is there and not switched off."""
    return _value(element, *path, default="off") not in _OFF


class _Styles:
    """What paragraphs have from their styles, and the names by which Mammoth finds headings."""

    def __init__(self, tree: Element | None) -> None:
        self._by_id = {one.get(f"{{{etree.QName(one).namespace}}}styleId", ""): one for one in _styles(tree)}
        for one in list(self._by_id.values()):
            level = self._heading(one)
            if level is not None:
                for name in one.iterchildren("{*}name"):
                    name.set(f"{{{etree.QName(one).namespace}}}val", f"heading {level + 1}")

    def chain(self, style: str) -> Iterator[Element]:
        """A style and those that it is based on."""
        seen: set[str] = set()
        while style in self._by_id and style not in seen:
            seen.add(style)
            yield self._by_id[style]
            style = _value(self._by_id[style], "basedOn")

    def first(self, style: str, *path: str) -> str:
        """What the nearest of these styles says of a property: `off` if none does, nothing if it stands there only."""
        found = (_value(one, "rPr", *path, default="off") for one in self.chain(style))
        return next((value for value in found if value != "off"), "off")

    def _heading(self, style: Element) -> int | None:
        """The level of a heading under a name of its own."""
        for one in self.chain(_attribute(style, "styleId")):
            name = _value(one, "name").lower()
            if name in ("title", "normal"):
                return None
            level = name.removeprefix("heading ") if name.startswith("heading ") else ""
            level = level if level.isdecimal() else str(int(_value(one, "pPr", "outlineLvl", default="9")) + 1)
            if level.isdecimal() and int(level) < 10:
                return int(level) - 1
        return None


def _styles(tree: Element | None) -> Iterator[Element]:
    for one in () if tree is None else _each(tree, "style"):
        if any(str(key).endswith("styleId") for key in one.attrib):
            yield one


@dataclass
class _Numbers:
    """Counts the items of all lists as Word counts them."""

    styles: _Styles
    tree: Element | None
    _levels: dict[str, dict[int, Element]] = field(default_factory=dict)
    """Of each list, by its number."""
    _starts: dict[tuple[str, int], int] = field(default_factory=dict)
    _lists: dict[str, str] = field(default_factory=dict)
    _counts: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    _begun: set[tuple[str, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.tree is None:
            return
        kinds = {_attribute(one, "abstractNumId"): one for one in _each(self.tree, "abstractNum")}
        linked = {name: one for one in kinds.values() if (name := _value(one, "styleLink"))}
        for one in kinds.values():
            for link in list(one.iterchildren("{*}numStyleLink")):
                replace(link, *map(deepcopy, _levels(linked.get(_value(one, "numStyleLink"), one)).values()))
        for one in _each(self.tree, "num"):
            number, kind = _attribute(one, "numId"), _value(one, "abstractNumId")
            if kind not in kinds:
                continue
            self._lists[number] = kind
            self._levels[number] = _levels(kinds[kind])
            for other in one.iterchildren("{*}lvlOverride"):
                self._levels[number] |= _levels(other)
                level = int(_attribute(other, "ilvl") or 0)
                start = _value(other, "startOverride")
                if start.isdecimal():
                    self._starts[number, level] = int(start)

    def of(self, paragraph: Element) -> tuple[str, int]:
        """The list that a paragraph is an item of, and its level there; no list for most paragraphs."""
        properties = next(paragraph.iterchildren("{*}pPr"), None)
        sources = [properties]
        sources += [next(one.iterchildren("{*}pPr"), None) for one in self.styles.chain(_value(properties, "pStyle"))]
        number = next(filter(None, (_value(one, "numPr", "numId") for one in sources)), "")
        level = next(filter(None, (_value(one, "numPr", "ilvl") for one in sources)), "")
        if number not in self._levels:
            return "", 0
        if not level:
            style = _value(properties, "pStyle")
            levels = self._levels[number]
            level = next((str(at) for at, one in levels.items() if style and _value(one, "pStyle") == style), "0")
        return number, int(level) if level.isdecimal() else 0

    def next(self, number: str, level: int) -> str:
        """Count an item, and return what Word writes before it."""
        levels, counts = self._levels[number], self._counts[self._lists[number]]
        for deeper in [one for one in counts if one > level]:
            # A level may begin again after some of those above it only, or never.
            last = _value(levels.get(deeper), "lvlRestart")
            if not last.isdecimal() or level < int(last):
                del counts[deeper]
        if (number, level) in self._starts and (number, level) not in self._begun:
            self._begun.add((number, level))
            counts[level] = self._starts[number, level]
        else:
            counts[level] = counts[level] + 1 if level in counts else self._start(levels, level)
        shape = _value(levels.get(level), "numFmt", default="decimal")
        if shape == "bullet":
            return "-"
        if shape == "none":
            return ""

        def shown(mark: re.Match[str]) -> str:
            at = int(mark[1]) - 1
            written = _value(levels.get(at), "numFmt", default="decimal")
            if _has(levels.get(level), "isLgl"):
                written = "decimal"
            return of_word(counts.get(at, self._start(levels, at)), written)

        return re.sub(r"%([1-9])", shown, _value(levels.get(level), "lvlText", default=f"%{level + 1}.")).strip()

    @staticmethod
    def _start(levels: dict[int, Element], level: int) -> int:
        start = _value(levels.get(level), "start", default="1")
        return int(start) if start.isdecimal() and len(start) < 10 else 1


def _levels(kind: Element) -> dict[int, Element]:
    return {int(_attribute(level, "ilvl") or 0): level for level in kind.iterchildren("{*}lvl")}


def _attribute(element: Element, name: str) -> str:
    return next((str(value) for key, value in element.attrib.items() if etree.QName(key).localname == name), "")


class _Story:
    """One part with paragraphs: the document, its footnotes or its endnotes."""

    def __init__(self, tree: Element, numbers: _Numbers, left_out: Counter[str]) -> None:
        self._tree = tree
        self._numbers = numbers
        self._left_out = left_out
        self._space = etree.QName(tree).namespace

    def tell(self) -> None:
        """Tell everything that Mammoth passes over."""
        for element in list(self._tree.iter("{*}AlternateContent")):
            choose(element)
        told = None
        for element in list(self._tree.iter("{*}oMath")):
            for run in [one for one in element.iter("{*}r") if _has(one, "rPr", "vanish")]:
                _remove(run)
            is_beside = told is not None and element.getprevious() is told
            told = self._words(" " * is_beside + latex(element))
            replace(element, told)
        for element in list(self._tree.iter("{*}oMathPara")):
            _unwrap(element)
        self._fields()
        rules: dict[str, Callable[[Element], None]] = {
            "ruby": self._ruby,
            "sdt": self._control,
            "r": self._run,
            "sym": self._sign,
            "p": self._paragraph,
            "tbl": self._table,
            "tr": self._row,
            "del": self._deleted,
            "drawing": self._drawing,
            **dict.fromkeys(("pict", "object"), self._older_picture),
            "cr": lambda one: self._rename(one, "br"),
            "ptab": lambda one: self._rename(one, "tab"),
            **dict.fromkeys(("fldSimple", "dir", "bdo", "hyperlink"), _unwrap),
        }
        for element in list(_each(self._tree, *rules)):
            if element.getparent() is not None:
                rules[etree.QName(element).localname](element)

    def _new(self, name: str, *children: Element) -> Element:
        made = self._tree.makeelement(f"{{{self._space}}}{name}")
        made.extend(children)
        return made

    def _rename(self, element: Element, name: str) -> None:
        element.tag = f"{{{self._space}}}{name}"

    def _words(self, text: str) -> Element:
        words = self._new("t")
        words.text = text
        return self._new("r", words)

    def _ruby(self, element: Element) -> None:
        bases = [run for base in element.iterchildren("{*}rubyBase") for run in base]
        replace(element, *bases)

    def _control(self, element: Element) -> None:
        if _has(element, "sdtPr", "showingPlcHdr"):
            self._left_out["placeholder"] += 1
            for run in list(_each(element, "r")):
                _remove(run)

    def _fields(self) -> None:
        """Keep the results of fields, and not those of fields within their instructions."""
        fields: list[_Field] = []
        seen = ("p", "fldChar", "instrText", "t", "sym", "drawing", "pict", "object")
        for element in list(_each(self._tree, *seen)):
            kind = etree.QName(element).localname
            if kind == "p":
                fields = [one for one in fields if one.has_result]
            elif kind == "instrText" and fields:
                fields[-1].instruction += element.text or ""
            elif kind != "fldChar":
                if not all(one.has_result for one in fields):
                    _remove(element)
            elif _attribute(element, "fldCharType") == "begin":
                fields.append(_Field(_chosen(element)))
            elif fields and _attribute(element, "fldCharType") == "separate":
                fields[-1].has_result = True
            elif fields:
                field, run = fields.pop(), element.getparent()
                name, _, formula = field.instruction.strip().partition(" ")
                words = field.value or (formula if name.upper() == "EQ" and not field.has_result else "")
                if run is not None and words.strip():
                    run.addnext(self._words(words.strip()))

    def _run(self, run: Element) -> None:
        if self._says(run, "vanish", of_paragraph=True) not in _OFF:
            self._left_out["hidden_text"] += any(_said(one) for one in run.iterchildren("{*}t"))
            if not any(True for _ in _each(run, "fldChar", "instrText")):
                _remove(run)
            return
        self._dress(run)
        fonts = next((one for one in run.iter("{*}rFonts")), None)
        plain, other = ("" if fonts is None else _symbol_font(_attribute(fonts, one)) for one in ("ascii", "hAnsi"))
        if plain or other:
            for words in list(run.iterchildren("{*}t")):
                self._symbols(words, plain, other or plain)

    def _sign(self, sign: Element) -> None:
        """Of a font that is not one of symbols, it is a character like any other."""
        font, code = _symbol_font(_attribute(sign, "font")), _attribute(sign, "char")
        if font:
            sign.set(f"{{{self._space}}}font", font)
        elif re.fullmatch("[0-9A-Fa-f]{2,5}", code) and unicodedata.category(chr(int(code, 16)))[0] not in "CZ":
            self._rename(sign, "t")
            sign.text = chr(int(code, 16))

    def _says(self, run: Element, name: str, *, of_paragraph: bool = False) -> str:
        """What a run, its style, or that of its paragraph says of a property; `off` if nothing does."""
        own = _value(run, "rPr", name, default="unsaid")
        if own != "unsaid":
            return own
        styles = self._numbers.styles
        found = styles.first(_value(run, "rPr", "rStyle"), name)
        if found == "off" and of_paragraph:
            paragraph = next(run.iterancestors("{*}p"), None)
            properties = None if paragraph is None else next(paragraph.iterchildren("{*}pPr"), None)
            found = styles.first(_value(properties, "pStyle"), name)
        return found

    def _dress(self, run: Element) -> None:
        """Say in the run itself that it is raised, lowered or struck, as Mammoth expects it."""
        if next(run.iterchildren("{*}t", "{*}sym"), None) is None:
            return
        raised = self._says(run, "vertAlign")
        if raised == "off" and sum(len(one.text or "") for one in run.iterchildren("{*}t")) <= _MOST_MOVED:
            moved = self._says(run, "position")
            raised = "subscript" if moved.startswith("-") else "superscript" if moved.strip("0").isdecimal() else "off"
        is_struck = any(self._says(run, name) not in _OFF for name in ("strike", "dstrike"))
        properties = next(run.iterchildren("{*}rPr"), None)
        if properties is None and (raised != "off" or is_struck):
            properties = self._new("rPr")
            run.insert(0, properties)
        if properties is None:
            return
        for name, value in (("vertAlign", raised if raised != "off" else ""), ("strike", "1" if is_struck else "")):
            for one in list(properties.iterchildren(f"{{*}}{name}")):
                _remove(one)
            if value:
                made = self._new(name)
                made.set(f"{{{self._space}}}val", value)
                properties.append(made)

    def _symbols(self, words: Element, plain: str, other: str) -> None:
        """Tell signs of letters: of the font for plain ones, and of that for the others."""
        made = []
        for piece in _SYMBOLS.split(words.text or ""):
            font = plain if piece.isascii() else other
            if _SYMBOLS.fullmatch(piece) and (font, ord(piece) & 0xFF) in dingbats:
                sign = self._new("sym")
                sign.set(f"{{{self._space}}}font", font)
                sign.set(f"{{{self._space}}}char", f"{ord(piece):04X}")
            else:
                sign = self._new("t")
                sign.text = piece
            made.append(sign)
        replace(words, *made)

    def _paragraph(self, paragraph: Element) -> None:
        if self._runs_on(paragraph):
            return
        following = paragraph.getnext()
        if any(_attribute(one, "dropCap") in ("drop", "margin") for one in paragraph.iterfind("{*}pPr/{*}framePr")):
            if following is not None and etree.QName(following).localname == "p":
                at = 1 if next(following.iterchildren("{*}pPr"), None) is not None else 0
                following[at:at] = list(paragraph.iterchildren("{*}r"))
            return
        number, level = self._numbers.of(paragraph)
        if not number:
            return
        label = self._numbers.next(number, level)
        # Word shows the number of an empty paragraph, too: rows of tables are numbered so.
        if label in ("", "-") and next(paragraph.iter("{*}t", "{*}sym"), None) is None:
            return
        properties = next(paragraph.iterchildren("{*}pPr"), None)
        if properties is None:
            properties = self._new("pPr")
            paragraph.insert(0, properties)
        for one in list(properties.iterchildren("{*}numPr")):
            _remove(one)
        told = self._new("numPr", self._new("ilvl"), self._new("numId"))
        for one, value in zip(told, (str(level), number), strict=True):
            one.set(f"{{{self._space}}}val", value)
        properties.append(told)
        if label:
            properties.addnext(self._words(f"{_BEGUN}{label}{_ENDED}"))

    def _runs_on(self, paragraph: Element) -> bool:
        """Whether its end is deleted, moved away or hidden; what stands in it then begins the next paragraph."""
        properties = next(paragraph.iterchildren("{*}pPr"), None)
        mark = None if properties is None else next(properties.iterchildren("{*}rPr"), None)
        if mark is None or not (
            any(True for _ in mark.iterchildren("{*}del", "{*}moveFrom"))
            or (_has(mark, "vanish") and not _has(mark, "specVanish"))
        ):
            return False
        following = next((one for one in paragraph.itersiblings("{*}p", "{*}tbl", "{*}sdt")), None)
        if following is None or etree.QName(following).localname != "p":
            return False
        at = 1 if next(following.iterchildren("{*}pPr"), None) is not None else 0
        following[at:at] = [one for one in paragraph if one is not properties]
        _remove(paragraph)
        return True

    def _table(self, table: Element) -> None:
        """A cell that goes on with none above it begins, and takes a number of columns."""
        above: set[int] = set()
        for row in _own(table, "tr"):
            merged: set[int] = set()
            at = _count_of(row, "trPr", "gridBefore", least=0)
            for cell in _own(row, "tc"):
                for one in cell.iterfind("{*}tcPr/{*}vMerge"):
                    if at not in above:
                        one.set(f"{{{self._space}}}val", "restart")
                    merged.add(at)
                columns = _count_of(cell, "tcPr", "gridSpan", least=1)
                for one in cell.iterfind("{*}tcPr/{*}gridSpan"):
                    one.set(f"{{{self._space}}}val", str(columns))
                at += columns
            above = merged

    def _row(self, row: Element) -> None:
        """A row may be hidden, begin after the first column and end before the last."""
        if _has(row, "trPr", "hidden"):
            self._left_out["hidden_text"] += _said(row)
            _remove(row)
            return
        first = sum(1 for one in row if etree.QName(one).localname in ("trPr", "tblPrEx"))
        for name, at in (("gridAfter", len(row)), ("gridBefore", first)):
            row[at:at] = [self._new("tc", self._new("p")) for _ in range(_count_of(row, "trPr", name, least=0))]

    def _deleted(self, element: Element) -> None:
        self._left_out["deleted_text"] += any(_said(one) for one in _each(element, "delText"))

    def _drawing(self, drawing: Element) -> None:
        boxes = list(_each(drawing, "txbxContent"))
        abouts = list(drawing.iter("{*}docPr", "{*}cNvPr"))
        named = next(
            filter(None, (" ".join((one.get("descr") or one.get("title") or "").split()) for one in abouts)), ""
        )
        if boxes:
            made = [self._tree.makeelement(f"{{{_VML}}}textbox") for _ in boxes]
            for one, box in zip(made, boxes, strict=True):
                one.append(box)
            replace(drawing, *([self._named(named)] if named else []), self._new("pict", *made))
        else:
            self._left_out["picture"] += not named
            replace(drawing, *([self._named(named)] if named else []))

    def _named(self, about: str) -> Element:
        words = self._new("t")
        words.text = f"![{about}]()"
        return words

    def _older_picture(self, picture: Element) -> None:
        """A picture in the older form, an object of another program, or letters drawn as a picture."""
        if next(picture.iter("{*}txbxContent"), None) is not None:
            return
        drawn = " ".join(one.get("string", "") for one in picture.iter("{*}textpath")).strip()
        about = next((one.get("alt", "") for one in picture.iter("{*}shape") if one.get("alt")), "")
        named = drawn or (f"![{' '.join(about.split())}]()" if about.strip() else "")
        if named:
            words = self._new("t")
            words.text = named
            replace(picture, words)
        elif next(picture.iter("{*}imagedata", "{*}OLEObject"), None) is not None:
            self._left_out["picture"] += 1
            _remove(picture)


def _symbol_font(name: str) -> str:
    """The font of symbols of this name, as Mammoth writes it; none of another."""
    return next((one for one in _SYMBOL_FONTS if one.lower() == name.lower()), "")


def _own(element: Element, name: str) -> Iterator[Element]:
    """The rows of a table or the cells of a row, also those in a control."""
    for one in element.iterchildren(f"{{*}}{name}", "{*}sdt", "{*}sdtContent", "{*}customXml"):
        if etree.QName(one).localname == name:
            yield one
        else:
            yield from _own(one, name)


def _count_of(element: Element, *path: str, least: int) -> int:
    """How many columns a property names, of those that a table may have."""
    count = _value(element, *path)
    return max(least, min(_MAX_GAP, int(count))) if count.isdecimal() and len(count) < 10 else least


@dataclass
class _Field:
    """A field that has begun. `value` is what was chosen from its list."""

    value: str
    instruction: str = ""
    has_result: bool = False


def _chosen(begin: Element) -> str:
    for choices in begin.iter("{*}ddList"):
        names = [_attribute(one, "val") for one in choices.iterchildren("{*}listEntry")]
        number = _value(choices, "result") or _value(choices, "default") or "0"
        return names[int(number)] if number.isdecimal() and int(number) < len(names) else ""
    return ""


def _remove(element: Element) -> None:
    replace(element)


def _unwrap(element: Element) -> None:
    replace(element, *element)
