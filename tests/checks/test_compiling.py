"""What may be compiled, what is refused, and that workers do it, once for each text and within their limits."""

import json
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from carrel.checks import compiler, jobs, patterns, work
from carrel.checks.compiler import Compiler, SourceText
from carrel.checks.definition import Check, faults
from carrel.checks.work import CompileResult, Kind, TextFault
from carrel.errors import BadInput, Unavailable
from carrel.kit.clock import SystemClock
from carrel.kit.processes.jobs import WorkerDied, WorkerError, WorkerTimedOut
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.processes.worker import Worker

BOMB = r"^(\p{L}|i){150}$"
LARGE = f"(?:{'k' * 50}){{1000}}"
"""Too large only in any case, in which the sign of Kelvin is a k."""


def fault(kind: Kind, matter: object) -> tuple[str, str] | None:
    found = work.compiles(kind, matter if isinstance(matter, str) else json.dumps(matter)).found
    return None if found is None else (found.at, found.fault)


def chain(length: int, **more: object) -> dict[str, Any]:
    """A schema of references that multiply: each level refers twice to the next."""
    levels: dict[str, object] = {"a0": {"type": "string"}}
    for level in range(1, length + 1):
        levels[f"a{level}"] = {"allOf": [{"$ref": f"#/$defs/a{level - 1}"}] * 2}
    return {"$ref": f"#/$defs/a{length}", "$defs": levels, **more}


@pytest.mark.parametrize(
    ("kind", "matter"),
    [
        ("pattern", r"^\d{4}-\d\d$"),
        ("pattern", r"\bword\b"),
        ("pattern", r"\pL{100}"),
        ("pattern", LARGE),
        ("pattern_in_any_case", "straße"),
        ("schema", {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}),
        ("schema", {"pattern": r"^\p{L}{20}$"}),
        ("schema", {"pattern": r"^\w{500}$"}),
        ("schema", {"patternProperties": {f"^a{number}$": {} for number in range(50)}}),
        ("schema", {"properties": {"pattern": {"type": "string"}}}),
        ("schema", chain(20)),
    ],
)
def test_what_people_write_can_be_compiled(kind: Kind, matter: object) -> None:
    assert fault(kind, matter) is None


@pytest.mark.parametrize(
    ("kind", "matter", "at", "why"),
    [
        ("pattern", "(", "", "pattern"),
        ("pattern_in_any_case", LARGE, "", "pattern"),
        ("pattern", r"(a)\1", "", "pattern"),
        ("pattern", r"(?:\pL|\pNi){250}", "", "pattern"),
        ("pattern_in_any_case", r"(\pL{500}){2}", "", "pattern"),
        ("pattern", r"\pL{200}", "", "pattern"),
        ("schema", {"pattern": r"\p{L}{30}"}, "pattern", "schema_pattern"),
        ("schema", {"type": "nothing"}, "", "schema"),
        ("schema", {"$ref": "#/$defs/none"}, "", "schema"),
        ("schema", {"pattern": r"(a)\1"}, "pattern", "schema_pattern"),
        ("schema", {"items": {"allOf": [{}, {"pattern": "("}]}}, "items.allOf[1].pattern", "schema_pattern"),
        ("schema", {"properties": {"Some text": {"pattern": BOMB}}}, "properties.?.pattern", "schema_pattern"),
        ("schema", {"patternProperties": {BOMB: {}}}, "patternProperties.?", "schema_pattern"),
        ("schema", {"patternProperties": {f"^a{number}$": {} for number in range(51)}}, "", "count"),
        ("schema", {"allOf": [{"pattern": f"^a{number}$"} for number in range(51)]}, "", "count"),
        ("schema", {"$ref": "#/$defs/a", "$defs": {"a": {"pattern": BOMB}}}, "$defs.a.pattern", "schema_pattern"),
        ("schema", '{"not":' * 60 + "{}" + "}" * 60, "", "depth"),
        ("schema", '{"not":' * 5_000 + "{}" + "}" * 5_000, "", "depth"),
        ("schema", "[]", "", "json"),
    ],
)
def test_a_fault_says_where_it_is(kind: Kind, matter: object, at: str, why: str) -> None:
    assert fault(kind, matter) == (at, why)


@pytest.mark.parametrize("at", ["http://localhost/schema", "https://example.org/a#/b", "file:///etc/passwd", "other"])
def test_a_schema_refers_to_nothing_outside_itself(at: str) -> None:
    for keyword in ("$ref", "$dynamicRef"):
        assert fault("schema", {"properties": {"a": {keyword: at}}}) == ("", "reference")
    # Where nobody names the keyword, the library asks for the document and is refused.
    assert fault("schema", {"$schema": at}) in (None, ("", "schema"))


DESERET = "".join(map(chr, range(0x10400, 0x10450)))


@pytest.mark.parametrize("letters", ["abcdefghijklm", "skſK", "ᾳΐιιͅ", "ωΩΩ", DESERET])
def test_as_many_forbidden_words_as_are_allowed_can_be_compiled(letters: str) -> None:
    draw = random.Random(1)
    texts = ["".join(draw.choice(letters) for _ in range(100)) for _ in range(100)]
    assert not list(faults([Check(kind="forbidden", texts=texts)]))
    assert patterns.compiled_if_valid(patterns.of_words(texts), ignore_case=True) is not None


def test_no_pattern_is_kept_after_it_was_compiled() -> None:
    first, again = (patterns.compiled("a secret of somebody", ignore_case=False) for _ in range(2))
    assert first is not again


class Recording(WorkerPool):
    """Workers that do what the test says, and the calls that they got."""

    def __init__(self, answer: Callable[[str], CompileResult] = lambda _: CompileResult(0.0, None)) -> None:
        super().__init__(jobs.JOBS, 1, SystemClock())
        self.asked: list[str] = []
        self.answer = answer

    def new_worker(self) -> Worker:
        pool = self

        class Recorded(Worker):
            async def run(self, fn: object, *args: Any, timeout_seconds: float | None = None) -> Any:
                pool.asked.append(args[1])
                return pool.answer(args[1])

        return Recorded(jobs.JOBS)


def recorded(answer: Callable[[str], CompileResult] = lambda _: CompileResult(0.0, None)) -> tuple[Compiler, Recording]:
    pool = Recording(answer)
    return Compiler(pool), pool


async def test_a_text_is_tried_once_for_each_user_and_way() -> None:
    tried, pool = recorded()
    sources = [
        SourceText("a", "pattern", "x"),
        SourceText("b", "pattern", "x"),
        SourceText("c", "pattern_in_any_case", "x"),
    ]
    for user in ("ada", "bob", "ada"):
        await tried.require(user, sources)
    assert pool.asked == ["x", "x"] * 2


async def test_what_was_found_is_told_again_at_every_path() -> None:
    tried, pool = recorded(lambda _: CompileResult(0.0, TextFault("items.pattern", "schema_pattern")))
    for path in ("a", "b"):
        with pytest.raises(BadInput) as refused:
            await tried.require("ada", [SourceText(path, "schema", "{}"), SourceText("c", "schema", "{}")])
        assert [fault.path for fault in refused.value.errors] == [f"{path}.items.pattern", "c.items.pattern"]
    assert len(pool.asked) == 1


async def test_a_schema_that_is_too_large_reaches_no_worker() -> None:
    tried, pool = recorded()
    with pytest.raises(BadInput) as refused:
        await tried.require("ada", [compiler.of_schema("at", {"enum": ["ß" * 32_768]})])
    assert refused.value.errors == (("at", "is larger than 65,536 bytes"),)
    assert pool.asked == []


@pytest.mark.parametrize("error", [WorkerTimedOut, WorkerDied])
async def test_after_a_text_that_takes_too_long_no_other_is_tried_and_nothing_is_remembered(
    error: type[WorkerError],
) -> None:
    def answer(text: str) -> CompileResult:
        if text == "slow":
            raise error
        return CompileResult(0.0, TextFault("", "pattern"))

    tried, pool = recorded(answer)
    sources = [SourceText(text, "pattern", text) for text in ("bad", "slow", "more")]
    for _ in range(2):
        with pytest.raises(BadInput) as refused:
            await tried.require("ada", sources)
        assert [fault.path for fault in refused.value.errors] == ["bad", "slow"]
    assert pool.asked == ["bad", "slow", "slow"]


async def test_all_texts_of_a_request_have_one_budget_of_processor_time() -> None:
    tried, pool = recorded(lambda _: CompileResult(0.4, None))
    sources = [SourceText(text, "pattern", text) for text in "abcdef"]
    with pytest.raises(BadInput) as refused:
        await tried.require("ada", sources)
    assert [fault.path for fault in refused.value.errors] == ["d"]
    await tried.require("ada", sources)  # what was remembered costs nothing
    assert pool.asked == list("abcdef")


async def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "MAX_REMEMBERED", 2)
    tried, pool = recorded()
    for text in ("a", "b", "a", "c", "a", "b"):
        await tried.require("ada", [SourceText("at", "pattern", text)])
    assert pool.asked == ["a", "b", "c", "b"]


async def test_a_service_that_ends_says_that_it_is_unavailable() -> None:
    tried, pool = recorded()
    await pool.close()
    with pytest.raises(Unavailable):
        await tried.require("ada", [SourceText("at", "pattern", "a")])


@pytest.fixture
async def pool() -> AsyncIterator[WorkerPool]:
    made = WorkerPool(jobs.JOBS, 2, SystemClock(), compiler.BOUNDS)
    yield made
    await made.close()


async def test_a_schema_has_as_many_large_patterns_as_fit_into_forty_megabytes(pool: WorkerPool) -> None:
    real = Compiler(pool)
    large, larger = (
        compiler.of_schema(
            "checks[0].schema",
            {"patternProperties": {rf"^[\p{{L}}\p{{N}}]{{1,20}}{number}$": {} for number in range(count)}},
        )
        for count in (30, 50)
    )
    await real.require("ada", [large])
    with pytest.raises(BadInput) as refused:
        await real.require("ada", [larger])
    assert refused.value.errors == (
        ("checks[0].schema", "takes too much time or memory to compile, alone or with the others"),
    )


async def test_a_schema_that_takes_any_time_and_memory_ends_with_its_worker(pool: WorkerPool) -> None:
    """Of three kilobytes, the library would make 2^40 validators."""
    real = Compiler(pool)
    bomb = compiler.of_schema("checks[0].schema", chain(40, unevaluatedProperties=False))
    with pytest.raises(BadInput) as refused:
        await real.require("mallory", [bomb])
    assert refused.value.errors == (
        ("checks[0].schema", "takes too much time or memory to compile, alone or with the others"),
    )
    await real.require("ada", [SourceText("at", "pattern", "a")])
