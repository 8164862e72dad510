"""`carrel start`, as `make start` runs it: real processes, from the address that it prints to its end."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.carrel_website.website import FIRST

ROOT = Path(__file__).parents[2]
TIMEOUT_SECONDS = 40.0
PROGRAM = (sys.executable, "-c", "from carrel.cli.program import run; run()", "start", "--no-browser")


@contextmanager
def started(folder: Path, **settings: str) -> Iterator["tuple[subprocess.Popen[str], str]"]:
    """The running program, and the address that it says to open; `settings` are in its environment."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CARREL_")} | settings
    process = subprocess.Popen(
        [*PROGRAM, "--folder", str(folder), "--app", str(folder / "no-app")],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            address = re.match(r"website +(http://\S+)", line)
            if address is not None:
                assert any("not built" in line for line in lines)
                assert any(", ".join(settings) in line for line in lines)
                yield process, address[1]
                break
        else:
            raise AssertionError(f"it named no address: {''.join(lines)}")
    finally:
        end(process)
        if process.stdout is not None:
            process.stdout.close()


def end(process: "subprocess.Popen[Any]") -> None:
    """Kill the program, if it still runs, and the service that it started, which would outlive it."""
    if process.poll() is None:
        own = psutil.Process(process.pid)
        everything = [*own.children(recursive=True), own]
        for one in everything:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        psutil.wait_procs(everything, TIMEOUT_SECONDS)
    process.wait()


def enter(browser: httpx.Client, path: str, email: str) -> httpx.Response:
    page = browser.get(path).text
    token = page.partition('name="form_token" value="')[2].partition('"')[0]
    fields = {"form_token": token, "email": email, "password": FIRST, "repeated": FIRST}
    return browser.post(path, data=fields, headers={"origin": str(browser.base_url).rstrip("/")})


def test_it_prints_an_address_works_and_leaves_nothing_running_after_ctrl_c(tmp_path: Path) -> None:
    with (
        started(tmp_path, CARREL_PROVIDER_HOSTS="127.0.0.1:11434") as (process, address),
        httpx.Client(verify=False, base_url=address, follow_redirects=True, timeout=60) as browser,
    ):
        workspace = enter(browser, "/sign-up", "reader@example.org")
        assert "Your workspace is open" in workspace.text
        (service_url,) = re.findall(r"<code>(http://[^<]+)</code>", workspace.text)
        allowed = httpx.options(
            f"{service_url}/api/users/me",
            headers={"Origin": address, "Access-Control-Request-Method": "GET"},
            timeout=60,
        )
        assert allowed.headers["access-control-allow-origin"] == address
        (service,) = psutil.Process(process.pid).children()
        # What a user sets for the service gets there, such as the address of a model server of their own.
        assert service.environ()["CARREL_PROVIDER_HOSTS"] == "127.0.0.1:11434"
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_SECONDS) == 0
        assert not service.is_running()
    assert (tmp_path / "service.env").stat().st_mode & 0o077 == 0


def test_users_are_still_there_after_the_next_start_and_a_dead_service_is_noticed(tmp_path: Path) -> None:
    with (
        started(tmp_path) as (process, address),
        httpx.Client(verify=False, base_url=address, follow_redirects=True, timeout=60) as browser,
    ):
        enter(browser, "/sign-up", "reader@example.org")
        (service,) = psutil.Process(process.pid).children()
        service.kill()
        assert process.wait(TIMEOUT_SECONDS) == 1
    with (
        started(tmp_path) as (process, address),
        httpx.Client(verify=False, base_url=address, follow_redirects=True, timeout=60) as browser,
    ):
        assert "Your workspace is open" in enter(browser, "/sign-in", "reader@example.org").text
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT_SECONDS) == 0


def service_below(process: "subprocess.Popen[Any]") -> psutil.Process:
    """The service that the program, or a program that it started, is starting."""
    own = psutil.Process(process.pid)
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        for child in own.children(recursive=True):
            with suppress(psutil.Error):
                # A child that has just ended has no command line any more.
                if "serve" in child.cmdline():
                    return child
        time.sleep(0.001)
    raise AssertionError("no service was started")


def test_a_signal_while_it_starts_leaves_no_service_behind(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "--folder", str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        service = service_below(process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT_SECONDS) == 0
        assert not service.is_running()
    finally:
        end(process)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
def test_a_kill_takes_the_service_along(tmp_path: Path) -> None:
    with started(tmp_path) as (process, _):
        (service,) = psutil.Process(process.pid).children()
        process.kill()
        process.wait()
        service.wait(TIMEOUT_SECONDS)
    assert not service.is_running()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
def test_a_kill_of_make_takes_both_along(tmp_path: Path) -> None:
    """A shell stands in for make, which would build the browser app first."""
    program = [*PROGRAM, "--end-with-parent", "--folder", str(tmp_path)]
    make = subprocess.Popen(
        ["sh", "-c", '"$@"; exit', "make", *program],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        service = service_below(make)
        both = psutil.Process(make.pid).children(recursive=True)
        assert service in both
        make.kill()
        make.wait()
        _, alive = psutil.wait_procs(both, TIMEOUT_SECONDS)
        for one in alive:
            one.kill()
    finally:
        end(make)
    assert alive == []
