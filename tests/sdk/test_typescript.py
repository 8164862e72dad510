"""The client in TypeScript: built and packed as for a release, and used by a program against a real service."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from uuid import uuid4

import pytest
from carrel_sdk import Host, Workspace

from tests.carrel_website.test_guides import VECTOR
from tests.support.service import Service

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "sdk/typescript"
EXPRESS = "/usr/share/nodejs/express"
"""As Debian has it."""
PROGRAM = Path(__file__).with_name("typescript_program.mjs")
TOOLS = ROOT / "web/node_modules/.bin"

pytestmark = pytest.mark.program("npm", "node", str(TOOLS / "tsc"))


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    """What it says on stdout; it must end well."""
    words = [str(part) for part in command]
    done = subprocess.run(
        words, cwd=cwd, env=os.environ | variables, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, built in a copy: other tests use the sources meanwhile."""
    folder = tmp_path_factory.mktemp("client") / "typescript"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("dist", "schema.ts"))
    types = ("--default-non-nullable=false", "-o", folder / "src/schema.ts")
    run(TOOLS / "openapi-typescript", ROOT / "openapi.json", *types, cwd=folder)
    run(TOOLS / "tsc", "-p", folder, cwd=folder)
    return folder


def test_a_program_runs_a_preset_to_its_verdict_and_meets_errors(package: Path, service: Service) -> None:
    host = Host(service.url, service.plugin_secret)
    token = str(host.sign_up(f"typescript-{uuid4()}", membership="paid", password="pw").token)
    host.close()
    with Workspace(service.url, token) as user:
        key = user.program_keys.create("CI", "read", "run", "write").program_key
        reader = user.program_keys.create("reader", "read").program_key
    said = run(
        *("node", PROGRAM),
        cwd=package,
        CLIENT=(package / "dist/index.js").as_uri(),
        CARREL_URL=service.url,
        CARREL_PROGRAM_KEY=key,
        READ_KEY=reader,
    )
    assert said == "done\n"


def test_the_package_holds_the_built_client_its_licence_and_nothing_else(package: Path) -> None:
    (packed,) = json.loads(run("npm", "pack", "--dry-run", "--json", "--offline", cwd=package))
    names = {file["path"] for file in packed["files"]}
    modules = {path.stem for path in (package / "src").glob("*.ts")}
    built = {f"dist/{module}{ending}" for module in modules for ending in (".js", ".d.ts")}
    assert names == {"package.json", "README.md", "LICENSE", *built}
    assert (package / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    described = json.loads((package / "package.json").read_text(encoding="utf-8"))
    assert "dependencies" not in described
    assert {described["types"].removeprefix("./"), "dist/index.js"} <= names


def test_a_website_in_node_lives_its_whole_life(package: Path, service: Service) -> None:
    said = run(
        *("node", Path(__file__).with_name("node_host_program.mjs")),
        cwd=package,
        HOST=(package / "dist/host.js").as_uri(),
        CLIENT=(package / "dist/index.js").as_uri(),
        CARREL_URL=service.url,
        CARREL_PLUGIN_SECRET=service.plugin_secret,
        VECTOR=VECTOR,
    )
    assert said == "done\n"


@pytest.mark.program("node", EXPRESS)
def test_a_website_with_express_has_the_app_in_thirty_lines(package: Path, service: Service, tmp_path: Path) -> None:
    example = ROOT / "integrations/express/workspace.mjs"
    assert len(example.read_text(encoding="utf-8").splitlines()) <= 30
    for file in (example, Path(__file__).with_name("express_program.mjs")):
        shutil.copy(file, tmp_path)
    modules = tmp_path / "node_modules"
    modules.mkdir()
    (modules / "express").symlink_to(EXPRESS)
    (modules / "carrel-sdk").symlink_to(package)
    said = run(
        *("node", "express_program.mjs"),
        cwd=tmp_path,
        NODE_PATH=str(Path(EXPRESS).parent),
        CARREL_URL=service.url,
        CARREL_PLUGIN_SECRET=service.plugin_secret,
    )
    assert said == "done\n"
