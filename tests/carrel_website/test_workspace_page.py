"""The page with the token in it: for one reader, stored nowhere, renewed as section 5.5 of the specification says."""

import json
import re

import httpx
import pytest

from tests.carrel_website.website import FIRST, Browser, Website

FIFTY_FIVE_MINUTES = 55 * 60


@pytest.fixture
def built(website: Website) -> Website:
    """As if the browser app had been built."""
    (website.folder / "app").mkdir()
    (website.folder / "app" / "carrel.js").write_text("export {};\n")
    website.restart()
    return website


def carrel_of(page: str) -> dict[str, str]:
    """What the page's script hands to the app."""
    (given,) = re.findall(r"window\.carrel = (\{.*?\});</script>", page)
    value: dict[str, str] = json.loads(given)
    return value


async def test_the_page_hands_the_app_what_it_needs_and_no_secret(built: Website, browser: Browser) -> None:
    await browser.sign_up()
    page = (await browser.get("/desk")).text
    carrel = carrel_of(page)
    assert carrel == {
        "baseUrl": built.service.url,
        "sessionToken": await browser.token(),
        "userName": browser.email,
        "tokenUrl": "/token",
        "unlockUrl": "/unlock",
        "upgradeUrl": "/account",
    }
    assert built.service.plugin_secret not in page
    assert 'type="module" src="/app/carrel.js"' in page
    assert (await browser.get("/app/carrel.js")).headers["cache-control"] == "no-cache"
    for path in ("/token", "/unlock", "/account"):
        assert (await browser.get(path)).status_code == 200


async def test_scripts_run_by_nonce_only_and_talk_to_us_and_the_service_only(built: Website, browser: Browser) -> None:
    await browser.sign_up()
    pages = [await browser.get("/desk") for _ in range(2)]
    policies = [page.headers["content-security-policy"] for page in pages]
    nonces = [re.findall(r"'nonce-([\w-]{20,})'", policy) for policy in policies]
    assert nonces[0] != nonces[1]
    scripts = re.search(r"script-src ([^;]*);", policies[0])
    assert scripts is not None
    assert "unsafe" not in scripts[1]
    assert f"connect-src 'self' {built.service.url};" in policies[0]
    assert re.findall(r"<script (?!nonce)", pages[0].text) == []


@pytest.mark.parametrize("path", ["/", "/sign-up", "/desk", "/account", "/token", "/terminal", "/nothing-here"])
async def test_no_page_is_stored_framed_or_guessed_at(browser: Browser, path: str) -> None:
    await browser.sign_up()
    headers = (await browser.get(path)).headers
    assert headers["cache-control"] == "no-store"
    if path not in {"/", "/token"}:
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


async def test_a_kept_token_goes_out_for_55_minutes_and_is_then_refreshed_before_the_page(
    built: Website, browser: Browser
) -> None:
    await browser.sign_up()
    first = await browser.token()
    built.clock.now += FIFTY_FIVE_MINUTES - 1
    assert carrel_of((await browser.get("/desk")).text)["sessionToken"] == first
    assert "/auth/refresh" not in built.wire.paths
    built.clock.now += 1
    assert (await browser.get("/desk")).status_code == 200
    assert built.wire.paths.count("/auth/refresh") == 1
    await browser.get("/desk")
    assert built.wire.paths.count("/auth/refresh") == 1
    built.clock.now += FIFTY_FIVE_MINUTES
    await browser.token()
    assert built.wire.paths.count("/auth/refresh") == 2


async def test_a_token_that_the_service_refused_is_not_handed_out_again(website: Website, browser: Browser) -> None:
    await browser.sign_up()
    await browser.token()
    assert "/auth/refresh" not in website.wire.paths
    fresh = await browser.post("/token", {}, **{"sec-fetch-site": "same-origin"})
    assert fresh.status_code == 200
    assert website.wire.paths.count("/auth/refresh") == 1
    website.lock(browser.email)
    assert (await browser.post("/token", {}, origin=website.origin)).json() == {"code": "key-not-cached"}


async def test_the_address_of_the_token_says_who_is_signed_in_or_why_there_is_none(
    website: Website, browser: Browser
) -> None:
    await browser.sign_up()
    given = (await browser.get("/token")).json()
    assert given == {"session_token": await browser.token(), "user_name": browser.email}
    elsewhere, other = website.browser(), website.browser()
    elsewhere.email = browser.email
    await elsewhere.sign_in()
    await other.sign_up()

    async def said(reader: Browser) -> tuple[int, object]:
        answer = await reader.get("/token")
        return answer.status_code, answer.json().get("code")

    await elsewhere.submit("/sign-out", {}, at="/account")
    assert await said(elsewhere) == (401, "signed-out")
    assert await said(website.browser()) == (401, "signed-out")
    await elsewhere.sign_in()
    website.lock(browser.email)
    website.clock.now += FIFTY_FIVE_MINUTES
    assert await said(browser) == (401, "key-not-cached")
    website.wire.down = True
    assert await said(browser) == (503, "service-away")
    # The website knows of the deletion from the moment in which it is confirmed, in every browser of the user.
    await browser.submit("/account/delete", {"password": FIRST})
    for _ in range(2):
        assert [await said(reader) for reader in (browser, elsewhere)] == [(401, "account-deleted")] * 2
        website.wire.down = False
        website.site.workspaces.finish_deletions()
    assert (await other.get("/token")).json()["user_name"] == other.email
    # Whoever signs in here next is not told of it.
    browser.email = other.email
    await browser.sign_in()
    assert (await browser.get("/token")).status_code == 200
    await browser.submit("/sign-out", {}, at="/account")
    assert await said(browser) == (401, "signed-out")


async def test_a_page_whose_token_cannot_be_refreshed_leads_to_the_password(website: Website, browser: Browser) -> None:
    await browser.sign_up()
    website.lock(browser.email)
    website.clock.now += FIFTY_FIVE_MINUTES
    answer = await browser.get("/desk")
    assert (answer.status_code, answer.headers["location"]) == (303, "/unlock?next=/desk")


async def test_without_the_app_the_page_says_how_to_build_it_and_what_the_service_says(
    website: Website, browser: Browser
) -> None:
    await browser.sign_up()
    page = (await browser.get("/desk")).text
    for words in ("app is not built", "npm ci", "npm run build", await browser.uuid(), website.service.url):
        assert words in page
    assert "window.carrel" not in page


async def test_the_service_lets_the_website_s_pages_call_it_with_the_token(browser: Browser) -> None:
    await browser.sign_up()
    async with httpx.AsyncClient(verify=False, base_url=browser.service_url, timeout=60) as service:
        me = await service.get("/api/users/me", headers={"X-SVC-Session-Token": await browser.token()})
    assert me.json()["membership"] == "paid"
