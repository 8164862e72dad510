"""The demo website itself in a browser: usable by everybody, strict, and careful with the token."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.async_api import Page, expect

from tests.browser.demo_website import DemoWebsite, open_website
from tests.browser.pages import CONTRAST, LOOKS, serious_faults, settled

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

OUTSIDE = ("/", "/sign-up", "/sign-in", "/forgotten", "/nowhere")
INSIDE = ("/unlock", "/account", "/account/password", "/account/delete", "/terminal", "/desk")


@pytest.fixture(scope="module")
def website(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoWebsite]:
    with open_website(tmp_path_factory.mktemp("website")) as website:
        yield website


async def test_no_page_of_the_website_has_a_serious_fault_and_the_token_stays_in_memory(
    fresh_page: Page, website: DemoWebsite
) -> None:
    page = fresh_page
    faults = [await _faults(page, website, path) for path in OUTSIDE]
    await page.goto(f"{website.url}/sign-up")
    await page.get_by_label("E-mail address").fill("reader@example.org")
    await page.get_by_label("Password", exact=True).fill("the first pass word")
    await page.get_by_label("Password again").fill("the first pass word")
    await page.get_by_label("Give me a recovery code").check()
    await page.get_by_role("button", name="Sign up").click()
    await expect(page.get_by_role("heading", name="Your recovery code")).to_be_visible()
    faults += [await _faults(page, website, path) for path in INSIDE]
    assert [fault for found in faults for fault in found] == [], json.dumps(faults, indent=1)

    answer = await page.goto(f"{website.url}/desk?again")
    assert answer is not None
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    assert "unsafe" not in policy["script-src"]
    assert answer.headers["cache-control"] == "no-store"
    await settled(page)
    told = await page.evaluate("fetch('/token').then(answer => answer.json())")
    kept = await page.evaluate(
        "() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href, history.state,"
        " performance.getEntries().map(entry => entry.name)])"
    )
    cookies = json.dumps(await page.context.cookies())
    token = str(told["session_token"])
    assert token.partition(".")[0] not in kept + cookies
    assert token.partition(".")[2] not in kept + cookies


async def test_the_pages_that_come_up_when_something_is_wrong_have_no_serious_fault_either(
    fresh_page: Page, website: DemoWebsite
) -> None:
    page = fresh_page
    await page.goto(f"{website.url}/sign-up")
    await page.get_by_label("E-mail address").fill("forgetful@example.org")
    for repeated in ("the first pass wood", "the first pass word"):
        await page.get_by_label("Password", exact=True).fill("the first pass word")
        await page.get_by_label("Password again").fill(repeated)
        await page.get_by_role("button", name="Sign up").click()
        if repeated.endswith("wood"):
            await expect(page.get_by_role("alert")).to_have_text("The two passwords differ.")
            await _looked_at(page)
    await settled(page)

    await page.goto(f"{website.url}/forgotten")
    await page.get_by_label("E-mail address").fill("forgetful@example.org")
    await page.get_by_role("button", name="Send a link").click()
    await expect(page.get_by_role("status")).to_contain_text("an e-mail is on its way")
    await _looked_at(page)
    website.service.restart()
    await page.goto(await website.link_in_letter())
    await _looked_at(page)
    await page.get_by_label("New password", exact=True).fill("the second pass word")
    await page.get_by_label("New password again").fill("the second pass word")
    await page.get_by_role("button", name="Set it").click()
    await page.get_by_text("I have neither").click()
    await _looked_at(page)

    await page.goto(f"{website.url}/terminal")
    await page.get_by_role("button", name="Show a token").click()
    await expect(page.get_by_role("heading", name="Unlock your workspace")).to_be_visible()
    await expect(page.get_by_label("Password")).to_be_focused()
    alert = page.get_by_role("alert").filter(has_text=re.compile("not the right password|Please wait"))
    said = ""
    while "Please wait" not in said:
        # After five tries the next one has to wait, and each time twice as long: in the end longer than it takes here.
        await page.get_by_label("Password").fill("not the password")
        # Another page with the same alert: what is typed next belongs there.
        async with page.expect_navigation():
            await page.keyboard.press("Enter")
        said = await alert.inner_text()
    await _looked_at(page)


async def _looked_at(page: Page) -> None:
    """In both looks and at both widths, as it stands: there is no loading it again."""
    for width in (390, 1280):
        await page.set_viewport_size({"width": width, "height": 844})
        wide = await page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, (page.url, "is wider than the window")
        for look in LOOKS:
            await page.emulate_media(color_scheme=look, reduced_motion="reduce")
            faults = await serious_faults(page, "document", rules=CONTRAST if look == "dark" else ())
            assert faults == [], (page.url, look, width)


async def _faults(page: Page, website: DemoWebsite, path: str) -> list[object]:
    found: list[object] = []
    for look in LOOKS:
        await page.emulate_media(color_scheme=look, reduced_motion="reduce")
        await page.goto(website.url + path)
        if path == "/desk":
            await settled(page)
        faults = await serious_faults(page, "document", rules=CONTRAST if look == "dark" else ())
        found += [(path, look, fault) for fault in faults]
    return found
