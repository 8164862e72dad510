"""In and out: signing up, signing in, unlocking, signing out."""

import pytest
from carrel_sdk import SessionEnded, Workspace

from carrel_website.visits import IDLE_SECONDS, LONGEST_SECONDS
from tests.carrel_website.website import FIRST, SECOND, Browser, Website
from tests.support.service import Service


async def test_signing_up_makes_an_encrypted_workspace_and_leads_to_it(browser: Browser) -> None:
    answer = await browser.sign_up()
    assert (answer.status_code, answer.headers["location"]) == (303, "/desk")
    workspace = await browser.get("/desk")
    assert workspace.status_code == 200
    assert "0 contents, 0 presets, 0 runs" in workspace.text


async def test_a_password_that_is_short_or_mistyped_makes_no_account(browser: Browser, website: Website) -> None:
    assert "12 characters" in (await browser.sign_up("short")).text
    assert "differ" in (await browser.sign_up(FIRST, repeated=SECOND)).text
    assert (await browser.sign_up(email="nobody")).status_code == 400
    assert website.wire.paths == []


async def test_an_address_makes_one_account_however_it_is_written(browser: Browser, website: Website) -> None:
    await browser.sign_up()
    other = website.browser()
    assert (await other.sign_up(email=browser.email.upper())).status_code == 409


async def test_a_password_counts_exactly_as_it_was_typed(browser: Browser) -> None:
    password = '  Ünïcødé & "quotes" \\ +%41 1e5  '
    await browser.sign_up(password)
    await browser.submit("/sign-out", {}, at="/account")
    assert (await browser.sign_in(password.strip())).status_code == 403
    assert (await browser.sign_in(password)).status_code == 303


async def test_a_wrong_password_never_reaches_the_service(browser: Browser, website: Website) -> None:
    await browser.sign_up()
    other = website.browser()
    other.email = browser.email
    sent = len(website.wire.paths)
    assert (await other.sign_in(SECOND)).status_code == 403
    other.email = "nobody@example.org"
    assert (await other.sign_in(FIRST)).status_code == 403
    assert len(website.wire.paths) == sent
    assert (await browser.get("/desk")).status_code == 200, "the workspace stayed open"


async def test_guessing_has_to_wait_and_the_right_password_from_elsewhere_does_not(
    browser: Browser, website: Website
) -> None:
    await browser.sign_up()
    guesser = website.browser()
    guesser.email = browser.email
    for _ in range(5):
        assert (await guesser.sign_in("a wrong pass word")).status_code == 403
    website.clock.now += 0.1
    waiting = await guesser.sign_in(FIRST)
    assert waiting.status_code == 429
    assert waiting.headers["retry-after"] == "1"
    website.clock.now += 2
    assert (await guesser.sign_in(FIRST)).status_code == 303


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites_and_changes_at_the_sign_in(
    browser: Browser, website: Website
) -> None:
    planted = (await browser.get("/sign-up")).headers["set-cookie"]
    assert "HttpOnly" in planted
    assert "SameSite=lax" in planted
    fresh = (await browser.sign_up()).headers["set-cookie"]
    assert fresh.partition(";")[0] != planted.partition(";")[0]
    secure = Website(website.folder, website.service, origin="https://reading-room.example")
    over_https = await secure.browser().get("/sign-up")
    assert over_https.headers["set-cookie"].startswith("__Host-reading-room=")
    assert "Secure" in over_https.headers["set-cookie"]
    assert "strict-transport-security" in over_https.headers


async def test_a_visit_ends_by_itself(browser: Browser, website: Website) -> None:
    await browser.sign_up()
    website.clock.now += IDLE_SECONDS - 1
    assert (await browser.get("/account")).status_code == 200
    website.clock.now += IDLE_SECONDS
    ended = await browser.get("/account")
    assert (ended.status_code, ended.headers["location"]) == (303, "/sign-in?next=/account")
    await browser.sign_in()
    for _ in range(LONGEST_SECONDS // (IDLE_SECONDS // 2)):
        website.clock.now += IDLE_SECONDS // 2
        last = await browser.get("/account")
    assert last.status_code == 303, "however often it was used"


async def test_signing_out_ends_the_visit_on_the_website_and_the_sessions_in_the_service(
    browser: Browser, service: Service
) -> None:
    await browser.sign_up()
    kept = dict(browser.cookies)
    token = (await browser.get("/token")).json()["session_token"]
    with Workspace(service.url, token) as workspace:
        workspace.me()
    assert (await browser.submit("/sign-out", {}, at="/account")).headers["location"] == "/"
    browser.cookies.update(kept)
    assert (await browser.get("/desk")).status_code == 303
    assert (await browser.get("/token")).json() == {"code": "signed-out"}
    with Workspace(service.url, token) as workspace, pytest.raises(SessionEnded):
        workspace.me()
    browser.cookies.clear()
    await browser.sign_in()
    assert (await browser.get("/desk")).status_code == 200


async def test_after_the_service_restarted_the_workspace_is_unlocked_with_the_password(
    browser: Browser, website: Website, service: Service
) -> None:
    await browser.sign_up()
    service.restart()
    # The website still holds the token, which is of no use; the page notices.
    assert (await browser.get("/desk")).headers["location"] == "/unlock"
    assert (await browser.get("/token")).json() == {"code": "key-not-cached"}
    assert (await browser.get("/desk")).headers["location"] == "/unlock?next=/desk"
    assert (await browser.submit("/unlock", {"password": SECOND})).status_code == 403
    back = await browser.submit("/unlock", {"password": FIRST}, at="/unlock?next=/desk%23/runs/1")
    assert back.status_code == 303
    assert (await browser.get("/desk")).status_code == 200


async def test_unlocking_asks_for_the_password_even_when_the_workspace_seems_open(browser: Browser) -> None:
    await browser.sign_up()
    page = await browser.get("/unlock?next=/desk%23/runs/1")
    assert page.status_code == 200
    assert 'name="next" value="/desk#/runs/1"' in page.text


async def test_nobody_is_led_to_another_website(browser: Browser) -> None:
    await browser.sign_up()
    for path in ("https://evil.example/desk", "//evil.example", "/desk\\evil", "/desk/../..//evil", "/deskevil", ""):
        led = await browser.submit("/unlock", {"password": FIRST, "next": path})
        assert led.headers["location"].startswith("/desk"), path
        assert "//" not in led.headers["location"] or path.startswith("/desk/")


async def test_while_the_service_is_away_a_user_signs_in_to_the_website_and_is_told(
    browser: Browser, website: Website
) -> None:
    website.wire.down = True
    assert (await browser.sign_up()).status_code == 303
    workspace = await browser.get("/desk")
    assert workspace.status_code == 503
    assert "cannot be reached" in workspace.text
    assert (await browser.get("/token")).status_code == 503
    website.wire.down = False
    assert (await browser.get("/desk")).headers["location"] == "/unlock?next=/desk"
    assert (await browser.submit("/unlock", {"password": FIRST})).status_code == 303
    assert (await browser.get("/desk")).status_code == 200


async def test_a_workspace_that_the_service_does_not_know_is_never_made_anew(
    browser: Browser, website: Website
) -> None:
    await browser.sign_up()
    website.site.host.delete(await browser.uuid())
    answer = await browser.sign_in()
    assert answer.status_code == 503
    assert "We have not created a new one" in answer.text
