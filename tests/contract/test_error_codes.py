"""Every code of every error: documented, with one status and constant words."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import carrel
from carrel.errors import CarrelError

_AT_START = {
    "folder-taken",
    "service-key-rejected",
    "service-key-rotation-unfinished",
    "service-database-missing",
    "self-test-failed",
    "etcd-unreachable",
    "etcd-user-rejected",
    "cluster-not-initialised",
    "cluster-key-rejected",
    "node-unknown",
    "node-taken",
    "node-certificate-unusable",
    "node-disk-foreign",
    "node-peer-unusable",
    "etcd-certificate-unusable",
    "node-holds-others",
}
_FAMILIES = {"unauthorized", "forbidden", "conflict"}
OF_NO_ROUTE = _AT_START | _FAMILIES
STATUSES = {400, 401, 403, 404, 405, 406, 409, 412, 413, 415, 421, 429, 500, 503, 507}


def kinds(root: type[CarrelError] = CarrelError) -> Iterator[type[CarrelError]]:
    yield root
    for kind in root.__subclasses__():
        if kind.__module__.startswith("carrel."):
            yield from kinds(kind)


@pytest.fixture(scope="module")
def errors() -> list[type[CarrelError]]:
    for module in pkgutil.walk_packages(carrel.__path__, "carrel."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return list(dict.fromkeys(kinds()))


def literal_codes() -> Iterator[tuple[str, str]]:
    """Codes that are given where an error is raised: the error's class and the code."""
    for path in Path("src/carrel").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not any(map(_is_text, [*node.args[:3], *_codes_of(node)])):
                continue
            name = ast.unparse(node.func)
            places = {"BadInput.at": 2}.get(name, 0)
            for candidate in [*_codes_of(node), *node.args[places : places + 1]]:
                if isinstance(candidate, ast.Constant) and isinstance(candidate.value, str):
                    yield name.removesuffix(".at"), candidate.value


def _codes_of(call: ast.Call) -> list[ast.expr]:
    return [keyword.value for keyword in call.keywords if keyword.arg == "code"]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def documented() -> dict[str, int]:
    rows = [line.split("|") for line in Path("docs/errors.md").read_text(encoding="utf-8").splitlines()]
    return {row[2].strip(" `"): int(row[1]) for row in rows if len(row) == 5 and row[1].strip().isdigit()}


def test_every_code_is_documented_with_its_status(errors: list[type[CarrelError]]) -> None:
    by_name = {kind.__name__: kind for kind in errors}
    expected = {kind.code: (kind.status, kind.detail) for kind in errors}
    for name, code in literal_codes():
        if name in by_name:
            expected.setdefault(code, (by_name[name].status, by_name[name].detail))
    rows = {code: f"| {status} | `{code}` | {detail} |" for code, (status, detail) in sorted(expected.items())}
    missing = "\n".join(rows[code] for code in sorted(rows.keys() - documented().keys()))
    assert not missing, f"add to docs/errors.md:\n{missing}"
    assert documented() == {code: status for code, (status, _) in expected.items()}


def test_one_code_has_one_status_and_each_status_is_of_the_contract(errors: list[type[CarrelError]]) -> None:
    statuses: dict[str, set[int]] = {}
    for kind in errors:
        statuses.setdefault(kind.code, set()).add(kind.status)
    assert not {code: found for code, found in statuses.items() if len(found) > 1}
    assert set().union(*statuses.values()) <= STATUSES


def test_every_error_of_its_own_has_a_code_of_its_own_and_a_sentence(errors: list[type[CarrelError]]) -> None:
    for kind in errors:
        assert kind.code == kind.code.lower()
        assert " " not in kind.code
        assert kind.detail.endswith("."), kind


def test_the_table_is_in_order() -> None:
    rows = list(documented().items())
    assert rows == sorted(rows, key=lambda row: (row[1], row[0]))


def test_every_code_is_brought_about_by_a_test() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in Path("tests").rglob("test_*.py"))
    assert not {code for code in documented().keys() - OF_NO_ROUTE if f'"{code}"' not in texts}


def test_the_page_says_which_codes_belong_to_no_route() -> None:
    said = (
        Path("docs/errors.md").read_text(encoding="utf-8").partition("belong to no route.")[2].partition("| status")[0]
    )
    assert set(re.findall(r"`([a-z-]+)`", said)) == OF_NO_ROUTE
