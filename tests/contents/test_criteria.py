import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.contents.criteria import MAX_CRITERIA, MAX_WEIGHT, parse
from carrel.errors import BadInput, FieldError
from carrel.providers.base import Criterion

LIMIT = 64 * 1024

GOOD = """
- name: Coverage
  description: >
    Says what matters
    most.
  weight: 2.5
  scale: {min: 0, max: 10}
- name: Clarity
"""


def test_a_list_of_criteria_is_understood_with_its_defaults() -> None:
    assert parse(GOOD, LIMIT) == (
        Criterion("Coverage", "Says what matters most.", 2.5, 0.0, 10.0),
        Criterion("Clarity", "", 1.0, 1.0, 5.0),
    )


def test_json_is_yaml_too() -> None:
    assert parse('[{"name": "Clarity", "scale": {"min": -1, "max": 1}}]', LIMIT)[0].minimum == -1


def test_names_are_texts_whatever_yaml_makes_of_them() -> None:
    names = [criterion.name for criterion in parse("- name: yes\n- name: 2026-01-01\n- name: 0x1F\n", LIMIT)]
    assert names == ["yes", "2026-01-01", "0x1F"]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", "body"),
        ("just words", "body"),
        ("name: Coverage", "body"),
        ("[]", "body"),
        ("- Coverage", "body[0]"),
        ("- [name, Coverage]", "body[0]"),
        ("- name: Coverage\n- {}", "body[1].name"),
        ("- name: ''", "body[0].name"),
        ("- name: [a]", "body[0].name"),
        (f"- name: {'n' * 101}", "body[0].name"),
        (f"- name: n\n  description: {'d' * 2_001}", "body[0].description"),
        ("- name: n\n  wieght: 2", "body[0]"),
        ("- name: n\n  [a]: 2", "body[0]"),
        ("- name: n\n  name: m", "body[0].name"),
        ("- name: n\n  weight: heavy", "body[0].weight"),
        ("- name: n\n  weight: .nan", "body[0].weight"),
        ("- name: n\n  weight: .inf", "body[0].weight"),
        ("- name: n\n  weight: 0", "body[0].weight"),
        ("- name: n\n  weight: -1", "body[0].weight"),
        (f"- name: n\n  weight: {MAX_WEIGHT + 1}", "body[0].weight"),
        ("- name: n\n  scale: 5", "body[0].scale"),
        ("- name: n\n  scale: {min: 5, max: 5}", "body[0].scale"),
        ("- name: n\n  scale: {min: low}", "body[0].scale.min"),
        ("- name: n\n  scale: {min: 1, top: 5}", "body[0].scale"),
        ("- name: n\n- name: n", "body[1].name"),
        ("- &a {name: n}", "body"),
        ("- name: n\n- *a", "body"),
        ("- name: !!python/name:os.system n", "body"),
        ("- !thing {name: n}", "body"),
        ("- name: n\n---\n- name: m", "body"),
        ("- name: 'n", "body"),
        ("- name: n\n  description: \x07", "body"),
        ("\n".join(f"- name: n{number}" for number in range(MAX_CRITERIA + 1)), "body"),
    ],
)
def test_anything_else_is_refused_at_its_place(text: str, path: str) -> None:
    with pytest.raises(BadInput) as refusal:
        parse(text, LIMIT)
    assert [fault.path for fault in refusal.value.errors] == [path]


def test_the_limit_counts_bytes() -> None:
    text = "- name: é"
    assert parse(text, len(text) + 1)
    with pytest.raises(BadInput):
        parse(text, len(text))


BOMBS = {
    "aliases": "- &a [x,x]\n" + "\n".join(f"- &a{n} [*a,*a,*a,*a,*a,*a,*a,*a,*a]" for n in range(20)),
    "deep flow": "[" * 65_000,
    "deep maps": "{" * 65_000,
    "deep dashes": "- " * 32_000,
    "keys": "? " * 32_000,
    "many entries": "- a\n" * 16_000,
    "one long word": "a" * 65_000,
    "escapes": '"' + "\\x41" * 16_000 + '"',
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_a_hostile_text_costs_little(bomb: str) -> None:
    began = time.process_time()
    with pytest.raises(BadInput):
        parse(bomb, LIMIT)
    assert time.process_time() - began < 0.5


@given(st.text(alphabet="-?:{}[]&*!|>'\"%@` \nnamewightscl0123456789.", max_size=80))
def test_every_text_is_understood_or_refused_as_bad_input(text: str) -> None:
    with suppress(BadInput):
        assert parse(text, LIMIT)


def test_what_is_no_yaml_names_the_line() -> None:
    with pytest.raises(BadInput) as caught:
        parse("- name: a\n- name: b\n -x: {\n", 1_000)
    assert caught.value.errors == (FieldError("body", "must be valid YAML; it cannot be read at line 3"),)


def test_the_guide_names_the_greatest_weight_that_is_taken() -> None:
    assert parse(f"- name: n\n  weight: {MAX_WEIGHT}", 1_000)[0].weight == MAX_WEIGHT
    guide = Path(__file__).parents[2] / "docs/user-guide/texts.md"
    assert f"at most {MAX_WEIGHT:,}" in guide.read_text(encoding="utf-8")
