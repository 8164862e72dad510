"""The rules of the house that a machine can hold: file length, names, what locks say. `make imports` has the order."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.support import slow

ROOT = Path(__file__).parent.parent
LARGE = 20
"""From so many files on, a list of their names no longer tells a newcomer where to begin."""
MOST_PRIVATE_TOUCHES = 35
"""How often tests may name a private attribute of what they test. Lower it when there are fewer, and never raise it."""
MOST_NAMES_WITH_TWO_HOMES = 0
"""How many names may be those of two public classes of the service. Never raise it: say in the name what differs."""
SLEEPERS = {
    "tests/cli/test_protocol.py": "sends a request in pieces",
    "tests/cluster/test_etcd_lost.py": "a campaign: servers are away for longer than a lease",
    "tests/cluster/test_events.py": "a campaign: events last so long, and users work between them",
    "tests/crash/test_money_campaign.py": "kills at a random moment",
    "tests/deploy/test_request_forms.py": "sends a request in pieces",
    "tests/http/test_health.py": "is what hangs",
    "tests/privacy/test_keys_in_memory.py": "sends a request in pieces",
    "tests/proxy/faulty_proxy.py": "is what hangs",
    "tests/support/kills.py": "kills at a random moment",
    "tests/support/worker_jobs.py": "is what hangs",
}
"""Who sleeps, and not until something is there. No test waits so for what it expects."""
MAYBE_PRIVATE = re.compile(
    r"""(?<!\bself)(?<!\bcls)\._(?!_|replace\b|asdict\b|fields\b)\w|import[^\n]*\b_\w|^ {4}_\w+,?$|["']_[A-Za-z]""",
    re.MULTILINE,
)
"""In most files nothing looks like the private name of somebody else, and they need no parser."""
SOURCES = [path for folder in ("src", "sdk/src", "benchmarks") for path in (ROOT / folder).rglob("*.py")]


def test_a_file_of_more_than_600_lines_holds_two_nouns() -> None:
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in SOURCES}
    # What a program writes is read by looking for a name.
    long = {name: len(text.splitlines()) for name, text in texts.items() if "\nWritten by `sdk/" not in text}
    assert {name: lines for name, lines in long.items() if lines > 600} == {}


def test_every_module_opens_with_a_sentence() -> None:
    assert [str(path) for path in SOURCES if not path.read_text().startswith('"""')] == []


def test_a_name_of_a_public_class_has_one_home() -> None:
    declared = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)
    classes = (name for path in (ROOT / "src/carrel").rglob("*.py") for name in declared.findall(path.read_text()))
    twice = sorted(name for name, homes in Counter(classes).items() if homes > 1)
    assert len(twice) <= MOST_NAMES_WITH_TWO_HOMES, twice


def test_a_package_of_many_files_opens_with_a_map_that_names_each_once() -> None:
    for folder in sorted({path.parent for path in SOURCES}):
        files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
        if len(files) >= LARGE:
            lines = re.findall(r"^ {4}\S.*?  +(.*)$", (folder / "__init__.py").read_text(), re.MULTILINE)
            named = sorted(name for line in lines for name in line.split(" · "))
            assert named == sorted(files), folder


def test_events_of_the_log_are_words_with_hyphens() -> None:
    named = re.compile(r"\blogs\.(?:debug|info|warning|error)\(\s*\"([^\"]+)")
    events = [event for path in SOURCES for event in named.findall(path.read_text())]
    assert len(events) > 30
    assert [event for event in events if not re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", event)] == []


def test_nothing_is_left_for_later() -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX)\b|NotImplementedError|pragma: no cover")
    assert [str(path) for path in SOURCES if marks.search(path.read_text())] == []


def test_locks_hold_versions_and_hashes_and_no_address() -> None:
    for name in (
        "requirements.lock",
        "requirements-cli.lock",
        "requirements-release.lock",
        "requirements-dev.lock",
        "requirements-demo.lock",
        "requirements-otel.lock",
        "requirements-site.lock",
        "tests/proxy/requirements.lock",
    ):
        lines = (ROOT / name).read_text().splitlines()
        assert not [line for line in lines if "://" in line or "--index" in line or "--find-links" in line]
        pinned = [line for line in lines if "==" in line]
        assert pinned
        assert all(line.endswith("\\") for line in pinned), "each has its hashes on the following lines"


def test_tests_use_public_names() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{touch}"
        for path in (ROOT / "tests").rglob("*.py")
        if MAYBE_PRIVATE.search(text := path.read_text())
        for touch in private_touches(ast.parse(text))
    ]
    assert len(found) <= MOST_PRIVATE_TOUCHES, "\n".join(found)


def test_a_private_touch_is_seen_in_each_of_its_forms() -> None:
    source = """
from carrel.vault.pool import _Entry
import carrel.vault.pool
pool._entries.clear()
monkeypatch.setattr(pool, "_wait", 1)
monkeypatch.setattr("carrel.vault.pool._WAIT", 1)
self._own = pool.opened.__len__()
"""
    assert sorted(private_touches(ast.parse(source))) == ["2: _Entry", "4: _entries", "5: _wait", "6: _WAIT"]


def private_touches(tree: ast.AST) -> Iterator[str]:
    """Where a private name of somebody else is read, imported or replaced, as `line: name`."""
    for node in ast.walk(tree):
        names: list[str] = []
        if not isinstance(node, ast.expr | ast.stmt):
            continue
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass
            case ast.Attribute(attr="_replace" | "_asdict" | "_fields"):
                pass  # public parts of every named tuple
            case ast.Attribute(attr=name):
                names = [name]
            case ast.ImportFrom():
                names = [alias.name for alias in node.names]
            case ast.Call(func=ast.Attribute(attr="setattr" | "setitem" | "delattr" | "object" | "patch")):
                texts = [one.value for one in node.args[:2] if isinstance(one, ast.Constant)]
                names = [text.rpartition(".")[2] for text in texts if isinstance(text, str)]
        for name in names:
            if name.startswith("_") and not name.startswith("__"):
                yield f"{node.lineno}: {name}"


def test_a_test_sleeps_only_while_it_looks_for_what_it_waits_for() -> None:
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("*.py")
        if not path.is_relative_to(ROOT / "tests/campaigns")
        if "sleep(" in (text := path.read_text())
        for _ in sleeps_without_a_look(ast.parse(text))
    }
    assert found == SLEEPERS.keys()


def test_a_sleep_without_a_look_is_seen() -> None:
    source = """
async def test_it():
    await asyncio.sleep(0)
    while not there():
        time.sleep(0.01)
    for _ in range(600):
        if there():
            break
        time.sleep(0.1)
    for _ in range(20):
        await asyncio.sleep(0.01)
    time.sleep(0.02)
"""
    assert sorted(sleeps_without_a_look(ast.parse(source))) == [11, 12]


def sleeps_without_a_look(tree: ast.AST) -> Iterator[int]:
    """The lines that sleep for some time, and not in a loop that ends when something is there."""
    looking = {
        id(inner)
        for loop in ast.walk(tree)
        if isinstance(loop, ast.While) or (isinstance(loop, ast.For) and any(map(ends, ast.walk(loop))))
        for inner in ast.walk(loop)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="asyncio" | "time"), attr="sleep"), args=[seconds, *_]):
                if id(node) not in looking and not (isinstance(seconds, ast.Constant) and seconds.value == 0):
                    yield node.lineno


def ends(node: ast.AST) -> bool:
    return isinstance(node, ast.Break | ast.Return)


def test_what_is_slow_is_there_and_in_one_place_only() -> None:
    for place in slow.PLACES:
        file, _, name = place.partition("::")
        path = ROOT / file
        assert (path.is_file() and f"def {name}" in path.read_text()) or list(path.glob("test_*.py")), place
        assert not [other for other in slow.PLACES if other != place and place.startswith(other)], place
    assert slow.is_slow("tests/cli/test_serve.py::test_it", [])
    assert slow.is_slow("tests/sdk/test_runs.py::test_it", ["service"])
    assert not slow.is_slow("tests/contents/test_store.py::test_it", ["conn"])
