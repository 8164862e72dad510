"""What a forge and an editor read: the workflow, templates, hooks and the container name what is there."""

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import programs

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z.][a-z./-]*)(?=:(?!=)| [a-z-]+:)", MAKEFILE, re.MULTILINE))


def loaded(path: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / path).read_text())
    return found


def steps(workflow: Path) -> Iterator[dict[str, Any]]:
    for job in loaded(workflow)["jobs"].values():
        yield from job["steps"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_every_step_makes_a_target_that_exists_or_uses_an_action_of_a_major_version(workflow: Path) -> None:
    for step in steps(workflow):
        if "run" in step:
            program, *words = shlex.split(step["run"])
            if program == ".ci/install":
                assert os.access(ROOT / program, os.X_OK)
            else:
                assert program == "make"
                assert [word in TARGETS for word in words] == [True], words
        else:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]), step["uses"]


def test_the_workflow_has_a_job_for_each_part_and_tries_every_python() -> None:
    workflow = loaded(".github/workflows/check.yml")
    made = {
        name: [step["run"].removeprefix("make ") for step in job["steps"] if "run" in step]
        for name, job in workflow["jobs"].items()
    }
    assert made == {
        "lint": ["lint"],
        "web": ["app-check", "client-types", "app"],
        "fast": ["test-fast"],
        "slow": [".ci/install", "app", "test-slow"],
        "browser": [".ci/install", "test-browser"],
    }
    assert workflow["env"] == {programs.EVERY: "1"}
    assert workflow["jobs"]["fast"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]
    assert workflow["permissions"] == {"contents": "read"}
    assert all(job["timeout-minutes"] <= 90 for job in workflow["jobs"].values())


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_a_form_of_an_issue_has_what_the_forge_needs(form: Path) -> None:
    found = loaded(form)
    assert {"name", "description", "body"} <= found.keys()
    ids = [field["id"] for field in found["body"] if field["type"] != "markdown"]
    assert len(ids) == len(set(ids)) >= 3
    assert all(field["attributes"].get("label") for field in found["body"] if field["type"] != "markdown")


def test_the_form_for_faults_sends_vulnerabilities_elsewhere() -> None:
    assert "SECURITY.md" in (ROOT / ".github/ISSUE_TEMPLATE/fault.yml").read_text()
    assert (ROOT / "SECURITY.md").is_file()


def test_hooks_are_programs_of_the_project_and_fetch_nothing() -> None:
    (repository,) = loaded(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    scripts = json.loads((ROOT / "web/package.json").read_text())["scripts"]
    for hook in repository["hooks"]:
        program, *words = shlex.split(hook["entry"])
        assert hook["language"] == "system"
        if program == "npm":
            assert words[-1] in scripts
        else:
            assert shutil.which(program) or (ROOT / program).is_file(), program


def test_updates_are_looked_for_where_dependencies_are_named() -> None:
    files = {"pip": "pyproject.toml", "npm": "package-lock.json", "docker": "Dockerfile", "github-actions": ".github"}
    updates = loaded(".github/dependabot.yml")["updates"]
    assert {update["package-ecosystem"] for update in updates} == files.keys()
    for update in updates:
        for folder in update.get("directories", [update.get("directory")]):
            assert (ROOT / folder.strip("/") / files[update["package-ecosystem"]]).exists()


def test_the_container_for_development_has_every_program_that_the_gate_installs() -> None:
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    dockerfile = (ROOT / ".devcontainer" / container["build"]["dockerfile"]).read_text()
    installed = re.search(r"install -y --no-install-recommends ([^&]+)", dockerfile)
    assert installed is not None
    gate = set(re.findall(r"packages\+=\(([a-z-]+)\)", (ROOT / ".ci/install").read_text()))
    website = {"php-cli", "php-xml", "wordpress", "mariadb-server-core"}
    nodes = {"etcd-server", "etcd-client", "haproxy", "btrfs-progs", "restic", "prometheus"}
    proxies = {"caddy", "nginx-light", "node-express"}
    assert gate == {"chromium-headless-shell", "systemd", *proxies, *website, *nodes}
    assert gate <= set(installed[1].split())
    assert "\nUSER developer" in dockerfile
    program, *targets = shlex.split(container["postCreateCommand"])
    assert program == "make"
    assert set(targets) <= TARGETS


def test_editors_indent_as_the_formatters_do() -> None:
    sections = dict(
        re.findall(r"^\[([^\]]+)\]\n((?:[a-z_]+ = .+\n)+)", (ROOT / ".editorconfig").read_text(), re.MULTILINE)
    )
    assert "max_line_length = 120" in sections["*"]
    assert "indent_style = tab" in sections["Makefile"]
    web = next(text for name, text in sections.items() if "tsx" in name)
    assert f"indent_size = {json.loads((ROOT / 'web/.prettierrc.json').read_text())['tabWidth']}" in web
