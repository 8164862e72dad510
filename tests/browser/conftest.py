"""Fixtures of the tests that try the app in a browser. Where there is none they are left out, and say so."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.browser.browser import DIST, PASSWORD, USER, Deployment, launched, open_deployment, why_not
from tests.browser.pages import TIMEOUT_SECONDS, watched
from tests.support import programs
from tests.support.model_server import CRITIC, MODELS, Running, model_server

TIMEOUT_MS = TIMEOUT_SECONDS * 1000
_EXPECTED = ("Failed to load resource", "ERR_CONNECTION_REFUSED", "Blocked script execution in 'about:srcdoc'")
"""What Chromium itself says when an answer is a refusal or does not come; tests of both look at what is shown. The last
is of scripts of the tests, which Playwright offers to every frame: the frame of a report takes none."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    reason = why_not()
    if reason is None:
        return
    kept = [item for item in items if item.get_closest_marker("browser") is None]
    left_out = len(items) - len(kept)
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept
        programs.say(config, f"NOT RUN: {left_out} tests of the browser app, for {reason}")


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    assert (DIST / "carrel.js").is_file(), "the browser app is not built: make app"
    with open_deployment(tmp_path_factory.mktemp("workspace")) as deployment:
        yield deployment


@pytest.fixture(scope="module")
def models() -> Iterator[Running]:
    """Models that answer when a test lets them, so that a run is under way for as long as it has to be."""
    with model_server(models=(*MODELS, CRITIC)) as models:
        yield models


@pytest.fixture(scope="module")
def deployment_with_models(tmp_path_factory: pytest.TempPathFactory, models: Running) -> Iterator[Deployment]:
    with open_deployment(tmp_path_factory.mktemp("workspace"), {"CARREL_PROVIDER_HOSTS": models.host}) as deployment:
        deployment.workspace.provider_keys.store("openai", models.key, base_url=models.base_url)
        yield deployment


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    """One process for all tests of this pytest process, on the loop of its session; each test has its own profile."""
    expect.set_options(timeout=TIMEOUT_MS)
    async with async_playwright() as playwright, launched(playwright, tmp_path_factory.mktemp("downloads")) as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="session")
async def fresh_page(chromium: Browser) -> AsyncIterator[Page]:
    """A profile that knows nothing. Whatever it says on its console fails the test: a policy broken, an exception."""
    said: list[str] = []
    context = await chromium.new_context(viewport={"width": 1280, "height": 860})
    context.set_default_timeout(TIMEOUT_MS)
    context.on("console", lambda line: said.append(line.text) if line.type in {"error", "warning"} else None)
    context.on("weberror", lambda failed: said.append(str(failed.error)))
    yield await watched(await context.new_page())
    heard = [line for line in said if not any(words in line for words in _EXPECTED)]
    await context.close()
    assert heard == []


@pytest.fixture
def page(fresh_page: Page, deployment: Deployment) -> Page:
    """The same, before a workspace that is open."""
    deployment.host.sign_in(USER, PASSWORD)
    return fresh_page
