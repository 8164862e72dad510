"""Word files. Mammoth reads them and gives HTML, of which `markdown` makes Markdown.

Mammoth follows the parts of a file, its styles, notes, symbols, fields, revisions and merged cells. What it passes over
is told in terms that it knows, in `word_markup`, before it reads.
"""

from collections import Counter
from typing import Final

import mammoth

from carrel.documents import packages, word_markup
from carrel.documents.html import parsed, unwrap_layout
from carrel.documents.markdown import LABEL, markdown
from carrel.documents.refusals import DocumentBroken, DocumentTooComplex

_STYLES: Final = "\n".join(
    [
        *(f"p[style-name='heading {level}'] => h6:fresh" for level in (7, 8, 9)),
        *("p[style-name='Title'] => h1:fresh", "strike => s"),
        *("br[type='page'] => br:fresh", "br[type='column'] => br:fresh"),
        *(
            f"p:{kind}-list({level}) => {'ul|ol > li > ' * (level - 1)}{tag} > li:fresh"
            for level in range(6, 10)
            for kind, tag in (("unordered", "ul"), ("ordered", "ol"))
        ),
    ]
)
_BOXES: Final = {"\U0001f5f9": "☑", "\U0001f78e": "☐", "\U0001f5f7": "☒", "\U0001f5f5": "☒", "\U0001f549": "ॐ"}
_SIGNS: Final = str.maketrans(
    _BOXES | dict(zip("\U0001f10b➀➁➂➃➄➅➆➇➈➉\U0001f10c➊➋➌➍➎➏➐➑➒➓", "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿", strict=True))
)
"""What Mammoth makes of Word's boxes and numbers in circles, and the characters for it that more fonts have."""


def text(body: memoryview, left_out: Counter[str]) -> str:
    """The text of the document itself; `left_out` counts what is not in it.

    Raises:
        DocumentBroken, DocumentEncrypted, DocumentTooComplex
    """
    try:
        parts = packages.parts(body)
        package = word_markup.readable(parts, left_out)
        found = mammoth.convert_to_html(
            package,
            style_map=_STYLES,
            include_embedded_style_map=False,
            convert_image=mammoth.images.img_element(lambda _: {"src": ""}),
        )
    except RecursionError:
        raise DocumentTooComplex from None
    except packages.LAME:
        raise DocumentBroken from None
    tree = parsed(found.value)
    for link in tree.select('a[href^="#footnote-ref-"], a[href^="#endnote-ref-"]'):
        link.decompose()
    for place, note in enumerate(tree.select('li[id^="footnote-"], li[id^="endnote-"]'), 1):
        note[LABEL] = f"[^{place}]:"
    for link in tree.select('a[href^="#footnote-"], a[href^="#endnote-"]'):
        link.string = link.get_text().replace("[", "[^")
    word_markup.take_labels(tree)
    unwrap_layout(tree)
    return markdown(tree).translate(_SIGNS)
