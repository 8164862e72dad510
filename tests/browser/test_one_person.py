"""One tab is one person's: what becomes of its texts when the person at the browser changes, on the demo website."""

import asyncio
import io
import json
import zipfile
from base64 import urlsafe_b64decode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from carrel_sdk import CarrelError, Workspace
from playwright.async_api import Page, Request, Route, expect

from tests.browser.contents import finished_run
from tests.browser.demo_website import DemoWebsite, open_website
from tests.browser.pages import NAMES, TIMEOUT_SECONDS, settled, unfold, watched

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

PASSWORD = "the first pass word"
ADA, BEN = "ada@example.org", "ben@example.org"
CANARY = "Ada raises prices in May"
EXPIRED = {"status": 401, "code": "session-token-expired", "title": "Unauthorized", "detail": "It has expired."}
"""What the service says of a token after its hour, which no test waits for."""
ALLOWED = {"Access-Control-Allow-Origin": "*"}


@pytest.fixture
def website(tmp_path: Path) -> Iterator[DemoWebsite]:
    with open_website(tmp_path) as website:
        yield website


async def signs_up(page: Page, website: DemoWebsite, email: str) -> None:
    await page.goto(f"{website.url}/sign-up")
    await page.get_by_label("E-mail address").fill(email)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_label("Password again").fill(PASSWORD)
    await page.get_by_role("button", name="Sign up").click()
    await settled(page)


async def signs_in(page: Page, website: DemoWebsite, email: str) -> None:
    await page.goto(f"{website.url}/sign-in")
    await page.get_by_label("E-mail address").fill(email)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    async with page.expect_navigation():
        await page.get_by_role("button", name="Sign in").click()


async def signs_out(page: Page, website: DemoWebsite) -> None:
    await page.goto(f"{website.url}/account")
    async with page.expect_navigation():
        await page.get_by_role("button", name="Sign out").click()


@asynccontextmanager
async def workspace_of(page: Page, website: DemoWebsite) -> AsyncIterator[Workspace]:
    """The workspace of whoever is signed in in this browser."""
    answer = await page.request.get(f"{website.url}/token")
    with Workspace(website.service.url, str((await answer.json())["session_token"])) as workspace:
        yield workspace


def exported(workspace: Workspace) -> bytes:
    file = io.BytesIO()
    workspace.export_to(file)
    return file.getvalue()


def everything(workspace: Workspace) -> bytes:
    """Each byte of a workspace, as its export holds them: texts, presets, drafts, runs, votes, settings."""
    with zipfile.ZipFile(io.BytesIO(exported(workspace))) as packed:
        return b"".join(packed.read(name) for name in packed.namelist())


def subject_of(token: str) -> str:
    payload = token.partition(".")[0]
    return str(json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["uuid"])


@dataclass
class Tab:
    """A tab whose question to the website, who is signed in, is held until the test lets it go."""

    page: Page
    held: list[Route] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    is_held: bool = False
    subjects: set[str] = field(default_factory=set)
    """Of the tokens that its requests carried."""

    async def keep(self, route: Route) -> None:
        if not self.is_held:
            await route.continue_()
            return
        self.held.append(route)
        self.asked.set()

    async def let_go(self) -> None:
        self.is_held = False
        for route in self.held:
            await route.continue_()

    def note(self, request: Request) -> None:
        if token := request.headers.get("x-svc-session-token"):
            self.subjects.add(subject_of(token))


async def tab_at(place: str, front: Page, website: DemoWebsite) -> Tab:
    """Another tab of the same browser, at a place of the app."""
    tab = Tab(await watched(await front.context.new_page()))
    await tab.page.route("**/token", tab.keep)
    tab.page.on("request", tab.note)
    await tab.page.goto(f"{website.url}/desk#{place}")
    await settled(tab.page)
    return tab


async def is_looked_at(page: Page) -> None:
    """As when somebody comes to its window: without a screen there are no windows to come to."""
    await page.evaluate("window.dispatchEvent(new Event('focus'))")


SHOWN = """
[document.documentElement.outerHTML, document.title, location.href,
 ...[...document.querySelectorAll("input, textarea")].map(field => field.value)].join("\\n")
"""
"""All that a page holds for the eye and for the tools of a browser: what is typed into fields stands in no HTML."""


async def shows_nothing(page: Page) -> bool:
    """Of the canary, and of the app beside its dialog."""
    assert await page.locator("#carrel").inner_text() == await page.get_by_role("alertdialog").inner_text()
    return CANARY not in await page.evaluate(SHOWN)


async def _draft(page: Page) -> None:
    await page.get_by_label("What the models are to do").fill(f"{CANARY}, in a draft")


async def _text(page: Page) -> None:
    await page.get_by_label("Name").fill(f"{CANARY}, as a name")
    await page.get_by_role("textbox", name="Text").fill(f"{CANARY}, in a text")
    await page.get_by_role("button", name="Save", exact=True).click()


async def _chosen(page: Page, button: str, file: Path) -> None:
    async with page.expect_file_chooser() as chooser:
        await page.get_by_role("button", name=button).click()
    await (await chooser.value).set_files(file)


async def _vote(page: Page) -> None:
    await page.get_by_role("textbox", name="Why?").fill(f"{CANARY}, in a vote")
    await page.get_by_role("button", name="Both are bad").click()


async def test_no_byte_of_one_user_comes_into_the_workspace_of_the_next(
    fresh_page: Page, website: DemoWebsite, tmp_path: Path
) -> None:
    front = fresh_page
    await signs_up(front, website, BEN)
    await signs_out(front, website)
    await signs_up(front, website, ADA)
    async with workspace_of(front, website) as ada:
        uuid = ada.me().uuid
        run = finished_run(ada)
        stored = ada.runs.get(run).preset_id
        ada.contents.create("Prices", "fragment", CANARY)
        (tmp_path / "import.zip").write_bytes(exported(ada))
    (tmp_path / "upload.md").write_text(f"# {CANARY}\n\nin a document")
    places: Mapping[str, Callable[[Page], Awaitable[None]]] = {
        "/compare": _draft,
        "/library/new?type=fragment": _text,
        "/library": lambda page: _chosen(page, "Choose files", tmp_path / "upload.md"),
        "/account?tab=data": lambda page: _chosen(page, "Choose a zip", tmp_path / "import.zip"),
        f"/runs/{run}?tab=judges&vote=now": _vote,
    }
    opened: dict[str, Tab] = {}
    for place in places:
        tab = opened[place] = await tab_at(place, front, website)
        tab.is_held = True
    # This one learns in time that nobody is signed in, and its draft waits for Ada.
    waiting = opened["preset"] = await tab_at(f"/presets/{stored}", front, website)
    await unfold(waiting.page, NAMES)
    await waiting.page.get_by_label("Description").fill(f"{CANARY}, in a preset")

    # Ada leaves by another tab. What these do now finds no session, and waits for what the website says.
    await signs_out(front, website)
    for place, act in places.items():
        await act(opened[place].page)
    async with asyncio.timeout(TIMEOUT_SECONDS):
        for place in places:
            await opened[place].asked.wait()
    await is_looked_at(waiting.page)
    await expect(waiting.page.get_by_role("alertdialog", name="You are signed out")).to_be_visible()
    await signs_in(front, website, BEN)
    for tab in opened.values():
        await tab.let_go()
    for tab in opened.values():
        dialog = tab.page.get_by_role("alertdialog", name="Another user has signed in")
        await expect(dialog).to_contain_text(BEN)
        assert await shows_nothing(tab.page)

    async with workspace_of(front, website) as ben:
        found = everything(ben)
    print(
        f"\n{len(opened)} tabs; in Ben's workspace of {len(found)} bytes: {found.count(CANARY.encode())} of Ada's texts"
    )
    assert found.count(CANARY.encode()) == 0
    assert [tab.subjects for tab in opened.values()] == [{uuid}] * len(opened)

    page = opened["/compare"].page
    await page.get_by_role("button", name=f"Go on as {BEN}").click()
    await settled(page)
    await expect(page.get_by_role("complementary").first).to_contain_text(f"Signed in as {BEN}")
    await expect(page).to_have_url(f"{website.url}/desk#/runs")
    assert CANARY not in await page.evaluate(SHOWN)


async def test_who_signed_out_in_another_tab_shows_nothing_and_comes_back_to_what_was_typed(
    fresh_page: Page, website: DemoWebsite
) -> None:
    front = fresh_page
    await signs_up(front, website, ADA)
    tab = await tab_at("/library/new?type=fragment", front, website)
    await tab.page.get_by_role("textbox", name="Text").fill(CANARY)
    assert CANARY in await tab.page.evaluate(SHOWN)
    await signs_out(front, website)
    await is_looked_at(tab.page)
    dialog = tab.page.get_by_role("alertdialog", name="You are signed out")
    await expect(dialog).to_contain_text("nobody is signed in there any more in this browser")
    assert await shows_nothing(tab.page)
    await signs_in(front, website, ADA)
    await expect(dialog).to_be_hidden()
    await expect(tab.page.get_by_role("textbox", name="Text")).to_have_value(CANARY)
    await expect(tab.page).to_have_title("New text · Carrel")
    await tab.page.get_by_label("Name").fill("Prices")
    await tab.page.get_by_role("button", name="Save", exact=True).click()
    await expect(tab.page.get_by_role("heading", name="Prices")).to_be_visible()


async def test_who_signs_out_on_the_page_leaves_nothing_there_nor_in_other_tabs(
    fresh_page: Page, website: DemoWebsite
) -> None:
    await signs_up(fresh_page, website, ADA)
    async with workspace_of(fresh_page, website) as ada:
        text = ada.contents.create(CANARY, "fragment", CANARY)
        here = await tab_at("/account?tab=sessions", fresh_page, website)
        there = await tab_at(f"/library/{text.id}", fresh_page, website)
        await here.page.get_by_role("button", name="Sign out everywhere").click()
        sure = here.page.get_by_role("alertdialog", name="Sign out everywhere?")
        await sure.get_by_role("button", name="Sign out").click()
        dialog = here.page.get_by_role("alertdialog", name="You have signed out")
        await expect(dialog).to_contain_text("All your sessions have ended")
        with pytest.raises(CarrelError):
            ada.me()
    assert await shows_nothing(here.page)
    # The other tab is told, and nobody has to come to its window.
    locked = there.page.get_by_role("alertdialog", name="Please enter your password again")
    await expect(locked).to_contain_text("when you sign out everywhere")
    assert await shows_nothing(there.page)
    await dialog.get_by_role("link", name="Enter your password").click()
    await here.page.get_by_label("Password").fill(PASSWORD)
    await here.page.get_by_role("button", name="Unlock").click()
    await settled(here.page)
    await expect(locked).to_be_hidden()
    await expect(there.page.get_by_role("textbox", name="Text")).to_have_value(CANARY)


async def test_a_deleted_account_leaves_nothing_in_any_tab(fresh_page: Page, website: DemoWebsite) -> None:
    here = fresh_page
    await signs_up(here, website, ADA)
    async with workspace_of(here, website) as ada:
        text = ada.contents.create(CANARY, "fragment", CANARY)
    there = await tab_at(f"/library/{text.id}", here, website)
    await here.goto(f"{website.url}/desk#/library/{text.id}")
    await settled(here)
    # As a person goes there, who sees a link of the website above the app.
    await here.get_by_role("link", name="Account").click()
    await here.get_by_role("link", name="Delete your account").click()
    await here.get_by_label("Your password").fill(PASSWORD)
    await here.get_by_role("button", name="Delete everything").click()
    await expect(here.get_by_role("heading", name="Goodbye")).to_be_visible()
    await is_looked_at(there.page)
    dialog = there.page.get_by_role("alertdialog", name="This account was deleted")
    await expect(dialog).to_contain_text("The website that you came from says so.")
    assert await shows_nothing(there.page)
    await dialog.get_by_role("button", name="Reload this page").click()
    await expect(there.page.get_by_role("heading", name="Sign in")).to_be_visible()
    # Nor is the page there any more that was left for the deletion.
    for _ in range(2):
        await here.go_back()
    await expect(here.get_by_role("heading", name="Sign in")).to_be_visible()
    assert CANARY not in await here.evaluate(SHOWN)


async def test_a_website_that_does_not_answer_is_said_to_be_away_and_nothing_is_lost(
    fresh_page: Page, website: DemoWebsite
) -> None:
    front = fresh_page
    await signs_up(front, website, ADA)
    tab = await tab_at("/library/new?type=fragment", front, website)
    await tab.page.route("**/token", lambda route: route.abort())
    await tab.page.route("**/api/contents", lambda route: route.fulfill(status=401, json=EXPIRED, headers=ALLOWED))
    await tab.page.get_by_label("Name").fill("Prices")
    await tab.page.get_by_role("textbox", name="Text").fill(CANARY)
    await tab.page.get_by_role("button", name="Save", exact=True).click()
    banner = tab.page.get_by_role("alert").filter(has_text="cannot renew the session of this page right now")
    await expect(banner).to_be_visible()
    await expect(tab.page.get_by_role("textbox", name="Text")).to_have_value(CANARY)
    await tab.page.unroute("**/api/contents")
    await tab.page.unroute("**/token")
    await expect(banner).to_be_hidden()
    await expect(tab.page.get_by_role("heading", name="Prices")).to_be_visible()
