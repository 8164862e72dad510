"""Word files: every kind of thing that a misread document has lost, added or put in another place."""

import pytest

from carrel.documents.extract import text_of
from tests.documents import files
from tests.documents.files import cell, item, paragraph, run, table

BOX = "<w:txbxContent><w:p><w:r><w:t>Box text 7</w:t></w:r></w:p></w:txbxContent>"
OLD_BOX = f"<w:r><w:pict><v:shape><v:textbox>{BOX}</v:textbox></v:shape></w:pict></w:r>"
NEW_DRAWING = (
    "<w:drawing><wp:anchor><wp:docPr/><a:graphic><a:graphicData><wps:wsp><wps:txbx>"
    f"{BOX}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing>"
)
EMPTY = "<w:r><w:t></w:t></w:r>"
NEW_BOX = f"<w:r>{NEW_DRAWING}</w:r>"
BOTH_BOXES = (
    f'<w:r><mc:AlternateContent><mc:Choice Requires="wps">{NEW_DRAWING}</mc:Choice><mc:Fallback>'
    f"{OLD_BOX.removeprefix('<w:r>').removesuffix('</w:r>')}</mc:Fallback></mc:AlternateContent></w:r>"
)


def around(inner: str) -> str:
    return f"<w:p>{run('before ')}{inner}{run(' after')}</w:p>"


def style(identity: str, name: str, properties: str = "", based_on: str = "") -> str:
    return (
        f'<w:style w:type="paragraph" w:styleId="{identity}"><w:name w:val="{name}"/>'
        + (f'<w:basedOn w:val="{based_on}"/>' if based_on else "")
        + f"<w:pPr>{properties}</w:pPr></w:style>"
    )


def styled(text: str, identity: str) -> str:
    return paragraph(text, f'<w:pStyle w:val="{identity}"/>')


def picture(about: str) -> str:
    return (
        f"<w:r><w:drawing><wp:inline><wp:docPr {about}/><a:graphic><a:graphicData><pic:pic><pic:blipFill>"
        '<a:blip r:embed="r0"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>'
    )


def formula(inner: str) -> str:
    return around(f"<m:oMath>{inner}</m:oMath>")


def m(name: str, *parts: str) -> str:
    return f"<m:{name}>{''.join(parts)}</m:{name}>"


def r(text: str) -> str:
    return m("r", m("t", text))


def field(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def instruction(text: str) -> str:
    return f"<w:r><w:instrText>{text}</w:instrText></w:r>"


SPANNED = '<w:gridSpan w:val="2"/>'
CASES: dict[str, tuple[bytes, str]] = {
    "empty cells stay in place": (
        files.docx(table((cell("Plan"), cell("Basic"), cell("Pro")), (cell("Price"), cell(), cell("20")))),
        "| Plan | Basic | Pro |\n| --- | --- | --- |\n| Price |  | 20 |",
    ),
    "paragraphs of a cell are one cell": (
        files.docx(table((cell("a"), cell("b")), (cell("Mail", "Forum"), cell("x|y")))),
        "| a | b |\n| --- | --- |\n| Mail<br>Forum | x\\|y |",
    ),
    "cells merged downwards": (
        files.docx(
            table(
                (cell("Group"), cell("Item")),
                (cell("Fruit", properties='<w:vMerge w:val="restart"/>'), cell("Apple")),
                (cell(properties="<w:vMerge/>"), cell("Pear")),
            )
        ),
        "| Group | Item |\n| --- | --- |\n| Fruit | Apple |\n|  | Pear |",
    ),
    "a cell that goes on with none above it, and one with no number of columns": (
        files.docx(
            table(
                (cell("a"), cell("b", properties='<w:gridSpan w:val="x"/>')),
                (cell("Pear", properties="<w:vMerge/>"), cell("1")),
                (cell(properties="<w:vMerge/>"), cell("2")),
            )
        ),
        "| a | b |\n| --- | --- |\n| Pear | 1 |\n|  | 2 |",
    ),
    "cells merged sideways": (
        files.docx(table((cell("a", properties=SPANNED), cell("b")), (cell("1"), cell("2"), cell("3")))),
        "| a |  | b |\n| --- | --- | --- |\n| 1 | 2 | 3 |",
    ),
    "rows that begin late": (
        files.docx(
            f"<w:tbl><w:tr>{cell('a')}{cell('b')}</w:tr>"
            f'<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>{cell("2")}</w:tr></w:tbl>'
        ),
        "| a | b |\n| --- | --- |\n|  | 2 |",
    ),
    "rows in a control": (
        files.docx(
            f"<w:tbl><w:tr>{cell('a')}{cell('b')}</w:tr><w:sdt><w:sdtContent><w:tr>{cell()}{cell('2')}</w:tr>"
            "</w:sdtContent></w:sdt></w:tbl>"
        ),
        "| a | b |\n| --- | --- |\n|  | 2 |",
    ),
    "a table within a table": (
        files.docx(
            f"<w:tbl><w:tr>{cell('a')}{cell('b')}</w:tr><w:tr><w:tc>{table((cell('1'), cell('2')))}<w:p/></w:tc>"
            f"{cell('x')}</w:tr></w:tbl>"
        ),
        "| a | b |\n| --- | --- |\n| 1, 2 | x |",
    ),
    "an empty cell of a table within a table": (
        files.docx(
            f"<w:tbl><w:tr>{cell('a')}{cell('b')}</w:tr><w:tr><w:tc>"
            f"{table((cell('x'), cell('y')), (cell(), cell('2')))}<w:p/></w:tc>{cell('c')}</w:tr></w:tbl>"
        ),
        "| a | b |\n| --- | --- |\n| x, y; , 2 | c |",
    ),
    "a heading in a cell": (
        files.docx(
            f"<w:tbl><w:tr>{cell('a')}{cell('b')}</w:tr><w:tr><w:tc>{styled('Price', 'H')}</w:tc>{cell('2')}</w:tr>"
            "</w:tbl>",
            styles=style("H", "heading 1"),
        ),
        "| a | b |\n| --- | --- |\n| Price | 2 |",
    ),
    "a box of one cell": (files.docx(table((cell("Note", "well"),))), "Note\n\nwell"),
    "a power": (
        files.docx(formula(r("A = 3.14") + m("sSup", m("e", r("r")), m("sup", r("2"))))),
        "before $A = 3.14r^2$ after",
    ),
    "a fraction, a root and a bracket": (
        files.docx(
            formula(
                m("f", m("num", r("a")), m("den", r("b+1")))
                + m("rad", m("radPr"), m("deg"), m("e", r("x")))
                + m("d", m("e", r("y")))
            )
        ),
        r"before $\frac{a}{b+1}\sqrt{x}(y)$ after",
    ),
    "a sum": (
        files.docx(
            formula(
                '<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>'
                + m("sub", r("i=1"))
                + m("sup", r("n"))
                + m("e", r("i"))
                + "</m:nary>"
            )
        ),
        "before $∑_{i=1}^n i$ after",
    ),
    "cases and functions": (
        files.docx(
            formula(
                r("5%")
                + m("func", m("fName", r("cos")), m("e", r("x")))
                + m("func", m("fName", m("limLow", m("e", r("argmax")), m("lim", r("n")))), m("e", r("x")))
                + m(
                    "d",
                    m("dPr", '<m:begChr m:val="{"/><m:endChr m:val=""/>'),
                    m("e", m("eqArr", m("e", r("1")), m("e", r("0")))),
                )
            )
        ),
        r"before $5\%\cos x\operatorname{argmax}_n x\{\begin{matrix}1 \\ 0\end{matrix}$ after",
    ),
    "signs above and below": (
        files.docx(
            formula(
                '<m:bar><m:barPr><m:pos m:val="top"/></m:barPr>'
                + m("e", r("x"))
                + "</m:bar>"
                + m("bar", m("e", r("y")))
                + m("groupChr", m("e", r("a")))
                + '<m:groupChr><m:groupChrPr><m:chr m:val="→"/></m:groupChrPr>'
                + m("e", r("heat"))
                + "</m:groupChr>"
                + m("phant", m("e", r("b")))
                + '<m:phant><m:phantPr><m:show m:val="0"/></m:phantPr>'
                + m("e", r("c"))
                + "</m:phant>"
            )
        ),
        r"before $\overline{x}\underline{y}\underbrace{a}\overset{heat}{→}b$ after",
    ),
    "a formula with changes": (
        files.docx(
            formula(
                "<w:ins>" + r("a") + "</w:ins><w:del>" + r("b") + "</w:del>"
                "<m:r><w:rPr><w:vanish/></w:rPr><m:t>c</m:t></m:r>"
                '<m:f><m:fPr><m:type m:val="noBar"/></m:fPr>' + m("num", r("n")) + m("den", r("k")) + "</m:f>"
            )
        ),
        r"before $a{n \atop k}$ after",
    ),
    "a formula in a paragraph of its own": (
        files.docx(f"<w:p>{m('oMathPara', m('oMath', r('E=mc')))}</w:p>"),
        "$E=mc$",
    ),
    "a formula behind another": (
        files.docx(f"<w:p>{m('oMath', r('a=b'))}{m('oMath', r('c=d'))}</w:p>"),
        "$a=b$ $c=d$",
    ),
    "a footnote": (
        files.docx(
            "<w:p>" + run("Five euros.") + '<w:r><w:footnoteReference w:id="2"/></w:r></w:p>',
            footnotes=f'<w:footnote w:id="2">{paragraph("Double on Sundays.")}</w:footnote>',
        ),
        "Five euros.[^1]\n\n[^1]: Double on Sundays.",
    ),
    "a note that is not there": (
        files.docx(
            "<w:p>" + run("Five.") + '<w:r><w:footnoteReference w:id="9"/><w:endnoteReference w:id="0"/></w:r></w:p>',
            endnotes=f'<w:endnote w:id="0" w:type="separator">{paragraph("")}</w:endnote>',
        ),
        "Five.",
    ),
    "an endnote": (
        files.docx(
            "<w:p>" + run("Five.") + '<w:r><w:endnoteReference w:id="2"/></w:r></w:p>',
            endnotes=f'<w:endnote w:id="2">{paragraph("Or ten.")}</w:endnote>',
        ),
        "Five.[^1]\n\n[^1]: Or ten.",
    ),
    "symbols": (
        files.docx(around('<w:r><w:sym w:font="Symbol" w:char="F0B1"/></w:r>')),
        "before ± after",
    ),
    "symbols as letters of a font": (
        files.docx(around(run("\uf0b0", '<w:rFonts w:hAnsi="Symbol"/>'))),
        "before ° after",
    ),
    "symbols of other fonts": (
        files.docx(
            around(
                '<w:r><w:sym w:font="MS Gothic" w:char="2611"/><w:sym w:font="wingdings" w:char="F0FE"/></w:r>'
                + run("5 mm", '<w:rFonts w:ascii="Symbol"/>')
            )
        ),
        "before ☑☑5 μμ after",
    ),
    "boxes to tick": (
        files.docx(
            "<w:p>"
            + "".join(
                f'<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="{on}"/></w14:checkbox></w:sdtPr><w:sdtContent>'
                f"{run('x')}</w:sdtContent></w:sdt>{run(word)}"
                for on, word in ((1, "yes "), (0, "no"))
            )
            + "</w:p>"
        ),
        "☑ yes ☐ no",
    ),
    "boxes and numbers of a font": (
        files.docx(
            around(
                "<w:r>"
                + "".join(f'<w:sym w:font="Wingdings" w:char="F0{at}"/>' for at in ("FE", "A8", "8C"))
                + "</w:r>"
            )
        ),
        "before ☑☐❶ after",
    ),
    "powers of ten and ordinals": (
        files.docx(
            "<w:p>"
            + run("10")
            + run("6", '<w:vertAlign w:val="superscript"/>')
            + run(" of H")
            + run("2", '<w:vertAlign w:val="subscript"/>')
            + run("O on the 1")
            + run("st", '<w:vertAlign w:val="superscript"/>')
            + "</w:p>"
        ),
        "10^6 of H2O on the 1st",
    ),
    "powers by a style and by their place": (
        files.docx(
            "<w:p>"
            + run("10")
            + run("6", '<w:rStyle w:val="S"/>')
            + run(" and 5 m")
            + run("2", '<w:position w:val="6"/>')
            + run(" of a clause", '<w:position w:val="2"/>')
            + "</w:p>",
            styles='<w:style w:type="character" w:styleId="S"><w:name w:val="s"/><w:rPr>'
            '<w:vertAlign w:val="superscript"/></w:rPr></w:style>',
        ),
        "10^6 and 5 m^2 of a clause",
    ),
    "numbers of items": (
        files.docx(
            item("Open") + item("Cut", 1) + item("Lift", 1) + item("Press"),
            numbering=files.numbering(("decimal", "%1."), ("lowerLetter", "%2)")),
        ),
        "1. Open\n   a) Cut\n   b) Lift\n2. Press",
    ),
    "rows that Word numbers": (
        files.docx(
            table(*((f"<w:tc>{item('').replace(EMPTY, '')}</w:tc>", cell(name)) for name in ("Apple", "Pear"))),
            numbering=files.numbering(("decimal", "%1.")),
        ),
        "| 1. | Apple |\n| --- | --- |\n| 2. | Pear |",
    ),
    "numbers go on after a paragraph": (
        files.docx(item("Open") + paragraph("Careful.") + item("Press"), numbering=files.numbering(("decimal", "%1."))),
        "1. Open\n\nCareful.\n\n2. Press",
    ),
    "numbers begin again": (
        files.docx(
            item("Open") + paragraph("Then.") + item("Press", number=2), numbering=files.numbering(("decimal", "%1."))
        ),
        "1. Open\n\nThen.\n\n1. Press",
    ),
    "numbers that never begin again": (
        files.docx(
            item("a") + item("b", 1) + item("c") + item("d", 1),
            numbering=files.numbering(("decimal", "%1."), ("decimal", "%2)")).replace(
                '<w:lvlText w:val="%2)"/>', '<w:lvlText w:val="%2)"/><w:lvlRestart w:val="0"/>'
            ),
        ),
        "1. a\n   1) b\n2. c\n   2) d",
    ),
    "numbers of a style of lists, changed by the list": (
        files.docx(
            item("a", number=7) + item("b", number=7),
            numbering=files.numbering(("decimal", "%1."))
            + '<w:abstractNum w:abstractNumId="1"><w:styleLink w:val="L"/><w:lvl w:ilvl="0"/></w:abstractNum>'
            '<w:abstractNum w:abstractNumId="2"><w:numStyleLink w:val="L"/></w:abstractNum>'
            '<w:num w:numId="7"><w:abstractNumId w:val="2"/><w:lvlOverride w:ilvl="0"><w:lvl w:ilvl="0">'
            '<w:start w:val="3"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="Art. %1"/></w:lvl></w:lvlOverride>'
            "</w:num>",
        ),
        "Art. III a\nArt. IV b",
    ),
    "items of which nothing is left": (
        files.docx(
            item("a")
            + "".join(
                f'<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr><w:rPr>{mark}</w:rPr></w:pPr>'
                f"{inner}</w:p>"
                for mark, inner in (
                    ("<w:del/>", "<w:del><w:r><w:delText>b</w:delText></w:r></w:del>"),
                    ("<w:moveFrom/>", f"<w:moveFrom>{run('c')}</w:moveFrom>"),
                    ("<w:vanish/>", run("d", "<w:vanish/>")),
                    ("<w:del/>", run("e ")),
                )
            )
            + '<w:bookmarkEnd w:id="1"/>'
            + item("f"),
            numbering=files.numbering(("decimal", "%1.")),
        ),
        "1. a\n2. e f",
    ),
    "a list of seven levels": (
        files.docx(
            "".join(item(str(level), level) for level in range(7)),
            numbering=files.numbering(*[("decimal", f"%{level}.") for level in range(1, 8)]),
        ),
        "\n".join(f"{'   ' * level}1. {level}" for level in range(7)),
    ),
    "numbers of several levels": (
        files.docx(
            item("Terms") + item("Price", 1) + item("Date", 1),
            numbering=files.numbering(("upperRoman", "§ %1"), ("decimal", "%1.%2"), start=4),
        ),
        "§ IV Terms\n    IV.4 Price\n    IV.5 Date",
    ),
    "numbers of other languages": (
        files.docx(
            item("a") + item("b", 1) + item("c", 1),
            numbering=files.numbering(("chineseCounting", "%1、"), ("russianLower", "%2)")),
        ),
        "一、 a\n   а) b\n   б) c",
    ),
    "bullets": (
        files.docx(item("a") + item("b", 1), numbering=files.numbering(("bullet", ""), ("bullet", "o"))),
        "- a\n  - b",
    ),
    "headings have a number": (
        files.docx(
            paragraph("Scope", '<w:pStyle w:val="H"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'),
            styles=style("H", "heading 1"),
            numbering=files.numbering(("decimal", "%1")),
        ),
        "# 1 Scope",
    ),
    "headings of other languages": (
        files.docx(styled("Lieferung", "berschrift2"), styles=style("berschrift2", "heading 2")),
        "## Lieferung",
    ),
    "headings of a template": (
        files.docx(
            styled("Part", "Mine") + styled("Deep", "Own"),
            styles=style("H1", "heading 1")
            + style("Mine", "Chapter", based_on="H1")
            + style("Own", "x", '<w:outlineLvl w:val="2"/>'),
        ),
        "# Part\n\n### Deep",
    ),
    "a title": (files.docx(styled("Offer", "T"), styles=style("T", "Title")), "# Offer"),
    "moved text stands once": (
        files.docx(
            f"<w:p><w:moveFrom>{run('Moved.')}</w:moveFrom></w:p>{paragraph('First.')}<w:p><w:moveTo>{run('Moved.')}</w:moveTo></w:p>"
        ),
        "First.\n\nMoved.",
    ),
    "inserted text": (files.docx(around(f"<w:ins>{run('new')}</w:ins>")), "before new after"),
    "an old box beside a sentence": (files.docx(around(OLD_BOX)), "before after\n\nBox text 7"),
    "a new box beside a sentence": (files.docx(around(NEW_BOX)), "before after\n\nBox text 7"),
    "a box in both forms": (files.docx(around(BOTH_BOXES)), "before after\n\nBox text 7"),
    "a box beside a heading": (
        files.docx(
            f'<w:p><w:pPr><w:pStyle w:val="H"/></w:pPr>{run("Chapter")}{OLD_BOX}</w:p>', styles=style("H", "heading 1")
        ),
        "# Chapter\n\nBox text 7",
    ),
    "ruby": (
        files.docx(
            around(f"<w:r><w:ruby><w:rt>{run('かんじ')}</w:rt><w:rubyBase>{run('漢字')}</w:rubyBase></w:ruby></w:r>")
        ),
        "before 漢字 after",
    ),
    "a field within the instruction of another": (
        files.docx(
            around(
                f"{field('begin')}{instruction('IF')}{field('begin')}{instruction('NAME')}{field('separate')}{run('ada')}"
                f"{field('end')}{instruction('= x')}{field('separate')}{run('yes')}{field('end')}"
            )
        ),
        "before yes after",
    ),
    "a choice, and a formula as a field": (
        files.docx(
            around(
                '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:result w:val="1"/>'
                f'<w:listEntry w:val="red"/><w:listEntry w:val="blue"/></w:ddList></w:ffData></w:fldChar></w:r>'
                f"{field('end')}{run(' ')}"
                f"{field('begin')}{instruction(' EQ x/2 ')}{field('end')}"
            )
        ),
        "before blue x/2 after",
    ),
    "letters drawn as a picture": (
        files.docx(around('<w:r><w:pict><v:shape><v:textpath string="Sale"/></v:shape></w:pict></w:r>')),
        "before Sale after",
    ),
    "a described picture of the older form": (
        files.docx(around('<w:r><w:pict><v:shape alt="A lamp"><v:imagedata r:id="r0"/></v:shape></w:pict></w:r>')),
        "before ![A lamp]() after",
    ),
    "fields": (files.docx(around(f'<w:fldSimple w:instr="PAGE">{run("7")}</w:fldSimple>')), "before 7 after"),
    "a described picture": (files.docx(around(picture('descr="Sales doubled"'))), "before ![Sales doubled]() after"),
    "pictures and a box in a group that is described, and one described within": (
        files.docx(
            around("<w:r>" + NEW_DRAWING.replace("docPr", 'docPr descr="Lamps"') + "</w:r>")
            + around(picture("").replace("<pic:blipFill>", '<pic:cNvPr descr="A lamp"/><pic:blipFill>'))
        ),
        "before ![Lamps]() after\n\nBox text 7\n\nbefore ![A lamp]() after",
    ),
    "parts that are not there": (
        files.docx(around(f'<w:hyperlink r:id="r99">{run("a site")}{picture("").replace("r0", "r99")}</w:hyperlink>')),
        "before a site after",
    ),
    "a large first letter": (
        files.docx(f'<w:p><w:pPr><w:framePr w:dropCap="drop"/></w:pPr>{run("O")}</w:p>{paragraph("nce upon")}'),
        "Once upon",
    ),
    "breaks, tabs and hyphens": (
        files.docx(
            "<w:p><w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:noBreakHyphen/><w:t>c</w:t><w:softHyphen/><w:t>d</w:t><w:cr/><w:t>e</w:t>"
            '<w:br w:type="page"/><w:t>f</w:t></w:r></w:p>'
        ),
        "a\nb-cd\ne\nf",
    ),
    "what Word for the web writes": (files.docx(paragraph("Words."), main="word/document2.xml"), "Words."),
    "struck text": (
        files.docx(around(run("old", "<w:strike/>") + run(" older", "<w:dstrike/>"))),
        "before ~~old older~~ after",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_word_file_is_read_right(name: str) -> None:
    body, right = CASES[name]
    assert text_of("docx", memoryview(body), 10_000).text == right


LEFT_OUT: dict[str, tuple[bytes, str, dict[str, int]]] = {
    "hidden text": (files.docx(around(run("note", "<w:vanish/>"))), "before after", {"hidden_text": 1}),
    "text that is not hidden": (files.docx(around(run("note", '<w:vanish w:val="0"/>'))), "before note after", {}),
    "a hidden row": (
        files.docx(
            f"<w:tbl><w:tr>{cell('a')}{cell('b')}</w:tr><w:tr><w:trPr><w:hidden/></w:trPr>{cell('x')}{cell()}</w:tr></w:tbl>"
        ),
        "| a | b |\n| --- | --- |",
        {"hidden_text": 1},
    ),
    "a style of hidden text": (
        files.docx(
            around(run("note", '<w:rStyle w:val="N"/>')),
            styles='<w:style w:type="character" w:styleId="N"><w:name w:val="n"/><w:rPr><w:vanish/></w:rPr></w:style>',
        ),
        "before after",
        {"hidden_text": 1},
    ),
    "a paragraph of hidden text": (
        files.docx(
            paragraph("Words.") + styled("note", "N"),
            styles=style("N", "n").replace("</w:style>", "<w:rPr><w:vanish/></w:rPr></w:style>"),
        ),
        "Words.",
        {"hidden_text": 1},
    ),
    "a placeholder": (
        files.docx(
            around(
                f"<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{run('Click here')}</w:sdtContent></w:sdt>"
            )
        ),
        "before after",
        {"placeholder": 1},
    ),
    "deleted text": (
        files.docx(around("<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>")),
        "before after",
        {"deleted_text": 1},
    ),
    "pictures": (
        files.docx(
            around(picture("") * 2 + '<w:r><w:object><v:shape><v:imagedata r:id="r0"/></v:shape></w:object></w:r>')
        ),
        "before after",
        {"picture": 3},
    ),
    "a comment": (
        files.docx(
            f'<w:p><w:commentRangeStart w:id="0"/>{run("Words.")}<w:r><w:commentReference w:id="0"/></w:r></w:p>',
            comments=f'<w:comment w:id="0">{paragraph("Really?")}</w:comment>',
        ),
        "Words.",
        {"comment": 1},
    ),
    "a file within": (files.docx(paragraph("Words."), aFChunk=paragraph("More")), "Words.", {"attachment": 1}),
    "a header": (files.docx(paragraph("Words."), header1=paragraph("Secret")), "Words.", {"header_or_footer": 1}),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_a_word_file_holds_beside_its_text_is_left_out_and_counted(name: str) -> None:
    body, right, counts = LEFT_OUT[name]
    found = text_of("docx", memoryview(body), 10_000)
    assert (found.text, {remark.kind: remark.count for remark in found.remarks}) == (right, counts)
