"""Web pages: what a reader sees, in Markdown, from pages as browsers, offices and people write them."""

import time
from contextlib import suppress

import pytest

from carrel.documents.extract import text_of
from carrel.documents.numerals import numeral, of_word
from carrel.documents.refusals import DocumentWithoutText, FormatMismatch, TextNotUtf8
from carrel.errors import CarrelError


def read(page: bytes | str, limit: int = 100_000) -> str:
    return text_of("html", memoryview(page.encode() if isinstance(page, str) else page), limit).text


CASES = {
    "an empty cell": (
        "<table><tr><th>Plan</th><th>Basic</th><th>Pro</th></tr>\n<tr><td></td><td>monthly</td><td>yearly</td></tr></table>",
        "| Plan | Basic | Pro |\n| --- | --- | --- |\n|  | monthly | yearly |",
    ),
    "blocks in cells": (
        "<table><tr><td>a</td><td>b</td></tr><tr><td><p>Mail</p><p>Forum</p></td><td><ul><li>x</li><li>y</li></ul></td></tr></table>",
        "| a | b |\n| --- | --- |\n| Mail<br>Forum | - x<br>- y |",
    ),
    "cells of several rows and columns": (
        "<table><tr><td>a<td>b<td>c<tr><td rowspan=2>1<td>2<td>3<tr><td>5<td>6<tr><td colspan=2>7<td>8</table>",
        "| a | b | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n|  | 5 | 6 |\n| 7 |  | 8 |",
    ),
    "a bar in a cell": ("<table><tr><td>a<td>b<tr><td>x|y<td>z</table>", "| a | b |\n| --- | --- |\n| x\\|y | z |"),
    "a caption": (
        "<table><caption>Prices</caption><tr><td>a<td>b<tr><td>1<td>2</table>",
        "Prices\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
    ),
    "a table that places things": (
        '<table role="presentation"><tr><td><h1>Offer</h1><p>Ten lamps.</p></td><td>Call us.</td></tr></table>',
        "# Offer\n\nTen lamps.\n\nCall us.",
    ),
    "a table within a table": (
        "<table><tr><td>a<td>b</tr><tr><td><table><tr><td>1<td>2</table><td>c</tr></table>",
        "| a | b |\n| --- | --- |\n| 1, 2 | c |",
    ),
    "an empty cell of a table within a table": (
        "<table><tr><td>a<td>b</tr><tr><td><table><tr><td>x<td>y<tr><td><td>2</table><td>c</tr></table>",
        "| a | b |\n| --- | --- |\n| x, y; , 2 | c |",
    ),
    "headings in cells": (
        "<table><tr><th></th><th><h2>Basic</h2></th><th><h2>Pro</h2></th></tr><tr><td>Price<td><td>20</table>",
        "|  | Basic | Pro |\n| --- | --- | --- |\n| Price |  | 20 |",
    ),
    "a cell of all rows that follow": (
        "<table><tr><td rowspan=0>a<td>1<tr><td>2<tr><td>3</table>",
        "| a | 1 |\n| --- | --- |\n|  | 2 |\n|  | 3 |",
    ),
    "a cell ends with its part of the table": (
        "<table><tbody><tr><td rowspan=5>a<td>1</tbody><tbody><tr><td>b<td>2</tbody></table>",
        "| a | 1 |\n| --- | --- |\n| b | 2 |",
    ),
    "cells in no row, and rows in no table": (
        "<table><tr><td>a<td>b</tr><td>c<td>d</table><p>x</p><tr><td>1</td><td>2</td></tr>",
        "| a | b |\n| --- | --- |\n| c | d |\n\nx\n\n1\n\n2",
    ),
    "a foot before the head": (
        "<table><tfoot><tr><td>sum<td>3</tfoot><thead><tr><th>a<th>b</thead><tr><td>x<td>3</table>",
        "| a | b |\n| --- | --- |\n| x | 3 |\n| sum | 3 |",
    ),
    "a table of styles and one of roles": (
        '<div style="display: table"><p style="display:table-row"><span style="display:table-cell">a</span>'
        '<span style="display:table-cell">b</span></p></div><div role="cell">x</div><div role="grid"><div role="row">'
        '<div role="cell">1</div><div role="cell"></div></div><div role="row"><div role="cell">2</div>'
        '<div role="cell">3</div></div></div>',
        "| a | b |\n| --- | --- |\n\nx\n\n| 1 |  |\n| --- | --- |\n| 2 | 3 |",
    ),
    "numbers of items": (
        "<ol><li>Open<ol type=a><li>Cut</li><li>Lift</li></ol></li><li>Press</li></ol><ol start=7><li>Last</li></ol>",
        "1. Open\n   a. Cut\n   b. Lift\n2. Press\n\n7. Last",
    ),
    "numbers that are given": ("<ol><li>a<li value=5>b<li>c</ol>", "1. a\n5. b\n6. c"),
    "numbers of a style": (
        '<ol style="list-style-type: lower-roman"><li>a<li>b</ol><ol style="list-style:cjk-ideographic"><li>c</ol>',
        "i. a\nii. b\n\n一. c",
    ),
    "no numbers": ('<ol style="list-style: none"><li>a<li>b</ol>', "a\nb"),
    "a list beside its item": ("<ol><li>a</li><ol><li>b</li></ol><li>c</li></ol>", "1. a\n   1. b\n2. c"),
    "meanings": ("<dl><dt>Date<dd>May<dd>June</dl>", "Date\n:   May\n:   June"),
    "a fraction": ("5<sup>1</sup>/<sub>2</sub> cups", "5 1/2 cups"),
    "numbers that go down": ("<ol reversed><li>a<li>b</ol>", "2. a\n1. b"),
    "powers and ordinals": (
        "5&times;10<sup>6</sup>, 10<sup>-3</sup>, e<sup>x + 1</sup>, H<sub>2</sub>O, 1<sup>st</sup>",
        "5×10^6, 10^-3, e^(x + 1), H2O, 1st",
    ),
    "letters and numbers below": (
        "x<sub>i</sub>, T<sub>max</sub>, R<sup>j</sup><sub>2</sub>",
        "x_i, T_(max), R^j_2",
    ),
    "raised by a style": ('10<span style="font-size:.6em; vertical-align: super">6</span>', "10^6"),
    "raised by a class": ("<style>.s{vertical-align:super}</style>10<span class=s>6</span>", "10^6"),
    "a formula that is hidden beside its picture": (
        '<p>is <i class=mwe-math-element><b hidden><math alttext="{\\displaystyle x^2}"></math></b><img alt=x></i></p>',
        "is $x^2$",
    ),
    "a formula under a prefix, an accent, and cells without elements": (
        "<m:math><m:msup><m:mi>x</m:mi><m:mn>2</m:mn></m:msup></m:math> <math><mover><mi>y</mi><mo>¯</mo></mover>"
        "<mtable><mtr><mtd>1</mtd></mtr></mtable></math>",
        r"$x^2$ $\bar{y}\begin{matrix}1\end{matrix}$",
    ),
    "a formula that is drawn, too": (
        '<p>is <span class="katex"><span class="katex-mathml"><math><semantics><mi>x</mi><annotation encoding='
        '"application/x-tex">x^2</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">x2'
        "</span></span></p>",
        "is $x^2$",
    ),
    "a formula beside its source": (
        '<p>is <span class="MathJax">E<math><mi>E</mi></math></span><script type="math/tex">E=mc^2</script></p>',
        "is $E=mc^2$",
    ),
    "a formula with what stands around it": (
        "<math><mmultiscripts><mi>C</mi><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts></math>",
        "${}_6^{14}C$",
    ),
    "a formula that says what it is": ('<p>is <math alttext="E=mc^2"><mi>E</mi></math></p>', "is $E=mc^2$"),
    "a formula in parts": (
        "<p><math><mfrac><mn>1</mn><msup><mi>x</mi><mn>2</mn></msup></mfrac></math></p>",
        r"$\frac{1}{x^2}$",
    ),
    "what is hidden": ('<p>a</p><p hidden>b</p><p style="color: red; display : none">c</p><p>d</p>', "a\n\nd"),
    "what a style sheet hides": (
        "<style>/* .b{display:none} */ .a, #i { display: none !important }</style><style>.c{visibility:hidden}</style>"
        "<p class='x a'>a</p><p class=b>b</p><p id=i>c</p><p class=c>d</p><p class=a style='display: block'>e</p>",
        "b\n\ne",
    ),
    "what is hidden on paper": ("<style media=print>.a{display:none}</style><p class=a>a</p>", "a"),
    "what a style sheet may show": (
        "<style>@media print{.a{display:none}} .b{display:none} .open .b{display:block} p.c{display:none}</style>"
        "<p class=a>a</p><p class=b>b</p><p class=c>c</p>",
        "a\n\nb\n\nc",
    ),
    "scripts and styles": (
        "<title>t</title><style>p{}</style><script>alert('<p>x')</script><p>Some &amp; more",
        "Some & more",
    ),
    "headings, breaks and quotations": (
        "<h2>Part <i>one</i></h2><p>a<br>b</p><blockquote>q</blockquote><hr>",
        "## Part one\n\na\nb\n\n> q\n\n---",
    ),
    "programs": ("<pre>def f(x):\n    return x &lt; 3</pre>", "```\ndef f(x):\n    return x < 3\n```"),
    "forms": (
        "<p><select><option>Red<option selected>Blue</select><input value=typed><select><option>S<option>L</select>"
        '<input type=checkbox checked>yes <span role="radio" aria-checked="false"></span>no '
        "<b role=switch aria-checked=true>on</b> <select multiple><option selected>A<option selected>B</select></p>",
        "Blue typed S ☑ yes ☐ no ☑ on A B",
    ),
    "pictures": ('<p>a <img src=x onerror=y> b <img alt="Sales doubled" src=y></p>', "a b ![Sales doubled]()"),
    "struck text": (
        '<p>9 <del>8</del> <span style="text-decoration: line-through">7</span></p>',
        "9 ~~8~~ ~~7~~",
    ),
    "stars and lines stay": ("<p>a*b_c * d</p>", "a*b_c * d"),
    "hyphens and spaces that only bind": ("<p>soft&shy;hyphen 20&nbsp;euros</p>", "softhyphen 20 euros"),
    "ruby": ("<p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby></p>", "漢字"),
    "what is never closed": ("<p>a<div>b<span>c", "a\n\nbc"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_page_is_read_as_its_reader_sees_it(name: str) -> None:
    page, right = CASES[name]
    assert read(page) == right


def test_what_a_page_hides_is_counted() -> None:
    found = text_of("html", memoryview(b"<p>a<p hidden>b<div hidden> </div><p><img src=x>"), 1_000)
    assert {remark.kind: remark.count for remark in found.remarks} == {"hidden_text": 1, "picture": 1}


WORDS = "Größe: 5 €"
ENCODINGS = {
    "utf-8": WORDS.encode(),
    "utf-8 with its mark": b"\xef\xbb\xbf" + WORDS.encode(),
    "utf-16": WORDS.encode("utf-16"),
    "utf-16, big end first": b"\xfe\xff" + WORDS.encode("utf-16-be"),
    "windows-1252": b'<meta charset="windows-1252">' + WORDS.encode("cp1252"),
    "latin-1 by name": b"<meta charset=iso-8859-1>" + WORDS.encode("cp1252"),
    "an old declaration": (
        b'<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">' + WORDS.encode("cp1252")
    ),
    "an XML declaration": b'<?xml version="1.0" encoding="windows-1252"?><p>' + WORDS.encode("cp1252"),
    "a name that stands in a remark only": b"<!-- <meta charset=shift_jis> -->" + WORDS.encode(),
    "utf-16 by name only": b'<meta charset="utf-16">' + WORDS.encode(),
    "windows-1252, as browsers guess": WORDS.encode("cp1252"),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_page_is_read_in_the_encoding_that_it_names(name: str) -> None:
    assert read(ENCODINGS[name]) == WORDS


@pytest.mark.parametrize(
    ("charset", "encoding", "words"),
    [("Shift_JIS", "cp932", "質問①"), ("windows-874", "cp874", "ไทย"), ("iso-8859-8-i", "iso8859-8", "שלום")],
)
def test_a_page_of_another_script_is_read(charset: str, encoding: str, words: str) -> None:
    assert read(f"<meta charset={charset}>".encode() + words.encode(encoding)) == words


@pytest.mark.parametrize("page", ["Привет".encode("cp1251"), b"<meta charset=x-unknown>a", b"<meta charset=utf-8>\xff"])
def test_no_other_encoding_is_guessed(page: bytes) -> None:
    with pytest.raises(TextNotUtf8):
        read(page)


def test_texts_may_be_utf_16_with_their_mark() -> None:
    assert text_of("txt", memoryview("a\r\nb".encode("utf-16")), 100).text == "a\nb"
    with pytest.raises(FormatMismatch):
        text_of("txt", memoryview("a,b".encode("utf-16-le")), 100)


def test_a_page_of_nothing_has_no_text() -> None:
    with pytest.raises(DocumentWithoutText):
        read("<script>only()</script>")


def test_lists_count_as_they_say() -> None:
    assert [numeral(number, "a") for number in (1, 26, 27, 0)] == ["a", "z", "aa", "0"]
    assert [numeral(number, "I") for number in (4, 9, 1994)] == ["IV", "IX", "MCMXCIV"]
    names = (
        "japaneseCounting",
        "koreanCounting",
        "russianUpper",
        "hebrew1",
        "ordinal",
        "decimalFullWidth",
        "none of them",
    )
    assert [[of_word(number, name) for number in (3, 21, 120)] for name in names] == [
        ["三", "二十一", "120"],
        ["삼", "이십일", "120"],
        ["В", "Х", "ГГГГГ"],
        ["ג", "21", "120"],
        ["3rd", "21st", "120th"],
        ["３", "２１", "１２０"],
        ["3", "21", "120"],
    ]


UNITS = (
    "<a ",
    "<",
    "</",
    "<!--",
    "<p>",
    "<b>",
    "<table>",
    "<td>",
    "<ol><li>",
    "<a x='",
    "&#",
    "<math>",
    "<svg>",
    "<pre>",
)


def test_no_page_takes_long() -> None:
    for unit in UNITS:
        begun = time.process_time()
        with suppress(CarrelError):
            read(unit * (30_000 // len(unit)))
        assert time.process_time() - begun < 2, unit
