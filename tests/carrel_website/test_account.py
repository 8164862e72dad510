"""Plan, credits, terminal, deletion."""

import re
from typing import Any

import httpx
import pytest
from litestar.testing import AsyncTestClient

from carrel_website import orders
from tests.carrel_website.test_change_password import dies
from tests.carrel_website.website import FIRST, SECOND, Browser, Website

_ORDER = re.compile(r'name="order" value="([\w-]+)"')


@pytest.fixture
async def reader(browser: Browser) -> Browser:
    await browser.sign_up()
    return browser


async def me(reader: Browser) -> Any:
    async with httpx.AsyncClient(verify=False, base_url=reader.service_url, timeout=60) as service:
        return (await service.get("/api/users/me", headers={"X-SVC-Session-Token": await reader.token()})).json()


async def buy(reader: Browser, pack: str, order: str) -> httpx.Response:
    return await reader.submit("/account/credits", {"credits": pack, "order": order}, at="/account")


async def test_a_downgrade_and_an_upgrade_reach_the_service(reader: Browser) -> None:
    for plan in ("free", "paid"):
        assert (await reader.submit("/account/plan", {"plan": plan}, at="/account")).status_code == 303
        assert (await me(reader))["membership"] == plan
        assert ("Reading." if plan == "free" else "Full plan.") in (await reader.get("/account")).text


async def test_a_plan_does_not_change_while_the_service_is_away(reader: Browser, website: Website) -> None:
    website.wire.down = True
    assert (await reader.submit("/account/plan", {"plan": "free"}, at="/account")).status_code == 503
    website.wire.down = False
    assert website.user(reader.email).plan == (await me(reader))["membership"] == "paid"


async def test_credits_are_added_once_however_often_the_button_is_pressed(reader: Browser) -> None:
    (order,) = set(_ORDER.findall((await reader.get("/account")).text))
    for _ in range(2):
        assert (await buy(reader, "20", order)).status_code == 303
    assert float((await me(reader))["credits"]) == 20
    assert (await buy(reader, "1000000", "another")).status_code == 400
    assert (await buy(reader, "", "no such order")).status_code == 400


@pytest.mark.parametrize("fault", ["refuse", "lose", "dies"])
async def test_an_order_that_was_not_confirmed_is_kept_and_counts_once(
    reader: Browser, website: Website, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    with monkeypatch.context() as patch:
        if fault == "dies":
            patch.setattr(website.site.host, "add_credits", dies)
        for _ in range(2):
            website.wire.plan(fault, "/credits/add")
        assert (await buy(reader, "5", "order-of-this-test-0123456789")).status_code in {500, 503}
    website.wire.forget_plans()
    website.restart()
    page = (await reader.get("/account")).text
    assert "An order of 5 credits was not confirmed" in page
    assert (await buy(reader, "", "order-of-this-test-0123456789")).status_code == 303
    assert float((await me(reader))["credits"]) == 5
    assert "not confirmed" not in (await reader.get("/account")).text


async def test_an_order_of_yesterday_is_left_to_people(reader: Browser, website: Website) -> None:
    uuid = website.user(reader.email).uuid
    orders.place(website.site.database, "of-yesterday", uuid, "5", int(website.clock.now) - 24 * 3600)
    assert "Please tell us" in (await reader.get("/account")).text
    assert (await buy(reader, "", "of-yesterday")).status_code == 400
    assert float((await me(reader))["credits"]) == 0


async def test_nobody_delivers_another_one_s_order(reader: Browser, website: Website) -> None:
    orders.place(
        website.site.database, "number-not-yours", website.user(reader.email).uuid, "5", int(website.clock.now)
    )
    other = website.browser()
    await other.sign_up()
    assert (await buy(other, "", "number-not-yours")).status_code == 400


async def test_a_terminal_gets_a_token_that_works_and_only_when_asked(reader: Browser) -> None:
    assert await reader.token() not in (await reader.get("/terminal")).text
    page = await reader.submit("/terminal", {})
    assert page.headers["cache-control"] == "no-store"
    (shown,) = re.findall(r">([\w-]+\.[\w-]+)</textarea>", page.text)
    assert shown == await reader.token()
    assert f"carrel login --token-stdin --url {reader.service_url}" in page.text


async def test_a_terminal_of_a_locked_workspace_leads_to_the_password(reader: Browser, website: Website) -> None:
    website.lock(reader.email)
    website.site.host.forget(website.user(reader.email).uuid)
    assert (await reader.submit("/terminal", {})).headers["location"] == "/unlock?next=/terminal"


async def test_deleting_asks_for_the_password_and_removes_both_sides(reader: Browser, website: Website) -> None:
    uuid = await reader.uuid()
    assert (await reader.submit("/account/delete", {"password": SECOND})).status_code == 403
    assert (await reader.get("/desk")).status_code == 200
    assert (await reader.submit("/account/delete", {"password": FIRST})).status_code == 200
    assert website.site.host.delete(uuid) is False, "the service knows nothing of the user"
    assert (await reader.sign_in()).status_code == 403
    assert (await reader.sign_up()).status_code == 303, "the address is free again"
    assert await reader.uuid() != uuid


async def test_a_deletion_that_breaks_off_is_finished_by_the_next_sign_in_and_makes_no_new_workspace(
    reader: Browser, website: Website
) -> None:
    uuid = await reader.uuid()
    other = website.browser()
    other.email = reader.email
    await other.sign_in()
    website.wire.down = True
    answer = await reader.submit("/account/delete", {"password": FIRST})
    assert answer.status_code == 503
    assert "marked for deletion" in answer.text
    for browser in (reader, other):
        assert (await browser.get("/account")).status_code == 303, "signed out"
    assert (await reader.sign_in()).status_code == 503
    website.wire.down = False
    website.restart()
    assert (await reader.sign_in()).status_code == 410
    assert website.site.host.delete(uuid) is False
    assert (await reader.sign_in()).status_code == 403


async def test_a_deletion_that_broke_off_is_finished_when_the_website_starts(reader: Browser, website: Website) -> None:
    uuid = await reader.uuid()
    website.wire.down = True
    await reader.submit("/account/delete", {"password": FIRST})
    website.site.workspaces.finish_deletions()
    assert website.user(reader.email).state == "deleting", "the service is still away"
    website.wire.down = False
    website.restart()
    async with AsyncTestClient(website.app):
        # What it began at its start is finished when it stops.
        pass
    website.restart()
    assert website.site.host.delete(uuid) is False
    assert (await reader.sign_in()).status_code == 403
