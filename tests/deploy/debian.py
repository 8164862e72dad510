"""An empty Debian whose systemd is PID 1 of namespaces of its own. It shares no port with this machine."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NEEDS = ("mmdebstrap", "unshare", "nsenter")
PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "procps", "ca-certificates", "openssl"),
    *("python3", "python3-venv", "etcd-server", "etcd-client", "haproxy"),
)
"""What deploying.md takes for granted, and what its second part installs."""
_BOOT = """
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mkdir -p before
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount --rbind /dev dev
# Its own: `RemoveIPC=` of a unit that stops removes what the unit's user has there, and this root may lie there.
mount -t tmpfs tmpfs dev/shm
hostname carrel
pivot_root . before
umount -l /before
export container=namespaces
exec /lib/systemd/systemd --log-level=warning --log-target=console
"""
_WAIT_SECONDS = 60.0
_TRUSTED = Path("/etc/ssl/certs/ca-certificates.crt")


def make(root: Path) -> None:
    """Debian 12, from its packages; a minute and a half."""
    command = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(PACKAGES)}", "bookworm", str(root)]
    subprocess.run(command, check=True, timeout=900)
    (root / "etc/hosts").write_text("127.0.0.1 localhost carrel\n")
    # What this machine trusts beside the usual authorities.
    shutil.copy(_TRUSTED, root / _TRUSTED.relative_to("/"))


def fetch(root: Path, *locks: str) -> None:
    """Download what these files pin, because a booted one reaches no index."""
    pip = "python3 -m venv /packages/venv; /packages/venv/bin/pip download --quiet --dest=/packages --require-hashes"
    script = " ".join([pip, *(f"--requirement={lock}" for lock in locks)])
    subprocess.run(["chroot", root, "bash", "-ec", script], check=True, timeout=600)


class Debian:
    """A booted one. `run` is a shell of root inside."""

    def __init__(self, root: Path, pid: int) -> None:
        self.root = root
        self._pid = pid
        fetched = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/packages"}
        self._environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", **fetched}

    def run(self, script: str, *, may_fail: bool = False) -> str:
        """What it says on both streams."""
        done = subprocess.run(
            ["nsenter", "--target", str(self._pid), "--all", "bash", "-ec", script],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert may_fail or done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
        return (done.stdout + done.stderr).strip()

    def wait(self, script: str, wanted: str) -> float:
        """Ask until it says that. Returns the seconds that it took."""
        begun = time.monotonic()
        while (said := self.run(script, may_fail=True)) != wanted:
            if time.monotonic() - begun > _WAIT_SECONDS:
                log = self.run("systemctl --failed; journalctl --no-pager --lines=60")
                raise AssertionError(f"{script}: {said}\n{log}")
            time.sleep(0.1)
        return time.monotonic() - begun


@contextmanager
def booted(root: Path) -> Iterator[Debian]:
    """From systemd's start to the end of all processes."""
    command = ["unshare", "--mount", "--net", "--uts", "--ipc", "--pid", "--cgroup", "--fork", "--kill-child"]
    with (root.parent / "boot.log").open("w") as log:
        outside = subprocess.Popen(
            [*command, "bash", "-c", _BOOT, "boot", str(root)], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        debian = Debian(root, _child(outside.pid))
        # Units of Debian may have failed: whoever needs one starts it.
        debian.wait("systemctl is-system-running | grep -cE 'running|degraded'", "1")
        yield debian
    finally:
        outside.send_signal(signal.SIGKILL)
        outside.wait()


def _child(pid: int) -> int:
    """The process that `unshare` has become the parent of."""
    while not (found := Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
        os.kill(pid, 0)
        time.sleep(0.01)
    return int(found[0])
