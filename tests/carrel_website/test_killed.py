"""A change of the password in a website's process that is killed for real; what is left decides what happens next."""

import os
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.carrel_website.test_change_password import opens, passwords
from tests.carrel_website.website import FIRST, SECOND, Website
from tests.support.service import Service, free_port

ROOT = Path(__file__).parents[2]


@pytest.fixture
def quick_keys() -> None:
    """The killed process derives its keys as slowly as every host; so does the one that comes after it."""


def submit(browser: httpx.Client, path: str, fields: dict[str, str]) -> httpx.Response:
    token = browser.get(path).text.partition('name="form_token" value="')[2].partition('"')[0]
    return browser.post(path, data=fields | {"form_token": token})


@pytest.mark.parametrize(("line", "counts", "refused"), [("before-rekey", FIRST, SECOND), ("at-commit", SECOND, FIRST)])
async def test_after_a_kill_exactly_one_password_opens_the_workspace(
    tmp_path: Path, service: Service, line: str, counts: str, refused: str
) -> None:
    folder, port = tmp_path / "website", free_port()
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("dying_host.py")), str(folder), service.url, str(port), line],
        env=os.environ | {"PLUGIN_SECRET": service.plugin_secret, "PYTHONPATH": str(ROOT)},
    )
    website = None
    try:
        with httpx.Client(verify=False, base_url=f"http://127.0.0.1:{port}", timeout=60.0) as browser:
            await_answer(browser)
            email = f"{line}@example.org"
            entered = submit(browser, "/sign-up", {"email": email, "password": FIRST, "repeated": FIRST})
            assert entered.status_code == 303
            fields = {"old": FIRST, "password": SECOND, "repeated": SECOND}
            with pytest.raises(httpx.TransportError):
                submit(browser, "/account/password", fields)
        assert process.wait(60) == -9
        website = Website(folder, service)
        reader = website.browser()
        reader.email = email
        assert passwords(website, reader) == 2
        assert not await opens(website, reader, refused)
        assert await opens(website, reader, counts)
        assert passwords(website, reader) == 1
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        if website is not None:
            website.wire.hang_up()


def await_answer(browser: httpx.Client) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            browser.get("/")
        except httpx.ConnectError:
            assert time.monotonic() < deadline, "the website did not start"
            time.sleep(0.05)
        else:
            return
