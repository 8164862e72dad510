"""Changing the password: two systems have to agree, and every place where one of them may fail."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from carrel_website import users
from tests.carrel_website.website import FIRST, SECOND, THIRD, Browser, Website


class Died(Exception):
    """The website's process, at this line."""


@pytest.fixture
async def reader(browser: Browser) -> Browser:
    await browser.sign_up()
    return browser


def dies(*arguments: Any, **named: Any) -> None:
    raise Died


def passwords(website: Website, reader: Browser) -> int:
    """How many passwords the website holds possible."""
    return len(website.user(reader.email).passwords)


async def opens(website: Website, reader: Browser, password: str) -> bool:
    """Whether a sign-in with this password ends at an open workspace; from a new browser."""
    other = website.browser()
    other.email = reader.email
    answer = await other.sign_in(password)
    return answer.status_code == 303 and (await other.get("/desk")).status_code == 200


async def test_the_new_password_counts_and_the_old_one_does_not(reader: Browser, website: Website) -> None:
    answer = await reader.change(FIRST, SECOND)
    assert (answer.status_code, answer.headers["location"]) == (303, "/desk")
    assert not await opens(website, reader, FIRST)
    assert await opens(website, reader, SECOND)
    assert passwords(website, reader) == 1


async def test_this_browser_stays_signed_in_and_every_other_one_does_not(reader: Browser, website: Website) -> None:
    other = website.browser()
    other.email = reader.email
    await other.sign_in()
    before = await other.token()
    await reader.change(FIRST, SECOND)
    assert (await reader.get("/desk")).status_code == 200
    assert (await other.get("/desk")).status_code == 303
    async with httpx.AsyncClient(verify=False, base_url=website.service.url, timeout=60) as service:
        refused = await service.get("/api/users/me", headers={"X-SVC-Session-Token": before})
    assert refused.json()["code"] == "session-token-revoked"


async def test_a_wrong_old_password_changes_nothing_and_locks_nothing(reader: Browser, website: Website) -> None:
    assert (await reader.change(THIRD, SECOND)).status_code == 403
    assert (await reader.get("/desk")).status_code == 200
    assert await opens(website, reader, FIRST)


async def test_the_same_password_and_a_short_one_are_refused(reader: Browser) -> None:
    assert (await reader.change(FIRST, FIRST)).status_code == 400
    assert (await reader.change(FIRST, "short")).status_code == 400


async def test_the_website_dies_before_the_service_hears_of_it(
    reader: Browser, website: Website, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(website.site.host, "change_password", dies)
        assert (await reader.change(FIRST, SECOND)).status_code == 500
    website.restart()
    assert passwords(website, reader) == 2
    # Either is let in; the workspace says which one counts.
    other = website.browser()
    other.email = reader.email
    refused = await other.sign_in(SECOND)
    assert refused.status_code == 409
    assert "the other one" in refused.text
    assert await opens(website, reader, FIRST)
    assert passwords(website, reader) == 1
    assert not await opens(website, reader, SECOND)


async def test_the_website_dies_after_the_rekey_and_before_its_own_commit(
    reader: Browser, website: Website, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(users, "settle", dies)
        assert (await reader.change(FIRST, SECOND)).status_code == 500
    website.restart()
    assert passwords(website, reader) == 2
    assert (await reader.get("/token")).status_code == 401, "nobody gets a token before it is known which counts"
    other = website.browser()
    other.email = reader.email
    website.wire.down = True
    assert [(await other.sign_in(either)).status_code for either in (FIRST, SECOND)] == [503, 503]
    website.wire.down = False
    assert (await other.sign_in(FIRST)).status_code == 409
    assert await opens(website, reader, SECOND)
    assert passwords(website, reader) == 1
    assert not await opens(website, reader, FIRST)


async def test_a_pending_change_is_settled_by_unlocking_too(
    reader: Browser, website: Website, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(users, "settle", dies)
        await reader.change(FIRST, SECOND)
    website.restart()
    website.lock(reader.email)
    assert (await reader.get("/desk")).headers["location"] == "/unlock?next=/desk"
    assert (await reader.submit("/unlock", {"password": FIRST})).status_code == 409
    assert (await reader.submit("/unlock", {"password": SECOND})).status_code == 303
    assert passwords(website, reader) == 1


async def test_the_service_is_away(reader: Browser, website: Website) -> None:
    website.wire.down = True
    answer = await reader.change(FIRST, SECOND)
    assert answer.status_code == 503
    assert "Nothing was changed" in answer.text
    assert passwords(website, reader) == 1
    website.wire.down = False
    assert await opens(website, reader, FIRST)


async def test_an_answer_that_is_lost_is_found_out_at_once(reader: Browser, website: Website) -> None:
    website.wire.plan("lose", "/auth/rekey")
    assert (await reader.change(FIRST, SECOND)).status_code == 303
    assert passwords(website, reader) == 1
    assert await opens(website, reader, SECOND)


@pytest.mark.parametrize(("fault", "counts"), [("lose", SECOND), ("garble", FIRST)])
async def test_when_it_cannot_be_found_out_both_are_kept_and_the_next_sign_in_decides(
    reader: Browser, website: Website, fault: str, counts: str
) -> None:
    website.wire.plan(fault, "/auth/rekey")
    website.wire.plan("refuse", "/auth/login")
    answer = await reader.change(FIRST, SECOND)
    assert answer.status_code == 503
    assert "the one that works is the one that counts" in answer.text
    website.restart()
    assert passwords(website, reader) == 2
    assert not await opens(website, reader, SECOND if counts == FIRST else FIRST)
    assert await opens(website, reader, counts)
    assert passwords(website, reader) == 1


@pytest.mark.parametrize("died_at", ["change_password", "settle"])
async def test_changing_again_while_a_change_is_pending_settles_the_first_one(
    reader: Browser, website: Website, monkeypatch: pytest.MonkeyPatch, died_at: str
) -> None:
    with monkeypatch.context() as patch:
        target: tuple[object, Callable[..., None]] = (
            (website.site.host, dies) if died_at == "change_password" else (users, dies)
        )
        patch.setattr(target[0], died_at, target[1])
        await reader.change(FIRST, SECOND)
    website.restart()
    counts, other = (FIRST, SECOND) if died_at == "change_password" else (SECOND, FIRST)
    assert (await reader.change(other, THIRD)).status_code == 409
    assert (await reader.change(counts, THIRD)).status_code == 303
    assert passwords(website, reader) == 1
    assert await opens(website, reader, THIRD)


async def test_a_change_right_after_a_sign_up_that_the_service_missed_makes_the_workspace_first(
    browser: Browser, website: Website
) -> None:
    website.wire.down = True
    await browser.sign_up()
    website.wire.down = False
    assert (await browser.change(FIRST, SECOND)).status_code == 303
    assert await opens(website, browser, SECOND)


async def test_a_workspace_that_is_lost_or_locked_with_an_older_password_is_said_to_be_so(
    reader: Browser, website: Website
) -> None:
    host, uuid = website.site.host, await reader.uuid()
    # As after the restoring of an older backup.
    host.change_password(uuid, FIRST, THIRD)
    elsewhere = await reader.change(FIRST, SECOND)
    assert elsewhere.status_code == 409
    assert "locked with an earlier one" in elsewhere.text
    assert (await reader.sign_in(FIRST)).status_code == 409
    host.delete(uuid)
    assert (await reader.change(FIRST, SECOND)).status_code == 503
    assert passwords(website, reader) == 1
    # The way out that the page names: the earlier password, in a reset.
    host.sign_up(uuid, password=THIRD)
    website.lock(reader.email)
    link = await reader.forgotten()
    fields = {"password": SECOND, "repeated": SECOND, "way": "password", "old": THIRD}
    assert (await reader.submit(link, fields)).status_code == 303
    assert await opens(website, reader, SECOND)
