"""The commands of deploying.md, as they are printed there, in an empty Debian under a real systemd."""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.debian import NEEDS, Debian, booted, fetch, make
from tests.packaging import samples
from tests.support.soak import Figure

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/deploying.md").read_text(encoding="utf-8")
MAIN_PID = "systemctl show --value --property=MainPID carrel"
VERDICT = """python3 - <<'END'
{how}
with account as workspace:
    {before}
    print(any(workspace.runs.get(run.id).verdict for run in workspace.runs.find(state="completed")))
END"""
"""Whether a finished run of a workspace has one."""
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
    fetch(root, "/release/requirements.lock", "/release/requirements-demo.lock")
    with booted(root) as debian:
        yield debian


def test_the_commands_of_the_guide_do_what_it_says(debian: Debian, figure: Figure) -> None:
    """One test: they follow each other on one machine, and pytest would give each worker a machine of its own."""
    _service(debian, figure)
    _one_person(debian, figure)
    _earlier_data(debian)
    _two_nodes(debian, figure)


def _service(debian: Debian, figure: Figure) -> None:
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


def _one_person(debian: Debian, figure: Figure) -> None:
    *commands, start = printed("For yourself").splitlines()
    begun = time.monotonic()
    debian.run("\n".join(["cd /release", *commands]))
    debian.run(
        f"cd /release; systemd-run --unit=start --setenv=HOME=/root --working-directory=/release /release/{start}"
    )
    said = "journalctl --unit=start --output=cat | sed -n 's/^website *//p'"
    debian.wait(f"{said} | wc -l", "1")
    how = f"from carrel_website import seed\naccount = seed.seed_account('{debian.run(said).split()[0]}')"
    asked = VERDICT.format(how=how, before="seed.fill(workspace)")
    assert debian.run(f"/release/carrel/bin/{asked}").splitlines()[-1] == "True"
    debian.run("systemctl stop start")
    seconds = round(time.monotonic() - begun)
    figure("commands of one person, and seconds until there was a verdict", commands=len(commands) + 1, seconds=seconds)


def _earlier_data(debian: Debian) -> None:
    sample = samples.kept()[0]
    (debian.root / "release/sample.tar.gz").write_bytes(sample.read_bytes())
    secrets = {"CARREL_PLUGIN_SECRET": samples.PLUGIN_SECRET, "CARREL_SERVICE_KEY": samples.SERVICE_KEY}
    debian.run("systemctl stop carrel; cp -a /etc/carrel/carrel.env /root; mv /var/lib/carrel /root/data")
    for name, value in secrets.items():
        debian.run(f"sed -i 's/^{name}=.*/{name}={value}/' /etc/carrel/carrel.env")
    debian.run("install -d -m 0700 /var/lib/carrel; tar -xf /release/sample.tar.gz -C /var/lib/carrel")
    debian.run("chown -R carrel: /var/lib/carrel; systemctl start carrel")
    debian.wait(HEALTH.format(port=8400), "200")
    url = "http://127.0.0.1:8400"
    how = f"""from carrel_sdk import Host, Workspace
token = Host('{url}', '{samples.PLUGIN_SECRET}').sign_in('{samples.UUID}', '{samples.PASSWORD}').token
account = Workspace('{url}', token)"""
    assert debian.run(f"/opt/carrel/bin/{VERDICT.format(how=how, before='')}") == "True"
    debian.run(
        "systemctl stop carrel; rm -r /var/lib/carrel; mv /root/data /var/lib/carrel; mv /root/carrel.env /etc/carrel"
    )


def _two_nodes(debian: Debian, figure: Figure) -> None:
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
