"""One version: wherever it is written it is the same, and the README and the changelog say the same about it."""

import json
import re
import tomllib
from pathlib import Path

import pytest

import carrel
import release

ROOT = Path(__file__).parents[2]
UNPUBLISHED = "neither tagged nor published"
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Limits")
LONGEST_LINE = 125


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_place_that_names_the_version_names_the_same() -> None:
    service, sdk = tomllib.loads(text("pyproject.toml")), tomllib.loads(text("sdk/pyproject.toml"))
    cli, django = (tomllib.loads(text(f"{folder}/pyproject.toml")) for folder in ("cli", "integrations/django"))
    named = {
        "pyproject.toml": service["project"]["version"],
        "sdk/pyproject.toml": sdk["project"]["version"],
        "cli/pyproject.toml": cli["project"]["version"],
        "integrations/django/pyproject.toml": django["project"]["version"],
        "web/package.json": json.loads(text("web/package.json"))["version"],
        "web/package-lock.json": json.loads(text("web/package-lock.json"))["version"],
        "sdk/typescript/package.json": json.loads(text("sdk/typescript/package.json"))["version"],
        "openapi.json": json.loads(text("openapi.json"))["info"]["version"],
        "deploy/compose.yaml": re.findall(r"image: carrel-service:(\S+)", text("deploy/compose.yaml"))[0],
    }
    assert set(named.values()) == {carrel.__version__}, named
    # They are released together, and the terminal program reads the service through the client of its own version.
    assert f"carrel-sdk=={carrel.__version__}" in service["project"]["dependencies"]
    assert f"carrel-sdk[cli]=={carrel.__version__}" in cli["project"]["dependencies"]
    assert f"carrel-sdk=={carrel.__version__}" in django["project"]["dependencies"]
    of_service = set(service["project"]["dependencies"])
    assert {line for line in cli["project"]["dependencies"] if not line.startswith("carrel-sdk")} <= of_service
    assert service["project"]["optional-dependencies"]["website"] == service["dependency-groups"]["demo"]


def test_the_notes_of_a_release_are_its_part_of_the_changelog() -> None:
    dated = (
        "# Changelog\n\n## [Unreleased]\n\n- b\n\n## [0.2.0] - 2027-01-31\n\n- a\n\n## [0.1.0] - 2026-12-01\n\n- z\n"
    )
    assert release.notes(dated, "0.2.0") == "# Carrel 0.2.0\n\n- a\n"
    assert release.notes(dated, "0.3.0") == "# Carrel 0.3.0\n\n- b\n"
    with pytest.raises(release.ReleaseFailed):
        release.notes("# Changelog\n\n## [0.2.0] - 2027-01-31\n\n- a\n", "0.3.0")
    assert "### Added" in release.notes(text("CHANGELOG.md"), carrel.__version__)


def test_the_readme_and_the_changelog_agree_on_what_this_version_is() -> None:
    newest = text("CHANGELOG.md").split("\n## ")[1]
    stands = text("README.md").partition("## Where it stands")[2]
    assert f"ersion {carrel.__version__}" in stands
    if newest.startswith("[Unreleased]"):
        assert f"version {carrel.__version__}" in newest
    else:
        assert re.match(rf"\[{re.escape(carrel.__version__)}\] - \d{{4}}-\d\d-\d\d\n", newest)
    assert (UNPUBLISHED in stands) == (UNPUBLISHED in newest) == newest.startswith("[Unreleased]")


def test_the_security_policy_supports_this_minor_version() -> None:
    minor = carrel.__version__.rpartition(".")[0]
    assert f"(now {minor})" in text("SECURITY.md")


def test_the_changelog_can_be_scanned() -> None:
    changelog = text("CHANGELOG.md")
    assert set(re.findall(r"^### (.+)$", changelog, re.MULTILINE)) <= set(KINDS)
    _, heading, rest = changelog.partition("\n### ")
    entries = (heading + rest).splitlines()
    assert [line for line in entries if line and not line.startswith(("- ", "#", "["))] == [], "one line for each entry"
    assert [line for line in entries if len(line) > LONGEST_LINE] == []


def test_no_document_installs_a_distribution_of_a_name_that_is_not_ours() -> None:
    guides = (path for path in ROOT.glob("docs/**/*.md") if path.parent.name != "adr")
    for document in (*ROOT.glob("*.md"), *guides, *ROOT.glob("sdk/**/README.md")):
        for line in re.findall(r"pip install .*", document.read_text(encoding="utf-8")):
            assert not re.search(r"\bcarrel(?![_/\w.]|-deploy)", line), f"{document.name}: {line}"
