"""The commands of deploying.md, as they are printed there, in an empty Debian under a real systemd."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.debian import NEEDS, Debian, booted, make
from tests.support.soak import Figure

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/deploying.md").read_text(encoding="utf-8")
MAIN_PID = "systemctl show --value --property=MainPID carrel"
HEALTH = "python3 -c \"import urllib.request as u; print(u.urlopen('http://127.0.0.1:{port}/api/health').status)\""

pytestmark = [pytest.mark.soak(campaign="systemd"), pytest.mark.program(*NEEDS, "npm")]


def printed(section: str, which: int = 0) -> str:
    """A block of commands of a section of the guide."""
    text = re.split(r"\n#{2,3} ", GUIDE.partition(f" {section}\n")[2], maxsplit=1)[0]
    blocks: list[str] = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return blocks[which]


@pytest.fixture(scope="module")
def debian(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Debian]:
    """With the files of a release in `/release`."""
    root = tmp_path_factory.mktemp("debian") / "root"
    make(root)
    subprocess.run(["make", "release", "CHECKS=no"], cwd=ROOT, check=True, timeout=1_200)
    shutil.copytree(ROOT / "dist", root / "release")
    with booted(root) as debian:
        yield debian


def test_a_release_becomes_a_service_that_outlives_what_happens_to_it(debian: Debian, figure: Figure) -> None:
    commands = printed("With systemd")
    debian.run(f"cd /release\n{commands}")
    debian.wait("systemctl is-active carrel", "active")
    assert debian.run(HEALTH.format(port=8400)) == "200"
    first = debian.run(MAIN_PID)
    debian.run("systemctl reload carrel")
    assert (debian.run(MAIN_PID), debian.run(HEALTH.format(port=8400))) == (first, "200")
    debian.run("systemctl kill --signal=KILL carrel")
    back = debian.wait(HEALTH.format(port=8400), "200")
    assert debian.run(MAIN_PID) != first
    debian.run("systemctl stop carrel")
    assert debian.run("systemctl show --value --property=Result carrel") == "success"
    debian.run("echo CARREL_CIPHER=none >> /etc/carrel/carrel.env; systemctl start carrel", may_fail=True)
    debian.wait("systemctl is-failed carrel", "failed")
    debian.run("sleep 7")
    assert debian.run("systemctl show --property=ExecMainStatus,NRestarts carrel") == "NRestarts=0\nExecMainStatus=2"
    debian.run("sed -i '/^CARREL_CIPHER/d' /etc/carrel/carrel.env; systemctl start carrel")
    assert debian.run(HEALTH.format(port=8400)) == "200"
    lines = len(commands.splitlines())
    figure("commands to a service, and seconds until it was back after SIGKILL", commands=lines, seconds=round(back, 1))


def test_two_nodes_behind_haproxy_come_up_and_one_that_was_killed_comes_back(debian: Debian, figure: Figure) -> None:
    debian.run("systemctl disable --now carrel; systemctl restart etcd")
    first, second = (printed("Several nodes on one machine", which) for which in (0, 1))
    debian.run(f"cd /release\n{first.partition(chr(10))[2]}{second}")
    debian.wait("systemctl is-active carrel@a carrel@b haproxy carrel-map", "\n".join(["active"] * 4))
    assert debian.run(HEALTH.format(port=8400)) == "200"
    debian.run("systemctl kill --signal=KILL carrel@a")
    back = debian.wait(HEALTH.format(port=8401), "200")
    status = debian.run("/opt/carrel/bin/carrel cluster status --env-file /etc/carrel/carrel.env")
    assert all(f"{node} " in status for node in "ab"), status
    figure("nodes, and seconds until one was back after SIGKILL", nodes=2, seconds=round(back, 1))
