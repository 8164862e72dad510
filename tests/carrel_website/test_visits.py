"""Who stays signed in: not the other browser after a change, not a planted cookie, not a link that leads elsewhere."""

import re

import httpx
import pytest

from carrel_website import users
from carrel_website.orders import PACKS
from tests.carrel_website.test_change_password import dies, passwords
from tests.carrel_website.website import FIRST, SECOND, Browser, Website


@pytest.fixture
async def reader(browser: Browser) -> Browser:
    await browser.sign_up()
    return browser


async def second_browser(website: Website, reader: Browser) -> Browser:
    other = website.browser()
    other.email = reader.email
    await other.sign_in()
    assert (await other.get("/account")).status_code == 200
    return other


@pytest.mark.parametrize("settled_by", ["sign_in", "unlock", "recovery_code"])
async def test_a_change_that_is_completed_later_signs_every_other_browser_out_as_well(
    reader: Browser, website: Website, monkeypatch: pytest.MonkeyPatch, settled_by: str
) -> None:
    other = await second_browser(website, reader)
    with monkeypatch.context() as patch:
        patch.setattr(users, "settle", dies)
        assert (await reader.change(FIRST, SECOND)).status_code == 500
    website.restart()
    assert passwords(website, reader) == 2
    if settled_by == "sign_in":
        await reader.sign_in(SECOND)
    elif settled_by == "unlock":
        await reader.submit("/unlock", {"password": SECOND})
    else:
        page = await reader.submit("/account/recovery-code", {"password": SECOND}, at="/account")
        assert "Your recovery code" in page.text
    assert passwords(website, reader) == 1
    assert (await reader.get("/account")).status_code == 200, "this browser has just shown the password"
    assert (await other.get("/account")).status_code == 303, "somebody else's may be why it was changed"


async def test_a_change_that_did_not_happen_signs_nobody_out(
    reader: Browser, website: Website, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = await second_browser(website, reader)
    with monkeypatch.context() as patch:
        patch.setattr(website.site.host, "change_password", dies)
        await reader.change(FIRST, SECOND)
    assert (await reader.submit("/unlock", {"password": FIRST})).status_code == 303
    assert (await other.get("/account")).status_code == 200


async def test_a_second_tab_with_a_form_of_before_the_sign_in_is_told_to_load_it_again(
    browser: Browser, website: Website
) -> None:
    stale = (await browser.get("/sign-in")).text.partition('name="form_token" value="')[2].partition('"')[0]
    await browser.sign_up()
    answer = await browser.post("/sign-in", {"form_token": stale, "email": browser.email, "password": FIRST})
    assert answer.status_code == 403
    assert "reload the page" in answer.text
    assert (await browser.get("/desk")).status_code == 200


async def test_the_page_with_the_code_after_the_sign_up_is_one_of_somebody_who_is_signed_in(browser: Browser) -> None:
    page = await browser.sign_up(recovery="yes")
    assert "Sign out" in page.text
    token = page.text.partition('name="form_token" value="')[2].partition('"')[0]
    assert (await browser.post("/sign-out", {"form_token": token})).status_code == 303, "its form is good"


async def test_a_code_that_could_not_be_made_at_the_sign_up_is_not_passed_over(
    browser: Browser, website: Website
) -> None:
    website.wire.down = True
    page = await browser.sign_up(recovery="yes")
    assert page.status_code == 200
    assert "no recovery code" in page.text
    assert (await browser.get("/account")).status_code == 200, "and signed in"


@pytest.mark.parametrize(
    "path",
    ["/desk/%0d%0aSet-Cookie:%20a=b", "/desk/%E2%82%AC", "/desk/%26next=//evil.example", "/desk/%2e%2e//evil.example"],
)
async def test_the_way_back_never_leaves_the_website_and_never_breaks_a_header(
    reader: Browser, website: Website, path: str
) -> None:
    website.lock(reader.email)
    website.site.host.forget(website.user(reader.email).uuid)
    for answer in (await reader.get(path), await website.browser().get(path)):
        assert answer.status_code == 303
        location = answer.headers["location"]
        assert "set-cookie" not in location.lower()
        assert re.fullmatch(r"/(unlock|sign-in)\?next=[A-Za-z0-9/%._~-]+", location), location
        back = (await reader.get(location)).text if location.startswith("/unlock") else ""
        assert "evil.example" not in re.sub(r'value="/desk[^"]*"', "", back)


async def test_a_way_back_to_a_page_of_the_app_survives_the_password(reader: Browser, website: Website) -> None:
    website.lock(reader.email)
    website.site.host.forget(website.user(reader.email).uuid)
    locked = await reader.get("/desk/runs/1?tab=log")
    assert httpx.URL(locked.headers["location"]).params["next"] == "/desk/runs/1?tab=log"
    back = await reader.submit("/unlock", {"password": FIRST}, at=locked.headers["location"])
    assert back.status_code == 303


async def test_nobody_orders_for_another_one_by_a_number_that_is_taken(reader: Browser, website: Website) -> None:
    fields = {"credits": str(PACKS[0]), "order": "a-number-that-is-taken-0123"}
    assert (await reader.submit("/account/credits", fields, at="/account")).status_code == 303
    other = website.browser()
    await other.sign_up()
    assert (await other.submit("/account/credits", fields, at="/account")).status_code == 400


@pytest.mark.parametrize("order", ["", "x", "ü" * 30, "a" * 300])
async def test_an_order_s_number_is_one_of_ours(reader: Browser, order: str) -> None:
    fields = {"credits": str(PACKS[0]), "order": order}
    assert (await reader.submit("/account/credits", fields, at="/account")).status_code == 400


@pytest.mark.parametrize("path", ["/static/site.css", "/sign-in", "/nothing-here", "/desk"])
async def test_every_answer_says_that_it_is_what_it_says(website: Website, path: str) -> None:
    headers = (await website.browser().get(path)).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
