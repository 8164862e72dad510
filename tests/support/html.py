"""A page of HTML taken apart, to look for what could do harm and for what must be there."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta", "br", "hr", "line", "rect", "circle"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str | None]
    inside: list[str]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """Every element with its attributes and text, in document order. Tags must be closed in order."""

    elements: list[Element] = field(default_factory=list)
    unclosed: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs), [one.tag for one in self.unclosed])
        assert len(element.attributes) == len(attrs), f"an attribute twice in {tag}"
        self.elements.append(element)
        if tag not in _VOID:
            self.unclosed.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, dict(attrs), [one.tag for one in self.unclosed]))

    def handle_endtag(self, tag: str) -> None:
        assert self.unclosed, f"</{tag}> closes nothing"
        assert self.unclosed[-1].tag == tag, f"</{tag}> closes <{self.unclosed[-1].tag}>"
        self.unclosed.pop()

    def handle_data(self, data: str) -> None:
        for element in self.unclosed:
            element.text += data

    def all(self, *tags: str) -> list[Element]:
        return [element for element in self.elements if element.tag in tags]


def read(html: str) -> Page:
    page = Page()
    page.feed(html)
    page.close()
    assert not page.unclosed, [element.tag for element in page.unclosed]
    return page


def assert_harmless(page: Page) -> None:
    """No script, no handler, nothing from outside, no way out."""
    forbidden = {
        *("script", "iframe", "object", "embed", "img", "image", "link", "base", "form", "input", "button", "video"),
        *("audio", "source", "use", "foreignobject", "animate", "set", "template", "portal", "noscript", "textarea"),
    }
    for element in page.elements:
        assert element.tag not in forbidden, element.tag
        for name, value in element.attributes.items():
            assert not name.startswith("on"), name
            assert name not in {"src", "srcset", "action", "formaction", "background", "xlink:href", "srcdoc", "style"}
            if name == "href":
                assert element.tag == "a"
                assert (value or "").startswith("#")
            if element.tag == "meta" and name == "http-equiv":
                assert value == "Content-Security-Policy"
