"""A forgotten password: the workspace comes along while there is any way, and is never given up by itself."""

import re

import httpx
import pytest

from carrel_website import users
from carrel_website.links import GOOD_FOR_SECONDS
from carrel_website.resetting import PHRASE
from tests.carrel_website.test_change_password import dies, opens, passwords
from tests.carrel_website.website import FIRST, SECOND, THIRD, Browser, Website


@pytest.fixture
async def reader(browser: Browser) -> Browser:
    """Somebody with something in the workspace."""
    await browser.sign_up()
    await browser.write_note()
    return browser


async def contents(reader: Browser) -> int:
    page = await reader.get("/desk")
    assert page.status_code == 200, page.headers.get("location")
    (count,) = re.findall(r"(\d+) contents", page.text)
    return int(count)


async def send(reader: Browser, link: str, new: str, **fields: str) -> httpx.Response:
    return await reader.submit(link, {"password": new, "repeated": new} | fields)


async def code_of(reader: Browser, password: str = FIRST) -> str:
    page = await reader.submit("/account/recovery-code", {"password": password}, at="/account")
    (code,) = re.findall(r"<code>([0-9A-Z-]{39})</code>", page.text)
    return str(code)


def forgetful(website: Website, reader: Browser) -> Browser:
    """The same person at another machine, signed in nowhere."""
    other = website.browser()
    other.email = reader.email
    return other


async def test_while_the_key_is_in_memory_a_new_password_is_all_that_is_asked(
    reader: Browser, website: Website
) -> None:
    person = forgetful(website, reader)
    link = await person.forgotten()
    assert (await send(person, link, SECOND)).status_code == 303
    assert await contents(person) == 1
    assert (await reader.get("/desk")).status_code == 303, "every other browser is signed out"
    assert not await opens(website, reader, FIRST)
    assert (await person.get(link)).status_code == 404, "a link is good for one reset"


async def test_with_the_key_gone_the_ways_are_shown_and_nothing_has_changed(reader: Browser, website: Website) -> None:
    website.lock(reader.email)
    person = forgetful(website, reader)
    link = await person.forgotten()
    answer = await send(person, link, SECOND)
    assert answer.status_code == 409
    assert "With your old password" in answer.text
    assert "With your recovery code" in answer.text
    assert PHRASE in answer.text
    assert passwords(website, reader) == 1
    assert await opens(website, reader, FIRST)


async def test_the_old_password_brings_the_workspace_along(reader: Browser, website: Website) -> None:
    website.lock(reader.email)
    person = forgetful(website, reader)
    link = await person.forgotten()
    wrong = await send(person, link, SECOND, way="password", old=THIRD)
    assert wrong.status_code == 403
    assert passwords(website, reader) == 1
    assert (await send(person, link, SECOND, way="password", old=FIRST)).status_code == 303
    assert await contents(person) == 1


async def test_the_recovery_code_brings_the_workspace_along_also_after_the_password_changed(
    reader: Browser, website: Website
) -> None:
    code = await code_of(reader)
    await reader.change(FIRST, SECOND)
    website.lock(reader.email)
    person = forgetful(website, reader)
    link = await person.forgotten()
    wrong = await send(person, link, THIRD, way="code", code="0000-" + code[5:])
    assert wrong.status_code == 403
    typed = code.lower().replace("-", " ").replace("0", "o").replace("1", "l")
    assert (await send(person, link, THIRD, way="code", code=typed)).status_code == 303
    assert await contents(person) == 1
    # The key of the new password is sealed to the same code again.
    website.lock(reader.email)
    link = await person.forgotten()
    assert (await send(person, link, FIRST, way="code", code=code)).status_code == 303
    assert await contents(person) == 1


async def test_a_new_code_replaces_the_old_one(reader: Browser, website: Website) -> None:
    first, second = await code_of(reader), await code_of(reader)
    website.lock(reader.email)
    person = forgetful(website, reader)
    link = await person.forgotten()
    assert (await send(person, link, SECOND, way="code", code=first)).status_code == 403
    assert (await send(person, link, SECOND, way="code", code=second)).status_code == 303


async def test_a_code_is_shown_once_and_kept_nowhere(reader: Browser, website: Website) -> None:
    code = await code_of(reader)
    assert code not in (await reader.get("/account")).text
    stored = b"".join(path.read_bytes() for path in website.folder.rglob("*") if path.is_file())
    assert code.encode() not in stored
    assert code.replace("-", "").encode() not in stored


async def test_a_code_can_be_had_with_the_sign_up(browser: Browser, website: Website) -> None:
    page = await browser.sign_up(recovery="yes")
    assert page.status_code == 200
    (code,) = re.findall(r"<code>([0-9A-Z-]{39})</code>", page.text)
    website.lock(browser.email)
    link = await browser.forgotten()
    assert (await send(browser, link, SECOND, way="code", code=code)).status_code == 303


async def test_a_code_works_while_a_change_is_pending_whichever_password_the_workspace_has(
    reader: Browser, website: Website, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = await code_of(reader)
    for died_at, old, new in (("change_password", FIRST, SECOND), ("settle", THIRD, FIRST)):
        with monkeypatch.context() as patch:
            patch.setattr(website.site.host if died_at == "change_password" else users, died_at, dies)
            assert (await reader.change(old, new)).status_code == 500
        website.restart()
        website.lock(reader.email)
        link = await reader.forgotten()
        assert (await send(reader, link, THIRD, way="code", code=code)).status_code == 303
        assert await contents(reader) == 1


async def test_a_fresh_start_needs_the_words_and_the_tick(reader: Browser, website: Website) -> None:
    website.lock(reader.email)
    person = forgetful(website, reader)
    link = await person.forgotten()
    for fields in ({}, {"phrase": PHRASE}, {"understood": "yes"}, {"phrase": "give up", "understood": "yes"}):
        assert (await send(person, link, SECOND, way="anew", **fields)).status_code == 400
    assert await opens(website, reader, FIRST)
    assert await contents(reader) == 1


async def test_a_confirmed_fresh_start_makes_an_empty_workspace(reader: Browser, website: Website) -> None:
    website.lock(reader.email)
    person = forgetful(website, reader)
    link = await person.forgotten()
    answer = await send(person, link, SECOND, way="anew", phrase=PHRASE, understood="yes")
    assert answer.status_code == 303
    assert await contents(person) == 0
    assert not await opens(website, reader, FIRST)


@pytest.mark.parametrize("path", ["delete", "/users", "/auth/login"])
async def test_a_fresh_start_that_breaks_off_is_finished_by_the_next_sign_in(
    reader: Browser, website: Website, path: str
) -> None:
    uuid = await reader.uuid()
    person = forgetful(website, reader)
    link = await person.forgotten()
    for _ in range(2):
        # The SDK asks a second time where that is safe.
        website.wire.plan("refuse", f"/users/{uuid}" if path == "delete" else path)
    broken = await send(person, link, SECOND, way="anew", phrase=PHRASE, understood="yes")
    assert broken.status_code == 503
    website.wire.forget_plans()
    website.restart()
    assert (await person.sign_in(FIRST)).status_code == 403
    assert (await person.sign_in(SECOND)).status_code == 303
    assert await contents(person) == 0


async def test_nothing_is_done_while_the_service_is_away(reader: Browser, website: Website) -> None:
    link = await reader.forgotten()
    website.wire.down = True
    for fields in ({}, {"way": "password", "old": FIRST}):
        answer = await send(reader, link, SECOND, **fields)
        assert answer.status_code == 503
        assert "Nothing was changed" in answer.text
    website.wire.down = False
    assert passwords(website, reader) == 1
    assert await contents(reader) == 1


async def test_an_answer_that_is_lost_is_asked_for_again(reader: Browser, website: Website) -> None:
    link = await reader.forgotten()
    website.wire.plan("lose", "/auth/rekey")
    assert (await send(reader, link, SECOND)).status_code == 303
    assert await contents(reader) == 1


@pytest.mark.parametrize("fault", ["lose", "garble"])
async def test_a_reset_in_doubt_is_settled_by_the_next_sign_in_even_if_it_never_happened(
    reader: Browser, website: Website, fault: str
) -> None:
    link = await reader.forgotten()
    website.wire.plan(fault, "/auth/rekey")
    website.wire.plan("garble", "/auth/rekey")
    assert (await send(reader, link, SECOND)).status_code == 503
    website.restart()
    assert passwords(website, reader) == 2
    # The old password is forgotten; the key in memory still carries the reset out.
    person = forgetful(website, reader)
    assert (await person.sign_in(SECOND)).status_code == 303
    assert await contents(person) == 1
    assert passwords(website, reader) == 1


async def test_the_website_dies_after_the_rekey_of_a_reset(
    reader: Browser, website: Website, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = await reader.forgotten()
    with monkeypatch.context() as patch:
        patch.setattr(users, "settle", dies)
        assert (await send(reader, link, SECOND)).status_code == 500
    website.restart()
    website.lock(reader.email)
    person = forgetful(website, reader)
    assert (await person.sign_in(FIRST)).status_code == 409
    assert (await person.sign_in(SECOND)).status_code == 303
    assert await contents(person) == 1


async def test_a_link_ends_and_an_unknown_address_gets_none(browser: Browser, website: Website) -> None:
    await browser.sign_up()
    outsider = website.browser()
    answer = await outsider.submit("/forgotten", {"email": "nobody@example.org"})
    assert "If there is an account" in answer.text
    assert list(website.site.outbox.folder.iterdir()) == []
    link = await browser.forgotten()
    website.clock.now += GOOD_FOR_SECONDS
    assert (await browser.get(link)).status_code == 404
    assert (await browser.get("/reset/nonsense")).status_code == 404


async def test_a_reset_before_there_is_a_workspace_makes_it_with_the_new_password(
    browser: Browser, website: Website
) -> None:
    website.wire.down = True
    await browser.sign_up()
    website.wire.down = False
    link = await browser.forgotten()
    assert (await send(browser, link, SECOND)).status_code == 303
    assert await contents(browser) == 0
