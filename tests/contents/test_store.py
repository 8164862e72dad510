from collections.abc import Callable
from itertools import combinations
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from carrel.contents import search, store, versions
from carrel.contents.resolve import VariableCycle
from carrel.contents.schemas import Content, ContentChange, ContentIn, ContentType
from carrel.contents.search import ContentFilters
from carrel.errors import BadInput, NotFound, PreconditionFailed
from carrel.http.answers.etag import ANY_VERSION, IfMatch
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Paging, decode
from carrel.vault.ids import ContentId
from tests.support.workspace import SETTINGS, write

NOBODY = ContentId("nobody")
FILTERS = {"type": "fragment", "tag": "t", "words": "w"}


def replace(conn: Connection, content: Content, **changes: object) -> Content:
    fields = {name: getattr(content, name) for name in ContentIn.__struct_fields__} | changes
    return store.replace(conn, content.id, ContentChange(**fields), ANY_VERSION, SETTINGS)


def found(conn: Connection, **filters: str) -> list[str]:
    page = search.find(conn, msgspec.convert(filters, ContentFilters), Paging())
    return [item.name for item in page.items]


def test_a_content_is_read_as_it_was_written(conn: Connection) -> None:
    content = write(conn, "Grüße\0!", name="Name", kind="input_document", tags=["b", "a"], variables={"X": None})
    assert store.get(conn, content.id) == content
    assert (content.body, content.tags, content.variables, content.version) == ("Grüße\0!", ["b", "a"], {"X": None}, 1)


def test_a_long_body_is_left_to_a_thread(conn: Connection) -> None:
    short, long = write(conn, "x" * store.SHORT_BYTES), write(conn, "x" * (store.SHORT_BYTES + 1))
    empty = write(conn)
    assert store.get_short(conn, short.id) == short
    assert store.get_short(conn, empty.id) == empty
    assert store.get_short(conn, long.id) is None


@pytest.mark.parametrize("read", [store.get, store.get_short, store.source])
def test_an_unknown_id_is_not_found(conn: Connection, read: Callable[[Connection, str], object]) -> None:
    with pytest.raises(NotFound):
        read(conn, NOBODY)


def test_a_list_shows_how_bodies_begin_and_how_long_they_are(conn: Connection) -> None:
    write(conn, "é" * 1_000)
    item = search.find(conn, ContentFilters(), Paging()).items[0]
    assert item.body_preview == "é" * 200
    assert item.body_bytes == 2_000


def test_a_list_is_newest_first_and_its_pages_do_not_shift(conn: Connection) -> None:
    for number in range(5):
        write(conn, name=f"c{number}")
    first = search.find(conn, ContentFilters(), Paging(2))
    write(conn, name="later")
    assert first.next_cursor is not None
    second = search.find(conn, ContentFilters(), Paging(2, decode(first.next_cursor)))
    assert [item.name for item in (*first.items, *second.items)] == ["c4", "c3", "c2", "c1"]


def test_a_list_is_filtered_by_type_and_tag(conn: Connection) -> None:
    write(conn, name="1", kind="fragment", tags=["x", "x"])
    write(conn, name="2", kind="input_document", tags=["x"])
    write(conn, name="3", kind="input_document", tags=["y"])
    assert found(conn, type="input_document") == ["3", "2"]
    assert found(conn, tag="x") == ["2", "1"]
    assert found(conn, type="input_document", tag="x") == ["2"]
    assert found(conn, tag="z") == []


def test_words_are_found_by_how_they_begin_in_name_description_tags_and_body(conn: Connection) -> None:
    write(conn, "the quick brown fox", name="animals", tags=["zoo"])
    write(conn, "Überraschung", name="words")
    assert found(conn, words="bro qui") == ["animals"]
    assert found(conn, words="zoo") == found(conn, words="anim") == ["animals"]
    assert found(conn, words="uberrasch") == ["words"]
    assert found(conn, words="quick missing") == []


def test_one_or_two_letters_are_whole_words_in_bodies_and_beginnings_elsewhere(conn: Connection) -> None:
    write(conn, "plan b", name="body")
    write(conn, "boats", name="other", tags=["tag"])
    write(conn, name="before", tags=["about"])
    assert found(conn, words="b") == ["before", "body"]
    assert found(conn, words="bo") == ["body"]
    assert found(conn, words="boa") == found(conn, words="ta") == ["other"]
    assert found(conn, words="B b plan") == found(conn, words="plan-b") == ["body"]
    assert found(conn, words="plan-a") == []
    assert found(conn, words="be ab") == ["before"]


def test_two_characters_of_a_script_without_spaces_are_a_beginning_everywhere(conn: Connection) -> None:
    write(conn, "日本語の文章。", name="n")
    assert found(conn, words="日") == found(conn, words="日本") == ["n"]
    assert found(conn, words="本語") == []


def test_signs_between_words_say_nothing_and_alone_find_nothing(conn: Connection) -> None:
    write(conn, "plan b", name="name")
    assert found(conn, words="plan - * b ??") == ["name"]
    assert found(conn, words="- *") == []


def test_all_words_of_the_longest_search_are_asked_for(conn: Connection) -> None:
    letters = [chr(code) for code in (*range(0x61, 0x7B), *range(0x3B1, 0x3C9), *range(0x430, 0x450))]
    write(conn, " ".join(letters[1:]), name="n")
    assert found(conn, words=" ".join(letters[1:])) == ["n"]
    assert found(conn, words=" ".join(letters)) == []
    asked = search.match_expression(conn, "a " * 99 + "a")
    assert asked == search.match_expression(conn, "a"), "each word is looked up once"


def test_what_is_searched_for_is_taken_apart_as_the_texts_were(conn: Connection) -> None:
    table = conn.value("SELECT sql FROM sqlite_schema WHERE name = 'contents_text'")
    assert f"tokenize = '{' '.join(search.TOKENIZER)}'" in table


def test_words_type_and_tag_narrow_together(conn: Connection) -> None:
    for number in range(4):
        kind: ContentType = "fragment" if number % 2 else "input_document"
        write(conn, "fox", name=str(number), kind=kind, tags=["t"] if number < 3 else [])
    assert found(conn, words="fox", type="fragment") == ["3", "1"]
    assert found(conn, words="fox", type="fragment", tag="t") == ["1"]
    page = search.find(conn, ContentFilters(words="fox"), Paging(2))
    assert page.next_cursor is not None
    rest = search.find(conn, ContentFilters(words="fox"), Paging(2, decode(page.next_cursor)))
    assert [item.name for item in rest.items] == ["1", "0"]


@pytest.mark.parametrize(
    "words", ['"', "a AND", "NEAR(", "name:x", "-x", "*", "a\0b", "^", "(", "{}", "' OR 1=1 --", ""]
)
def test_nothing_that_a_user_types_is_query_syntax(conn: Connection, words: str) -> None:
    write(conn, "AND NEAR name x a b")
    found(conn, words=words)


@hypothesis_settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=30))
def test_every_text_can_be_searched_for(conn: Connection, words: str) -> None:
    found(conn, words=words)


def test_the_index_of_words_tags_and_links_follows_every_change(conn: Connection) -> None:
    first, second = write(conn, name="first"), write(conn, name="second")
    content = write(conn, "alpha", name="n", tags=["old"], variables={"A": first.id})
    replace(conn, content, body="beta", tags=["new"], variables={"B": second.id})
    assert (found(conn, words="alpha"), found(conn, words="beta")) == ([], ["n"])
    assert (found(conn, tag="old"), found(conn, tag="new")) == ([], ["n"])
    store.delete(conn, first.id, ANY_VERSION)
    store.delete(conn, content.id, ANY_VERSION)
    assert found(conn, words="beta") == []
    assert conn.one("SELECT count(*) FROM content_tags") == conn.one("SELECT count(*) FROM content_links") == (0,)
    conn.run("INSERT INTO contents_text (contents_text, rank) VALUES ('integrity-check', 1)")


def test_saving_keeps_the_earlier_version(conn: Connection) -> None:
    content = write(conn, "one", name="first", tags=["t"])
    changed = replace(conn, content, body="two", name="second", tags=[])
    assert changed.version == 2
    assert versions.get(conn, content.id, 1) == content
    assert versions.get(conn, content.id, 2) == changed == store.get(conn, content.id)
    with pytest.raises(NotFound):
        versions.get(conn, content.id, 3)


def test_versions_are_listed_newest_first_in_pages(conn: Connection) -> None:
    content = write(conn, "body", name="v1")
    for number in (2, 3):
        content = replace(conn, content, name=f"v{number}")
    page = versions.page(conn, content.id, Paging(2))
    assert [(item.version, item.name, item.body_bytes) for item in page.items] == [(3, "v3", 4), (2, "v2", 4)]
    assert page.next_cursor is not None
    assert [item.name for item in versions.page(conn, content.id, Paging(2, decode(page.next_cursor))).items] == ["v1"]
    with pytest.raises(NotFound):
        versions.page(conn, NOBODY, Paging())


def test_a_change_is_refused_when_another_came_first(conn: Connection) -> None:
    content = write(conn, "one")
    replace(conn, content, body="two")
    data = ContentChange(name="n", type="fragment", body="three")
    with pytest.raises(PreconditionFailed):
        store.replace(conn, content.id, data, IfMatch(frozenset({1})), SETTINGS)
    with pytest.raises(PreconditionFailed):
        store.delete(conn, content.id, IfMatch(frozenset({1})))
    assert store.get(conn, content.id).body == "two"
    store.delete(conn, content.id, IfMatch(frozenset({2})))


def test_the_type_of_a_content_stays(conn: Connection) -> None:
    with pytest.raises(BadInput) as refusal:
        replace(conn, write(conn), type="input_document")
    assert refusal.value.errors[0].path == "type"


def test_changing_or_deleting_what_is_not_there_is_not_found(conn: Connection) -> None:
    with pytest.raises(NotFound):
        store.replace(conn, NOBODY, ContentChange(name="n", type="fragment"), ANY_VERSION, SETTINGS)
    with pytest.raises(NotFound):
        store.delete(conn, NOBODY, ANY_VERSION)
    with pytest.raises(NotFound):
        store.duplicate(conn, NOBODY, SETTINGS)


def test_criteria_are_checked_when_they_are_saved(conn: Connection) -> None:
    with pytest.raises(BadInput):
        write(conn, "no criteria", kind="criteria")
    content = write(conn, "- name: Clarity", kind="criteria")
    with pytest.raises(BadInput):
        replace(conn, content, body="- nothing")
    with pytest.raises(BadInput):
        write(conn, "- name: n\n#" + "x" * SETTINGS.max_criteria_bytes, kind="criteria")


def test_a_variable_must_link_to_a_content_that_exists(conn: Connection) -> None:
    other = write(conn)
    with pytest.raises(BadInput) as refusal:
        write(conn, variables={"GOOD": other.id, "OPEN": None, "BAD": NOBODY})
    assert [fault.path for fault in refusal.value.errors] == ["variables.BAD"]


def test_the_reserved_names_cannot_be_variables(conn: Connection) -> None:
    with pytest.raises(BadInput) as refusal:
        write(conn, variables={"document": None, "OTHER": None, "reference": None})
    assert [fault.path for fault in refusal.value.errors] == ["variables.document", "variables.reference"]
    with pytest.raises(BadInput):
        store.resolved(conn, write(conn).id, {"document": "text"}, SETTINGS)


def test_a_circle_is_refused_when_it_is_saved(conn: Connection) -> None:
    first = write(conn)
    second = write(conn, variables={"A": first.id})
    third = write(conn, variables={"B": second.id})
    with pytest.raises(VariableCycle) as refusal:
        replace(conn, first, variables={"FREE": None, "C": third.id})
    assert [fault.path for fault in refusal.value.errors] == ["variables.C"]
    with pytest.raises(VariableCycle):
        replace(conn, first, variables={"SELF": first.id})
    replace(conn, third, variables={"B": second.id, "A": first.id})


def test_a_content_that_another_links_to_cannot_be_deleted(conn: Connection) -> None:
    linked = write(conn)
    holder = write(conn, variables={"A": linked.id, "B": linked.id})
    with pytest.raises(store.ContentInUse) as refusal:
        store.delete(conn, linked.id, ANY_VERSION)
    assert refusal.value.errors == (("contents", holder.id),)
    store.delete(conn, holder.id, ANY_VERSION)
    store.delete(conn, linked.id, ANY_VERSION)


def test_a_deleted_content_takes_its_versions_along(conn: Connection) -> None:
    content = write(conn, "one")
    replace(conn, content, body="two")
    store.delete(conn, content.id, ANY_VERSION)
    assert conn.one("SELECT count(*) FROM content_versions") == (0,)


def test_a_copy_says_so_and_its_name_is_not_too_long(conn: Connection) -> None:
    original = write(conn, "body {{A}}", name="n" * 200, tags=["t"], variables={"A": None})
    copy = store.duplicate(conn, original.id, SETTINGS)
    assert copy.name == ("Copy of " + "n" * 200)[:200]
    assert (copy.body, copy.tags, copy.variables, copy.version) == (original.body, ["t"], {"A": None}, 1)
    assert copy.id != original.id


def test_resolving_follows_the_links_in_the_database(conn: Connection) -> None:
    tone = write(conn, "kindly")
    letter = write(conn, "Answer {{TONE}} about {{TOPIC}} and {{MORE}}.", variables={"TONE": tone.id, "TOPIC": None})
    found = store.resolved(conn, letter.id, {"TOPIC": "{{TONE}}"}, SETTINGS)
    assert found.body == "Answer kindly about {{TONE}} and {{MORE}}."
    assert found.unresolved == ["MORE"]


def test_counts_name_every_type(conn: Connection) -> None:
    write(conn, kind="fragment")
    write(conn, kind="input_document")
    write(conn, kind="input_document")
    counts = store.counts(conn)
    assert counts.total == 3
    assert counts.by_type["input_document"] == 2
    assert counts.by_type["criteria"] == 0
    assert len(counts.by_type) == 9


@pytest.mark.parametrize("paging", [Paging(50), Paging(50, 1_000)], ids=["first", "later"])
@pytest.mark.parametrize("filters", [dict(few) for count in range(4) for few in combinations(FILTERS.items(), count)])
def test_a_page_of_any_list_is_found_by_an_index(conn: Connection, filters: dict[str, str], paging: Paging) -> None:
    statements: list[tuple[str, Any]] = []

    def note(_: object, sql: str, params: Any) -> bool:
        statements.append((sql, params))
        return True

    conn.exec_trace = note
    search.find(conn, msgspec.convert(filters, ContentFilters), paging)
    conn.exec_trace = None
    sql, params = statements[-1]
    steps = [row[3] for row in conn.all(f"EXPLAIN QUERY PLAN {sql}", *params)]
    scanned = {"SCAN contents"} if filters or paging.after else set()
    assert not [step for step in steps if "TEMP B-TREE" in step or step in scanned], steps
    # FTS5 gives the rows in the order in which it has them: 192 would be the descending one.
    assert [step for step in steps if "contents_text" in step] == (
        ["SCAN contents_text VIRTUAL TABLE INDEX 0:M4"] if "words" in filters else []
    )


def test_a_blank_search_is_no_search(conn: Connection) -> None:
    write(conn, name="n")
    assert found(conn, words=" ") == ["n"]
