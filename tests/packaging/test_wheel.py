"""The wheels in an environment that holds nothing else of Carrel: the service starts and serves the browser app."""

import os
import signal
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.service import Service

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")
SOURCES = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "src")
APP = {
    "index.html": b'<!doctype html><title>Carrel</title><script type="module" src="carrel.js"></script>',
    "carrel.js": b'import "./assets/main.js";',
    "assets/main.js": b"console.log('the app');",
    ".vite/manifest.json": b"{}",
}
"""A stand-in for `web/dist`: whether Vite can build the app is for the web's own check."""


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("CARREL_", "PYTHON"))}
    return subprocess.run(
        command, cwd=cwd, env=inherited | environment, capture_output=True, text=True, check=True, timeout=120
    )


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All wheels, built from a copy of the sources beside a built app."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheels")
    for name in (*SOURCES, "CONTRIBUTING.md", ".gitignore", "docs", "sdk", "cli", "integrations"):
        run("cp", "-r", ROOT / name, source, cwd=ROOT)
    for name, body in APP.items():
        path = source / "web" / "dist" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    for project in (source, source / "sdk", source / "cli", source / "integrations/django"):
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", built, cwd=project)
    return built


@pytest.fixture(scope="module")
def environment(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new virtual environment with the two wheels; their dependencies are lent by this one, Carrel itself is not."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    run(UV, "venv", "--offline", "--python", sys.executable, folder, cwd=wheels)
    found = [str(path) for path in wheels.glob("*.whl") if path.name.startswith(("carrel_sdk", "carrel_service"))]
    run(UV, "pip", "install", "--offline", "--no-deps", "--python", folder / "bin/python", *found, cwd=wheels)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    lent = Path(folder, "lib", version, "site-packages", "lent.pth")
    # A `.pth` file adds the folder and does not read the `.pth` files in it: the editable Carrel stays outside.
    lent.write_text(sysconfig.get_path("purelib") + "\n")
    return folder


class Installed(Service):
    """Its secrets come from the `.env` in its folder alone."""

    def environment(self) -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if not name.startswith(("CARREL_", "PYTHON"))}


@contextmanager
def served(program: Path, folder: Path) -> Iterator[httpx.Client]:
    """`carrel serve` with the configuration that `carrel init` wrote into `folder`."""
    service = Installed(folder, program=[str(program)])
    try:
        service.start()
        with httpx.Client(base_url=service.url, verify=False, timeout=60) as client:
            yield client
    finally:
        service.stop()


def test_the_wheel_of_the_service_holds_the_app_types_and_data_files(wheels: Path) -> None:
    (path,) = wheels.glob("carrel_service-*.whl")
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
    assert {name for name in names if "browser_app" in name} == {
        f"carrel/browser_app/{name}" for name in APP if not name.startswith(".")
    }
    source = ROOT / "src"
    tracked = run("git", "ls-files", ".", cwd=source).stdout.splitlines()
    assert set(tracked) <= names
    assert "carrel/py.typed" in names


@pytest.mark.parametrize("package", ["carrel_sdk", "carrel_cli", "carrel_django"])
def test_the_wheels_of_client_and_terminal_program_hold_one_package(wheels: Path, package: str) -> None:
    (path,) = wheels.glob(f"{package}-*.whl")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    held = package.removesuffix("_cli")
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {package, held}
    assert f"{held}/py.typed" in names or package == "carrel_django"
    assert not [name for name in names if "browser_app" in name or "__pycache__" in name]


def test_every_wheel_holds_the_licence(wheels: Path) -> None:
    for path in wheels.glob("*.whl"):
        with zipfile.ZipFile(path) as archive:
            (licence,) = (name for name in archive.namelist() if name.endswith(".dist-info/licenses/LICENSE"))
            assert archive.read(licence) == (ROOT / "LICENSE").read_bytes(), path.name
    assert len(list(wheels.glob("*.whl"))) == 4


def test_the_installed_program_starts_the_website_and_finds_texts_for_its_demonstration(
    environment: Path, tmp_path: Path
) -> None:
    texts = "from carrel.cli import demo; print(len(demo.documents_of(None)) >= demo.ENOUGH_DOCUMENTS)"
    assert run(environment / "bin/python", "-c", texts, cwd=tmp_path).stdout == "True\n"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("CARREL_", "PYTHON"))}
    command = [str(environment / "bin/carrel"), "start", "--no-browser", "--folder", str(tmp_path / "kept")]
    with subprocess.Popen(command, cwd=tmp_path, env=inherited, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        try:
            lines = {}
            for line in started.stdout:
                name, _, rest = line.partition(" ")
                lines[name] = rest.split()[0]
                if name == "website":
                    break
            assert httpx.get(f"{lines['website']}/app/carrel.js", timeout=60).content == APP["carrel.js"]
            assert "Sign up" in httpx.get(lines["website"], timeout=60, follow_redirects=True).text
            assert "This is a service behind a website" in httpx.get(lines["service"], timeout=60).text
        finally:
            started.send_signal(signal.SIGTERM)


def test_init_and_serve_of_the_installed_program_bring_the_app(environment: Path, tmp_path: Path) -> None:
    where = run(environment / "bin/python", "-c", "import carrel; print(carrel.__file__)", cwd=tmp_path).stdout
    assert Path(where.strip()).is_relative_to(environment)
    run(environment / "bin/carrel", "init", cwd=tmp_path)
    with served(environment / "bin/carrel", tmp_path) as client:
        assert client.get("/app/").content == APP["index.html"]
        for name in ("carrel.js", "assets/main.js"):
            assert client.get(f"/app/{name}").content == APP[name]
        assert client.get("/app/.vite/manifest.json").status_code == 404


def test_an_editable_install_takes_no_copy_of_the_app(tmp_path: Path) -> None:
    for name in SOURCES:
        run("cp", "-r", ROOT / name, ".", cwd=tmp_path)
    stale = tmp_path / "web/dist/carrel.js"
    stale.parent.mkdir(parents=True)
    stale.write_text("of an earlier build")
    build = "from hatchling.build import build_editable; print(build_editable('.'))"
    name = run(sys.executable, "-c", build, cwd=tmp_path).stdout.split()[-1]
    with zipfile.ZipFile(tmp_path / name) as archive:
        assert not [name for name in archive.namelist() if "browser_app" in name]
