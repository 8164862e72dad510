"""Two tabs, two browsers, one user: whatever meets, one password opens the workspace and nothing counts twice."""

import asyncio
from typing import Any

import httpx
import pytest

from carrel_website import pages
from tests.carrel_website.test_change_password import opens, passwords
from tests.carrel_website.website import FIRST, SECOND, THIRD, Browser, Website


@pytest.fixture
async def tabs(browser: Browser, website: Website) -> tuple[Browser, Browser]:
    """Two browsers of one user, both signed in."""
    await browser.sign_up()
    other = website.browser()
    other.email = browser.email
    await other.sign_in()
    return browser, other


async def which_open(website: Website, reader: Browser) -> list[str]:
    return [password for password in (FIRST, SECOND, THIRD) if await opens(website, reader, password)]


async def test_two_changes_at_once_leave_the_password_of_one(tabs: tuple[Browser, Browser], website: Website) -> None:
    one, other = tabs
    answers = await asyncio.gather(one.change(FIRST, SECOND), other.change(FIRST, THIRD))
    assert sorted(answer.status_code for answer in answers) == [303, 403]
    won = SECOND if answers[0].status_code == 303 else THIRD
    assert passwords(website, one) == 1
    assert await which_open(website, one) == [won]


async def test_a_sign_in_that_a_change_overtakes_leaves_nobody_signed_in(
    tabs: tuple[Browser, Browser], website: Website, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = tabs
    loop, begin = asyncio.get_running_loop(), pages.begin_visit

    def overtaken(*args: Any) -> str:
        # The password was looked at and was right: by now it is not any more.
        monkeypatch.setattr(pages, "begin_visit", begin)
        changed = asyncio.run_coroutine_threadsafe(one.change(FIRST, SECOND), loop).result(20)
        assert changed.status_code == 303
        return begin(*args)

    monkeypatch.setattr(pages, "begin_visit", overtaken)
    late = await other.sign_in(FIRST)
    assert (late.status_code, "changed" in late.text) == (409, True)
    assert (await other.get("/account")).status_code == 303
    assert (await one.get("/account")).status_code == 200


async def test_a_sign_in_that_a_deletion_overtakes_is_refused(
    tabs: tuple[Browser, Browser], website: Website, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = tabs
    loop, begin = asyncio.get_running_loop(), pages.begin_visit

    def overtaken(*args: Any) -> str:
        monkeypatch.setattr(pages, "begin_visit", begin)
        deletion = one.submit("/account/delete", {"password": FIRST})
        assert asyncio.run_coroutine_threadsafe(deletion, loop).result(20).status_code == 200
        return begin(*args)

    monkeypatch.setattr(pages, "begin_visit", overtaken)
    assert (await other.sign_in(FIRST)).status_code == 409
    assert (await other.get("/account")).status_code == 303


async def test_a_change_and_a_deletion_at_once_leave_both_or_neither(
    tabs: tuple[Browser, Browser], website: Website
) -> None:
    one, other = tabs
    uuid = await one.uuid()
    changed, deleted = await asyncio.gather(
        one.change(FIRST, SECOND), other.submit("/account/delete", {"password": FIRST})
    )
    if deleted.status_code == 200:
        assert changed.status_code in {303, 410, 403}
        assert website.site.host.delete(uuid) is False
        assert (await website.browser().submit("/sign-in", {"email": one.email, "password": FIRST})).status_code == 403
    else:
        assert (deleted.status_code, changed.status_code) == (403, 303)
        assert await which_open(website, one) == [SECOND]


async def test_a_reset_and_a_sign_in_at_once_leave_one_password(
    tabs: tuple[Browser, Browser], website: Website
) -> None:
    one, other = tabs
    link = await one.forgotten()
    reset, _ = await asyncio.gather(
        one.submit(link, {"password": SECOND, "repeated": SECOND}), other.submit("/unlock", {"password": FIRST})
    )
    # Whoever signs in knows the password: that ends the link.
    assert reset.status_code in {303, 404}
    assert await which_open(website, one) == [SECOND if reset.status_code == 303 else FIRST]


async def test_one_link_resets_once_however_many_tabs_send_it(tabs: tuple[Browser, Browser], website: Website) -> None:
    one, other = tabs
    link = await one.forgotten()
    answers = await asyncio.gather(
        one.submit(link, {"password": SECOND, "repeated": SECOND}),
        other.submit(link, {"password": THIRD, "repeated": THIRD}),
    )
    assert [answer.status_code for answer in answers].count(303) == 1
    assert passwords(website, one) == 1
    assert len(await which_open(website, one)) == 1


async def test_an_order_pressed_in_many_tabs_counts_once(tabs: tuple[Browser, Browser]) -> None:
    one, other = tabs
    fields = {"credits": "5", "order": "pressed-in-many-tabs-0123"}
    answers = await asyncio.gather(*(tab.submit("/account/credits", fields, at="/account") for tab in (one, other) * 3))
    assert 303 in {answer.status_code for answer in answers}
    async with httpx.AsyncClient(verify=False, base_url=one.service_url, timeout=60) as service:
        me = await service.get("/api/users/me", headers={"X-SVC-Session-Token": await one.token()})
    assert float(me.json()["credits"]) == 5
