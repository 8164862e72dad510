"""The Dockerfile: what it promises is written in it, and its steps can be done. No Docker engine is needed."""

import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from carrel.config import load
from tests.deploy.dockerfile import DOCKERFILE, ROOT, Folder, Stage, sources, stages
from tests.support.service import free_port


def final() -> Stage:
    return stages()[-1]


def test_every_base_image_is_pinned_by_a_tag_with_its_distribution() -> None:
    bases = [stage.base for stage in stages()]
    assert bases == ["node:20-bookworm-slim", "python:3.11-slim-bookworm", "python:3.11-slim-bookworm"]


def test_every_file_that_is_copied_exists_and_is_sent_to_the_builder() -> None:
    ignore = DOCKERFILE.with_name("Dockerfile.dockerignore").read_text().splitlines()
    sent = {line.removeprefix("!") for line in ignore if line.startswith("!")}
    copied = {source for stage in stages() for step in stage.all("COPY") for source in sources(step)}
    assert copied
    for source in copied:
        assert (ROOT / source).exists(), source
        assert source.partition("/")[0] in sent, source
    assert sent <= {source.partition("/")[0] for source in copied}


def test_what_is_copied_from_a_stage_names_an_earlier_one() -> None:
    known: list[str] = []
    for stage in stages():
        for step in stage.all("COPY"):
            named = re.search(r"--from=(\S+)", step.arguments)
            assert named is None or named[1] in known
        known.append(stage.name)


def test_the_service_runs_as_an_account_without_a_name_and_writes_to_its_volume_alone() -> None:
    user, group = final().only("USER").arguments.split(":")
    assert int(user) >= 10_000
    assert int(group) >= 10_000
    folder = final().only("VOLUME").arguments
    assert folder == final().only("WORKDIR").arguments
    assert f"CARREL_DATA_DIR={folder}" in final().only("ENV").arguments
    (data,) = [step for step in final().all("COPY") if step.words[-1] == folder]
    assert f"--chown={user}:{group} --chmod=0700" in data.arguments


def test_nothing_is_run_by_a_shell_and_nothing_is_built_in_the_last_stage() -> None:
    assert final().all("RUN") == []
    for name in ("ENTRYPOINT", "CMD"):
        assert final().only(name).words
    check = final().only("HEALTHCHECK").arguments.partition("CMD ")[2]
    assert check.startswith("[")


def test_the_folder_of_secrets_is_read_as_compose_fills_it(tmp_path: Path) -> None:
    folder = re.search(r"CARREL_SECRETS_DIR=(\S+)", final().only("ENV").arguments)
    assert folder is not None
    assert folder[1] == "/run/secrets"
    for number, name in enumerate(("CARREL_PLUGIN_SECRET", "CARREL_ADMIN_SECRET", "CARREL_SERVICE_KEY")):
        # What `openssl rand -hex 32` prints.
        (tmp_path / name).write_text(bytes(range(number, number + 32)).hex() + "\n")
    settings = load({"CARREL_SECRETS_DIR": str(tmp_path)}, env_file=tmp_path / "none")
    assert settings.admin_secret is not None


@pytest.mark.soak
def test_the_steps_of_the_image_make_a_service_that_is_healthy(tmp_path: Path) -> None:
    """Every RUN with the network, below one folder. Not tried: the base images, the owners, the read-only root."""
    builder = Folder(tmp_path)
    for stage in stages():
        for step in stage.steps:
            builder.do(step)
    assert (tmp_path / "var/lib/carrel").is_dir()
    installed = sum(path.stat().st_size for path in (tmp_path / "opt/carrel").rglob("*") if path.is_file())
    print(f"/opt/carrel: {installed / 1e6:.0f} MB")
    assert installed < 250e6
    assert not (tmp_path / "opt/carrel/bin/pip").exists()
    port = str(free_port())

    def of(name: str, exec_form: str) -> list[str]:
        found = final().only(name)._replace(arguments=exec_form or final().only(name).arguments).words
        return [builder.place(word).replace("8400", port) for word in found]

    environment = {
        "PATH": os.environ["PATH"],
        "CARREL_DATA_DIR": str(tmp_path / "var/lib/carrel"),
        "CARREL_PLUGIN_SECRET": bytes(range(32)).hex(),
        "CARREL_SERVICE_KEY": bytes(range(1, 33)).hex(),
    }
    check = of("HEALTHCHECK", final().only("HEALTHCHECK").arguments.partition("CMD ")[2])
    command = [*of("ENTRYPOINT", ""), *of("CMD", "")]
    assert subprocess.run(check, capture_output=True).returncode != 0, "nobody serves yet"
    with subprocess.Popen(command, cwd=builder.working, env=environment) as service:
        try:
            for _ in range(600):
                if subprocess.run(check, capture_output=True).returncode == 0:
                    break
                time.sleep(0.1)
            else:
                raise AssertionError("it was never healthy")
            app = f"http://127.0.0.1:{port}/app/carrel.js"
            read = f"from urllib.request import urlopen; print(len(urlopen({app!r}).read()))"
            size = subprocess.run([check[0], "-c", read], capture_output=True, text=True, check=True).stdout
            assert int(size) > 1000
        finally:
            service.terminate()
            assert service.wait(60) == 0
