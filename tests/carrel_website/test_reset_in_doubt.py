"""A reset whose end the website does not hear: the new password stays possible until the workspace has spoken."""

import pytest

from carrel_website.resetting import PHRASE
from tests.carrel_website.test_change_password import opens, passwords
from tests.carrel_website.test_reset import code_of, contents, forgetful, send
from tests.carrel_website.website import FIRST, SECOND, THIRD, Browser, Website


@pytest.fixture
async def reader(browser: Browser) -> Browser:
    """Somebody with something in the workspace."""
    await browser.sign_up()
    await browser.write_note()
    return browser


@pytest.mark.parametrize("then", ["refuse", "garble", "lose"])
async def test_a_service_that_goes_away_after_the_rekey_does_not_cost_the_new_password(
    reader: Browser, website: Website, then: str
) -> None:
    link = await reader.forgotten()
    for fault in ("lose", then):
        website.wire.plan(fault, "/auth/rekey")
    answer = await send(reader, link, SECOND)
    assert answer.status_code == 503
    assert passwords(website, reader) == 2, "the workspace has the new one, so nobody may forget it"
    website.lock(reader.email)
    website.restart()
    person = forgetful(website, reader)
    assert (await person.sign_in(SECOND)).status_code == 303
    assert await contents(person) == 1
    assert passwords(website, reader) == 1


async def test_nobody_comes_in_with_a_password_that_the_workspace_may_not_have(
    reader: Browser, website: Website
) -> None:
    # Somebody reads the owner's mail, and the service is away until the owner comes.
    link = await reader.forgotten()
    for _ in range(2):
        website.wire.plan("garble", "/auth/rekey")
    outsider = forgetful(website, reader)
    assert (await send(outsider, link, SECOND)).status_code == 503
    website.wire.down = True
    assert (await outsider.sign_in(SECOND)).status_code == 503
    website.wire.down = False
    owner = forgetful(website, reader)
    assert (await owner.sign_in(FIRST)).status_code == 303
    assert await contents(owner) == 1
    assert (await outsider.get("/token")).status_code == 401


async def test_a_service_that_restarts_after_the_rekey_does_not_cost_it_either(
    reader: Browser, website: Website
) -> None:
    link = await reader.forgotten()
    website.wire.plan("lose", "/auth/rekey")
    website.wire.at_loss = lambda: website.lock(reader.email)
    assert (await send(reader, link, SECOND)).status_code == 303
    assert await contents(reader) == 1
    assert await opens(website, reader, SECOND)


async def test_a_reset_by_code_whose_answer_is_lost_keeps_the_new_password(reader: Browser, website: Website) -> None:
    code = await code_of(reader)
    website.lock(reader.email)
    person = forgetful(website, reader)
    link = await person.forgotten()
    # The first call asks for the key in memory, and is answered.
    website.wire.plan("pass", "/auth/rekey")
    website.wire.plan("lose", "/auth/rekey")
    website.wire.plan("refuse", "/auth/login")
    assert (await send(person, link, SECOND, way="code", code=code)).status_code == 503
    assert passwords(website, reader) == 2
    # The link is good until it has done its work, and the code opens the key of the pending password, too.
    website.lock(reader.email)
    assert (await send(person, link, THIRD, way="code", code=code)).status_code == 303
    assert await contents(person) == 1
    assert await opens(website, reader, THIRD)


async def test_a_wrong_proof_does_not_drop_a_key_that_is_in_memory(reader: Browser, website: Website) -> None:
    link = await reader.forgotten()
    sent = len(website.wire.paths)
    # The page asks for a proof only when there is no key; somebody else's page may be older than the last sign-in.
    assert (await send(reader, link, SECOND, way="password", old=THIRD)).status_code == 303
    assert website.wire.paths[sent:].count("/auth/login") == 0
    assert await contents(reader) == 1


async def test_a_fresh_start_after_a_deletion_was_confirmed_makes_nothing(reader: Browser, website: Website) -> None:
    link = await reader.forgotten()
    link_of_another_tab = link
    website.wire.down = True
    assert (await reader.submit("/account/delete", {"password": FIRST})).status_code == 503
    website.wire.down = False
    fields = {"way": "anew", "phrase": PHRASE, "understood": "yes"}
    assert (await reader.get(link_of_another_tab)).status_code == 404
    page = await reader.get("/sign-in")
    token = page.text.partition('name="form_token" value="')[2].partition('"')[0]
    sent = {"password": SECOND, "repeated": SECOND, "form_token": token}
    assert (await reader.post(link, sent | fields)).status_code == 404
