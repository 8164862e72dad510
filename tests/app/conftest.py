"""Fixtures of the tests that try the app in a browser. Where there is none they are left out, and say so."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright

from tests.app.browser import DIST, USER, Desk, chromium, open_desk, why_not

_EXPECTED = ("Failed to load resource", "ERR_CONNECTION_REFUSED")
"""What Chromium itself says when an answer is a refusal or does not come; tests of both look at what is shown."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    reason = why_not()
    if reason is None:
        return
    kept = [item for item in items if item.get_closest_marker("browser") is None]
    left_out = len(items) - len(kept)
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept
        print(f"\nNOT RUN: {left_out} tests of the browser app, for {reason}")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    assert (DIST / "carrel.js").is_file(), "the browser app is not built: make app"
    with open_desk(tmp_path_factory.mktemp("desk")) as desk:
        yield desk


@pytest.fixture
async def page(desk: Desk, tmp_path: Path) -> AsyncIterator[Page]:
    """A fresh browser. Whatever it says on its console fails the test: a policy that was broken, an exception."""
    said: list[str] = []
    desk.host.sign_in(USER, "correct horse battery staple")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"], downloads_path=tmp_path
        )
        page = await browser.new_page(viewport={"width": 1280, "height": 860})
        page.set_default_timeout(15_000)
        page.on("console", lambda line: said.append(line.text) if line.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        yield page
        await browser.close()
    assert [line for line in said if not any(words in line for words in _EXPECTED)] == []
