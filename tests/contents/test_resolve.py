import time
import tracemalloc
from collections.abc import Callable, Mapping

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.contents import budget as budgets
from carrel.contents.budget import Budget, ResolveBudget
from carrel.contents.resolve import (
    ResolvedText,
    ResultTooLarge,
    Slot,
    SourceContent,
    VariableCycle,
    VariableDepth,
    fill,
    resolve,
)
from carrel.contents.schemas import Used
from carrel.vault.ids import ContentId

Written = Mapping[str, tuple[str, Mapping[str, str | None]]]


def library(written: Written) -> Callable[[ContentId], SourceContent]:
    def load(content_id: ContentId) -> SourceContent:
        body, variables = written[content_id]
        links = {name: None if linked is None else ContentId(linked) for name, linked in variables.items()}
        return SourceContent(content_id, body, links, len(body.encode()))

    return load


def resolved(
    written: Written,
    given_texts: Mapping[str, str] | None = None,
    *,
    max_bytes: int = 4 * 1024 * 1024,
    max_depth: int = 16,
    budget: Budget | None = None,
) -> ResolvedText:
    load = library(written)
    return resolve(
        load(ContentId("root")),
        given_texts or {},
        load,
        max_bytes=max_bytes,
        max_depth=max_depth,
        budget=budget or Budget(max_bytes),
    )


def test_a_placeholder_is_replaced_by_the_given_text() -> None:
    assert resolved({"root": ("Be {{TONE}}.", {})}, {"TONE": "kind"}).body == "Be kind."


def test_a_name_may_be_any_words_and_spaces_around_and_between_them_do_not_matter() -> None:
    for body in ("Be {{ TONE }}.", "Be {{User \t Ton}}.", "Be {{gro\u0308ße|upper}}.", "Be {{質問}}."):
        found = resolved(
            {"root": (body, {})}, {"TONE": "kind", "User Ton": "kind", "größe|upper": "kind", "質問": "kind"}
        )
        assert (found.body, found.size) == ("Be kind.", 8)
    for plain in ("{{}}", "{{ }}", "{{a\nb}}", "{{" + "x" * 117 + "}}"):
        assert resolved({"root": (plain, {})}).unresolved == []


def test_a_given_text_wins_over_a_linked_content_everywhere() -> None:
    written = {"root": ("{{A}}", {"A": "a"}), "a": ("{{B}}", {"B": "b"}), "b": ("linked", {})}
    found = resolved(written, {"B": "given"})
    assert found.body == "given"
    assert found.used == [Used("A", ContentId("a")), Used("B", None)]


def test_linked_contents_are_resolved_with_their_own_variables() -> None:
    written = {
        "root": ("{{X}} {{A}}", {"A": "a", "X": "x"}),
        "a": ("{{X}}", {"X": "y"}),
        "x": ("1", {}),
        "y": ("2", {}),
    }
    assert resolved(written).body == "1 2"


def test_what_is_neither_given_nor_linked_stays_and_is_named_once() -> None:
    found = resolved({"root": ("{{B}} {{A}} {{B}}", {"A": None})})
    assert found.body == "{{B}} {{A}} {{B}}"
    assert found.unresolved == ["B", "A"]


def test_a_placeholder_inside_a_given_text_is_never_expanded() -> None:
    found = resolved({"root": ("{{A}}", {"B": "b"}), "b": ("secret", {})}, {"A": "{{B}} {{document}}"})
    assert found.body == "{{B}} {{document}}"
    assert found.unresolved == []
    assert fill(found.body, found.slots, {"document": "input"}) == "{{B}} {{document}}"


def test_the_reserved_placeholders_are_left_to_the_run_wherever_they_come_from() -> None:
    written = {"root": ("é{{A}}|{{reference}}", {"A": "a"}), "a": ("[{{ document }}]", {})}
    found = resolved(written)
    assert found.unresolved == []
    assert fill(found.body, found.slots, {"document": "{{reference}}", "reference": "R"}) == "é[{{reference}}]|R"
    assert fill(found.body, found.slots, {"reference": "R"}) == "é[{{ document }}]|R"


def test_a_circle_is_refused() -> None:
    with pytest.raises(VariableCycle):
        resolved({"root": ("{{A}}", {"A": "a"}), "a": ("{{R}}", {"R": "root"})})


def test_a_link_that_no_placeholder_uses_is_not_followed() -> None:
    assert resolved({"root": ("plain", {"A": "root"})}).body == "plain"


def chain(length: int, body: str = "{{N}}", last: str = "end") -> dict[str, tuple[str, dict[str, str | None]]]:
    written: dict[str, tuple[str, dict[str, str | None]]] = {
        name: (body, {"N": f"c{index + 1}"})
        for index, name in enumerate(["root", *(f"c{index}" for index in range(1, length))])
    }
    written[f"c{length}"] = (last, {})
    return written


def test_sixteen_links_deep_is_allowed_and_seventeen_is_not() -> None:
    assert resolved(chain(16)).body == "end"
    with pytest.raises(VariableDepth):
        resolved(chain(17))


def test_depth_counts_the_longest_way_also_when_a_shorter_one_came_first() -> None:
    written = chain(3)
    written["root"] = ("{{S}}{{N}}", {"S": "c2", "N": "c1"})
    assert resolved(written, max_depth=3).body == "endend"
    with pytest.raises(VariableDepth):
        resolved(written, max_depth=2)


def test_the_result_may_have_exactly_as_many_bytes_as_the_limit() -> None:
    assert resolved({"root": ("{{A}}!", {})}, {"A": "é" * 4}, max_bytes=9).body == "éééé!"
    with pytest.raises(ResultTooLarge):
        resolved({"root": ("{{A}}!!", {})}, {"A": "é" * 4}, max_bytes=9)


@pytest.mark.parametrize("last", ["end", ""])
def test_a_doubling_chain_costs_no_more_than_its_limit(last: str) -> None:
    written = chain(16, body="{{N}}" * 200, last=last)
    began = time.process_time()
    if last:
        with pytest.raises(ResultTooLarge):
            resolved(written)
    else:
        assert resolved(written).body == ""
    assert time.process_time() - began < 2


def test_no_more_than_a_thousand_contents_go_into_one_result() -> None:
    names = [f"c{index}" for index in range(1_001)]
    written: Written = {
        "root": ("".join(f"{{{{{name}}}}}" for name in names), {name: name for name in names}),
        **{name: ("", {}) for name in names},
    }
    with pytest.raises(ResultTooLarge):
        resolved(written)


def test_placeholders_are_counted_over_all_texts_of_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "MAX_REFERENCES", 1_000)
    budget = Budget(max_bytes=4_000)
    for _ in range(2):
        assert resolved({"root": ("{{A}}" * 500, {})}, {"A": "x"}, budget=budget).body == "x" * 500
    with pytest.raises(ResolveBudget):
        resolved({"root": ("{{A}}", {})}, {"A": "x"}, budget=budget)


def test_bytes_are_counted_over_all_texts_of_a_request() -> None:
    budget = Budget(max_bytes=10)
    assert resolved({"root": ("éé{{A}}", {})}, {"A": "xx"}, budget=budget).body == "ééxx"
    with pytest.raises(ResolveBudget):
        resolved({"root": ("fives", {})}, budget=budget)


def test_slots_that_are_carried_from_link_to_link_count_as_placeholders() -> None:
    with pytest.raises(ResolveBudget):
        resolved(chain(16, last="{{document}}" * 20_000))


def test_a_chain_of_long_texts_holds_each_text_once() -> None:
    written = chain(15, body="é{{N}}", last="x" * 4_000_000)
    tracemalloc.start()
    found = resolved(written)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()
    assert found.pieces == ["é" * 15, "x" * 4_000_000]
    assert found.size == len(found.body.encode())


def test_texts_that_have_to_be_joined_take_no_more_memory_than_a_multiple_of_the_limit() -> None:
    # Each character takes four bytes of memory, and each content makes a text of its own.
    names = [f"c{index}" for index in range(300)]
    variables = {name: name for name in names}
    written: Written = {
        "root": ("".join(f"{{{{{name}}}}}" for name in names), variables),
        **{name: ("{{S}}" * 1_000, {"S": "s"}) for name in names},
        "s": ("\U0001f600234", {}),
    }
    tracemalloc.start()
    with pytest.raises(ResultTooLarge):
        resolved(written, max_bytes=200_000, budget=Budget(200_000))
    assert tracemalloc.get_traced_memory()[1] < 3_400_000
    tracemalloc.stop()


@pytest.mark.parametrize("before", [0, 1, 65_450, 65_452, 65_490, 65_535, 65_536, 131_000])
def test_a_placeholder_is_found_wherever_it_stands(before: int) -> None:
    name = "N" * 100
    own = f"{{{{        {name}        }}}}"
    body = "{" * before + own + "é" * 70_000 + own
    assert resolved({"root": (body, {})}, {name: "!"}).body == "{" * before + "!" + "é" * 70_000 + "!"


@given(st.text(alphabet="{}A_ é\n", max_size=40))
def test_a_text_without_placeholders_comes_back_as_it_was(body: str) -> None:
    found = resolved({"root": (body, {})}, {"A": "value"})
    assert found.used or found.body == body


@given(st.lists(st.sampled_from(["x", "é", "{{document}}", "{{G}}", "{{L}}"]), max_size=8))
def test_slots_stand_exactly_where_the_reserved_placeholders_stand(pieces: list[str]) -> None:
    found = resolved({"root": ("".join(pieces), {"L": "l"}), "l": ("<{{document}}>", {})}, {"G": "{{document}}"})
    assert all(found.body[slot.start : slot.end] == "{{document}}" for slot in found.slots)
    assert len(found.slots) == pieces.count("{{document}}") + pieces.count("{{L}}")
    filled = fill(found.body, found.slots, {"document": "D"})
    assert filled == "".join({"{{document}}": "D", "{{G}}": "{{document}}", "{{L}}": "<D>"}.get(p, p) for p in pieces)


def test_slots_survive_being_stored_as_json() -> None:
    slot = Slot(3, 15, "document")
    assert msgspec.json.decode(msgspec.json.encode(slot), type=Slot) == slot
