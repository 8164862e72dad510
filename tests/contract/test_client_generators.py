"""`openapi.json` goes through two client generators without a warning, and nothing is missing in what they make."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
DOCUMENT: Final = ROOT / "openapi.json"
TYPESCRIPT: Final = ROOT / "web/node_modules/.bin/openapi-typescript"
DROPPED_ONCE: Final = {"Ranking", "Me", "ProviderKey", "Checkpoint"}
"""Generators left these out while schemas had dotted names."""


def schema_names() -> set[str]:
    return set(json.loads(DOCUMENT.read_text(encoding="utf-8"))["components"]["schemas"])


def operation_count() -> int:
    paths = json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"]
    return sum(len(methods) for methods in paths.values())


def run(*command: str | Path, cwd: Path) -> str:
    """What the program says; it must end well. The tools of this environment are on its path: it formats with ruff."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=os.environ | {"PATH": path, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_openapi_python_client_makes_every_schema_and_operation_without_a_warning(tmp_path: Path) -> None:
    made = tmp_path / "client"
    told = run(
        *("openapi-python-client", "generate", "--meta", "none", "--fail-on-warning"),
        *("--path", DOCUMENT, "--output-path", made),
        cwd=tmp_path,
    )
    assert [line for line in told.splitlines() if line.strip()] == [f"Generating {made}"]
    classes = {
        node.name.lower()
        for file in (made / "models").glob("*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    }
    assert {name for name in schema_names() | DROPPED_ONCE if name.lower() not in classes} == set()
    modules = [file for file in (made / "api").glob("*/*.py") if file.name != "__init__.py"]
    assert len(modules) == operation_count()


def test_openapi_typescript_makes_every_schema_and_operation_without_a_warning(tmp_path: Path) -> None:
    if not TYPESCRIPT.is_file():
        if shutil.which("npm") is None:
            pytest.fail("Node and npm are needed: install Node 20.19 or later, then run `npm ci` in web/.")
        run("npm", "ci", "--silent", "--no-audit", "--no-fund", cwd=ROOT / "web")
    made = tmp_path / "schema.d.ts"
    told = run(TYPESCRIPT, DOCUMENT, "--output", made, cwd=tmp_path)
    # It tells its version and the file that it made; warnings and errors would be further lines.
    lines = [line for line in told.splitlines() if line.strip()]
    assert len(lines) == 2, told
    assert re.match(r"\W*openapi-typescript \d", lines[0]), told
    assert str(made) in lines[1], told
    text = made.read_text(encoding="utf-8")
    schemas = text[text.index("    schemas: {") : text.index("    responses: ")]
    named = set(re.findall(r"^        ([A-Za-z]+): ", schemas, re.MULTILINE))
    assert (schema_names() | DROPPED_ONCE) - named == set()
    operations = text[text.index("export interface operations {") :]
    assert len(re.findall(r"^    [a-z_]+: \{$", operations, re.MULTILINE)) == operation_count()
