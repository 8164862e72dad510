"""What the documents say is held against what is there: links, dependencies, the commands of the Makefile."""

import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
GUIDES = ("host-guide", "user-guide/presets", "operator-guide", "security", "verdicts", "architecture")
MINIMUM_WORDS = 400
MAX_WORDS, MAX_PICTURES = 60_000, 15


def test_every_relative_link_leads_to_a_file_and_a_heading_that_exist() -> None:
    broken = [
        f"{document.relative_to(ROOT)}: {target}"
        for document in DOCUMENTS
        for target in links(document)
        if not target.startswith(("https://", "http://", "mailto:")) and not leads_somewhere(document, target)
    ]
    assert broken == []


def test_every_document_is_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        document = waiting.pop()
        if document in reached or document.suffix != ".md":
            continue
        reached.add(document)
        for target in links(document):
            linked = (document.parent / unquote(target.partition("#")[0])).resolve()
            # A folder of guides is reached by its first page, as a folder's listing shows it.
            is_folder = linked.name == "README.md" and linked.parent != ROOT
            waiting.extend(sorted(linked.parent.glob("*.md")) if is_folder else [linked])
    assert [str(document.relative_to(ROOT)) for document in DOCUMENTS if document not in reached] == []


def test_every_dependency_is_named_with_its_reason_and_no_other() -> None:
    rows = re.findall(r"^\| (`[^|]+`) \|", (ROOT / "docs/dependencies.md").read_text(), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert named == {*dependencies(), *dependencies_of_the_app()}


def test_every_document_begins_with_its_one_title() -> None:
    for document in DOCUMENTS:
        levels = [token.tag for token in tokens(document) if token.type == "heading_open"]
        assert levels[:1] == ["h1"], document
        assert levels.count("h1") == 1, document


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_is_prose_that_a_demonstration_can_work_on(name: str) -> None:
    paragraphs = [token.content for token in tokens(ROOT / "docs" / f"{name}.md") if token.type == "inline"]
    assert len(" ".join(paragraphs).split()) >= MINIMUM_WORDS


def test_the_commands_that_documents_name_are_in_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {name for document in DOCUMENTS for name in re.findall(r"`make ([a-z-]+)[^`]*`", document.read_text())}
    assert named <= targets


def test_every_file_of_the_project_that_a_document_names_is_there() -> None:
    named = {
        (document, path)
        for document in [*DOCUMENTS, ROOT / "sdk/README.md"]
        for path in re.findall(r"`((?:src|sdk/src|web/src|tests|docs)/[\w./-]+)`", document.read_text())
    }
    assert len(named) > 50
    assert sorted(f"{document.name}: {path}" for document, path in named if not (ROOT / path).exists()) == []


def test_every_module_that_a_document_names_is_there() -> None:
    named = {name for document in DOCUMENTS for name in re.findall(r"`carrel\.([a-z_.]+)`", document.read_text())}
    paths = [ROOT / "src/carrel" / name.replace(".", "/") for name in named]
    assert paths
    assert [str(path) for path in paths if not (path.is_dir() or path.with_suffix(".py").exists())] == []


def test_every_picture_says_in_words_what_it_shows() -> None:
    pictures = [
        child
        for document in DOCUMENTS
        for token in tokens(document)
        for child in token.children or []
        if child.type == "image"
    ]
    assert pictures
    assert all(len(picture.content) > 20 for picture in pictures)


def test_the_guides_keep_to_their_number_of_words_and_pictures() -> None:
    guides = [path for path in DOCUMENTS if ROOT / "docs" in path.parents and path.parent.name != "adr"]
    # Bars and rules of tables are no words.
    words = [word for path in guides for word in path.read_text().split() if re.search(r"\w", word)]
    pictures = [path for path in (ROOT / "docs").rglob("*") if path.suffix in {".png", ".jpg", ".svg"}]
    assert (len(words) <= MAX_WORDS, len(pictures) <= MAX_PICTURES) == (True, True), (len(words), len(pictures))


@cache
def tokens(document: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(document.read_text(encoding="utf-8"))


def links(document: Path) -> Iterator[str]:
    for token in tokens(document):
        for child in token.children or []:
            target = child.attrs.get("href") or child.attrs.get("src")
            if target:
                yield str(target)


def leads_somewhere(document: Path, target: str) -> bool:
    path, _, anchor = unquote(target).partition("#")
    linked = (document.parent / path).resolve() if path else document
    if not linked.exists() or not linked.is_relative_to(ROOT):
        return False
    return not anchor or anchor in anchors(linked)


@cache
def anchors(document: Path) -> set[str]:
    """The anchors of headings as the usual renderers make them."""
    parsed = tokens(document)
    return {
        re.sub(r"[^\w\- ]", "", text.content.lower()).replace(" ", "-")
        for heading, text in pairwise(parsed)
        if heading.type == "heading_open"
    }


def dependencies_of_the_app() -> set[str]:
    package = json.loads((ROOT / "web/package.json").read_text())
    return {*package["dependencies"], *package["devDependencies"]}


def dependencies() -> Iterator[str]:
    service = tomllib.loads((ROOT / "pyproject.toml").read_text())
    sdk = tomllib.loads((ROOT / "sdk/pyproject.toml").read_text())
    groups = service["dependency-groups"].values()
    for requirement in [
        *service["project"]["dependencies"],
        *sdk["project"]["dependencies"],
        *(requirement for group in groups for requirement in group),
    ]:
        yield re.split(r"[^a-z0-9-]", requirement, maxsplit=1)[0]
