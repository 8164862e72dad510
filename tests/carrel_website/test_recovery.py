"""Recovery codes: what the code opens, what it does not, and how it may be typed."""

from hypothesis import given, settings
from hypothesis import strategies as st

from carrel_website import recovery

CODES = st.builds(recovery.new_code)
KEYS = st.binary(min_size=32, max_size=32)


@settings(max_examples=25)
@given(code=CODES, other=CODES, key=KEYS)
def test_the_code_opens_what_was_sealed_to_it_and_no_other_does(code: str, other: str, key: bytes) -> None:
    sealed = recovery.seal(recovery.public_key(code, "ada"), "ada", key)
    assert recovery.unseal(code, "ada", [sealed]) == [key]
    assert recovery.unseal(other, "ada", [sealed]) == []
    assert recovery.unseal(code, "bob", [sealed]) == [], "sealed for one user"
    assert recovery.unseal(code, "ada", [sealed[:-1], b"", sealed[::-1]]) == []
    assert key not in sealed


@settings(max_examples=25)
@given(code=CODES)
def test_a_code_may_be_typed_in_any_case_with_any_gaps_and_the_usual_mistakes(code: str) -> None:
    public = recovery.public_key(code, "ada")
    for typed in (code.lower(), code.replace("-", ""), f" {code.replace('-', ' ')} "):
        assert recovery.public_key(typed, "ada") == public
    assert recovery.public_key(code.replace("0", "O").replace("1", "l"), "ada") == public


def test_two_seals_of_one_key_look_different() -> None:
    public = recovery.public_key(recovery.new_code(), "ada")
    assert recovery.seal(public, "ada", bytes(32)) != recovery.seal(public, "ada", bytes(32))


def test_a_code_has_160_bits_in_eight_groups() -> None:
    code = recovery.new_code()
    assert [len(group) for group in code.split("-")] == [4] * 8
    assert len({recovery.new_code() for _ in range(50)}) == 50
