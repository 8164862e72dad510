"""`make release`: all that a version consists of, in `dist`. It is built twice, in two places, and has to be alike."""

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).parent
DIST: Final = ROOT / "dist"
LOCKS: Final = ("requirements.lock", "requirements-cli.lock", "requirements-demo.lock", "requirements-otel.lock")
"""What is installed with the service, with the terminal program alone, for `carrel start`, and for spans."""
MACHINES: Final = (
    {"umask": 0o022, "TZ": "UTC", "LANG": "C.UTF-8"},
    {"umask": 0o077, "TZ": "Asia/Kolkata", "LANG": "C"},
)
"""What differs between the two builds, apart from the folder."""
_USUAL: Final = 0o022


class ReleaseFailed(Exception):
    """The text is one line for the terminal."""


def main() -> int:
    """Returns 0 if the release is in `dist`, and 1 with one line if it is not."""
    try:
        _release()
    except ReleaseFailed as failed:
        print(f"release: {failed}", file=sys.stderr)
        return 1
    return 0


def notes(changelog: str, version: str) -> str:
    """The part of the changelog that is about this version; what is unreleased if the version has no date yet.

    Raises:
        ReleaseFailed: there is no such part.
    """
    for heading in (rf"\[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d", r"\[Unreleased\]"):
        found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
        if found and found[1].strip():
            return f"# Carrel {version}\n\n{found[1].strip()}\n"
    raise ReleaseFailed(f"CHANGELOG.md says nothing of {version}")


def _release() -> None:
    if _output("git", "status", "--porcelain"):
        raise ReleaseFailed("commit first: a release is made of a commit")
    version = str(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"])
    shutil.rmtree(DIST, ignore_errors=True)
    with TemporaryDirectory(dir=ROOT, prefix=".release-") as scratch:
        builds = [_build(Path(scratch, f"{number}-{'x' * number}"), version, at) for number, at in enumerate(MACHINES)]
        one, other = (_sums(folder) for folder in builds)
        if one != other:
            unlike = sorted({line.split()[1] for line in one ^ other})
            raise ReleaseFailed(f"two builds differ in {', '.join(unlike)}")
        shutil.copytree(builds[0], DIST)
    (DIST / "SHA256SUMS").write_text("".join(f"{line}\n" for line in sorted(_sums(DIST), key=lambda line: line[66:])))
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size:>10,}  {path.name}{_counted(path)}")
    commit = _output("git", "rev-parse", "--short", "HEAD")
    print(f"dist holds Carrel {version} of commit {commit}; two builds of it were alike")


def _build(folder: Path, version: str, machine: dict[str, object]) -> Path:
    """Everything, from the files of the commit alone. Returns the folder with the results."""
    source, made = folder / "source", folder / "dist"
    source.mkdir(parents=True)
    made.mkdir()
    umask, variables = int(str(machine["umask"])), {name: str(machine[name]) for name in ("TZ", "LANG")}

    def run(*command: str | Path, cwd: Path = source) -> None:
        done = subprocess.run(  # noqa: S603  # the programs that the Makefile installed
            [str(word) for word in command],
            cwd=cwd,
            env=os.environ | variables,
            # npm packs the modes that files have.
            umask=_USUAL if command[0] == "npm" else umask,
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise ReleaseFailed(f"{command[0]} failed: {(done.stderr or done.stdout).strip()[-2000:]}")

    with tarfile.open(fileobj=io.BytesIO(_bytes("git", "archive", "HEAD"))) as archive:
        archive.extractall(source, filter="data")
    web, client = source / "web", source / "sdk" / "typescript"
    shutil.copytree(ROOT / "web" / "node_modules", web / "node_modules", symlinks=True, copy_function=os.link)
    run("npm", "run", "-s", "build", cwd=web)
    run("npm", "run", "-s", "client", cwd=web)
    run("npm", "pack", "--silent", "--pack-destination", made, cwd=client)
    for project in (source / "sdk", source / "cli", source, source / "integrations" / "django"):
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", made, cwd=project)
    for lock in LOCKS:
        shutil.copyfile(source / lock, made / lock)
    for lock, project in (("requirements.lock", source), ("requirements-cli.lock", source / "cli")):
        name = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]["name"]
        bom = made / f"{name}-{version}.cdx.json"
        about = ("--pyproject", project / "pyproject.toml", "--output-reproducible", "-o", bom)
        run(ROOT / ".venv-release" / "bin" / "cyclonedx-py", "requirements", lock, *about)
    _write_app_bom(web, made / f"carrel-web-{version}.cdx.json")
    _write_plugin(source / "integrations" / "wordpress", made / f"carrel-wordpress-{version}.zip")
    deploy = _bytes("git", "archive", "--format=tar.gz", f"--prefix=carrel-{version}/", "HEAD", "deploy", "LICENSE")
    (made / f"carrel-deploy-{version}.tar.gz").write_bytes(deploy)
    (made / "NOTES.md").write_text(notes((source / "CHANGELOG.md").read_text("utf-8"), version), encoding="utf-8")
    return made


def _write_plugin(folder: Path, file: Path) -> None:
    """The plugin as WordPress installs it. Git would write the time of the call into it."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.glob("carrel/**/*")):
            if path.is_file():
                archive.writestr(zipfile.ZipInfo(path.relative_to(folder).as_posix()), path.read_bytes())


def _write_app_bom(web: Path, bom: Path) -> None:
    """What npm says that the app is made of, without the two values that change from call to call."""
    found = json.loads(_bytes("npm", "sbom", "--omit", "dev", "--sbom-format", "cyclonedx", cwd=web))
    del found["serialNumber"], found["metadata"]["timestamp"]
    bom.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _sums(folder: Path) -> set[str]:
    """A line for each file, as `sha256sum` writes and checks it."""
    return {f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in folder.iterdir()}


def _counted(path: Path) -> str:
    return f"  {len(json.loads(path.read_bytes())['components'])} components" if path.name.endswith(".cdx.json") else ""


def _output(*command: str) -> str:
    return _bytes(*command).decode().strip()


def _bytes(*command: str, cwd: Path = ROOT) -> bytes:
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True).stdout  # noqa: S603  # git and npm


if __name__ == "__main__":
    sys.exit(main())
