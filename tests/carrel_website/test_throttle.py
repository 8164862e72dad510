"""Guessing, signing up and letters cost time: for an account, for an address, and for both together."""

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from argon2 import PasswordHasher

from carrel_website.passwords import Passwords
from carrel_website.refusals import TooBusy, TooManyTries, WrongPassword
from carrel_website.resetting import PHRASE
from carrel_website.throttle import Allowance, Throttle, network_of
from tests.carrel_website.test_reset import send
from tests.carrel_website.website import FIRST, SECOND, Browser, HostClock, Website

WRONG = "a wrong pass word"


def is_kind(answer: httpx.Response) -> bool:
    """Whether the page says, to people and to programs, how long to wait."""
    assert answer.status_code == 429, answer.status_code
    assert 'role="alert"' in answer.text
    assert re.search(r"Please wait (a second|\d+ (seconds|minutes))", answer.text)
    return int(answer.headers["retry-after"]) >= 1


@pytest.fixture
async def reader(browser: Browser) -> Browser:
    await browser.sign_up()
    return browser


def from_address(website: Website, address: str, email: str) -> Browser:
    other = website.browser()
    other.address, other.email = address, email
    return other


# Guessing ---------------------------------------------------------------------------------------------------------


async def test_one_address_cannot_try_one_password_on_every_account(website: Website) -> None:
    answers = []
    for number in range(60):
        guesser = from_address(website, "203.0.113.7", f"reader-{number}@example.org")
        answers.append((await guesser.sign_in(WRONG)).status_code)
    assert 20 <= answers.index(429) <= 40
    guesser = from_address(website, "203.0.113.7", "another@example.org")
    assert is_kind(await guesser.sign_in(WRONG))
    assert (await from_address(website, "203.0.113.8", "another@example.org").sign_in(WRONG)).status_code == 403
    website.clock.now += 60
    assert (await guesser.sign_in(WRONG)).status_code == 403


async def test_many_addresses_cannot_guess_at_one_account_without_end_nor_shut_its_owner_out(
    reader: Browser, website: Website
) -> None:
    await reader.sign_in()
    answers = []
    for number in range(60):
        guesser = from_address(website, f"203.0.113.{number}", reader.email)
        answers.append((await guesser.sign_in(WRONG)).status_code)
    assert 429 in answers
    assert (await reader.sign_in()).status_code == 303, "where the owner signed in before"
    outsider = from_address(website, "198.51.100.1", reader.email)
    assert is_kind(await outsider.sign_in())


async def test_the_addresses_of_one_network_of_ipv6_count_as_one(reader: Browser, website: Website) -> None:
    for number in range(5):
        guesser = from_address(website, f"2001:db8:1:2::{number:x}", reader.email)
        assert (await guesser.sign_in(WRONG)).status_code == 403
    assert is_kind(await from_address(website, "2001:db8:1:2:ffff::1", reader.email).sign_in(WRONG))
    assert network_of("2001:db8:1:2::1") != network_of("2001:db8:1:3::1")
    assert network_of("::ffff:203.0.113.7") == network_of("203.0.113.7")
    assert network_of("testclient") == "testclient"


@pytest.mark.parametrize(
    ("path", "at", "field"),
    [
        ("/unlock", None, "password"),
        ("/account/password", None, "old"),
        ("/account/recovery-code", "/account", "password"),
        ("/account/delete", None, "password"),
    ],
)
async def test_every_page_that_asks_for_the_password_slows_guessing_down(
    reader: Browser, path: str, at: str | None, field: str
) -> None:
    fields = {"password": SECOND, "repeated": SECOND} | {field: WRONG}
    answers = [await reader.submit(path, fields, at=at) for _ in range(6)]
    assert [answer.status_code for answer in answers[:5]] == [403] * 5
    assert is_kind(answers[5])
    assert is_kind(await reader.sign_in()), "one count for all of them"


async def test_a_request_that_shows_no_proof_does_not_wash_wrong_ones_away(reader: Browser, website: Website) -> None:
    link = await reader.forgotten()
    website.lock(reader.email)
    seen = []
    for _ in range(6):
        seen.append((await send(reader, link, SECOND, way="password", old=WRONG)).status_code)
        seen.append((await send(reader, link, SECOND)).status_code)
        seen.append((await send(reader, link, SECOND, way="anew", phrase=f"not {PHRASE}")).status_code)
        website.lock(reader.email)
    assert 429 in seen


async def test_a_service_that_is_away_does_not_count_as_a_wrong_password(reader: Browser, website: Website) -> None:
    website.wire.down = True
    for _ in range(8):
        assert (await reader.submit("/unlock", {"password": FIRST})).status_code == 503


# Signing up, letters ----------------------------------------------------------------------------------------------


async def test_an_address_signs_up_so_many_users_and_then_one_each_minute(website: Website) -> None:
    answers = []
    for _ in range(60):
        answers.append(await website.browser().sign_up("short"))
        if answers[-1].status_code == 429:
            break
    assert answers[-1].status_code == 400, "a mistyped form costs nothing"
    website.wire.down = True
    for _ in range(60):
        answers.append(await website.browser().sign_up())
        if answers[-1].status_code == 429:
            break
    assert is_kind(answers[-1])
    assert (await from_address(website, "203.0.113.9", "else@example.org").sign_up()).status_code == 303
    website.clock.now += 61
    assert (await website.browser().sign_up()).status_code == 303


async def test_an_account_gets_a_few_letters_and_nobody_learns_whether_there_is_one(
    reader: Browser, website: Website
) -> None:
    pages: dict[str, list[httpx.Response]] = {}
    for email in (reader.email, "nobody@example.org"):
        asking = from_address(website, f"203.0.113.{len(pages)}", email)
        pages[email] = [await asking.submit("/forgotten", {"email": email}) for _ in range(5)]
    shown = [[(page.status_code, page.headers.get("retry-after")) for page in each] for each in pages.values()]
    assert shown[0] == shown[1]
    assert is_kind(pages[reader.email][-1])
    assert len(list(website.site.outbox.folder.iterdir())) == 3
    website.clock.now += 1200
    assert (await reader.submit("/forgotten", {"email": reader.email.upper()})).status_code == 200


async def test_an_address_asks_for_so_many_letters(website: Website) -> None:
    asked = [
        await website.browser().submit("/forgotten", {"email": f"reader-{number}@example.org"}) for number in range(30)
    ]
    assert is_kind(asked[-1])


async def test_another_s_request_does_not_end_the_link_that_was_sent(reader: Browser, website: Website) -> None:
    link = await reader.forgotten()
    await from_address(website, "203.0.113.9", reader.email).forgotten()
    assert (await reader.get(link)).status_code == 200


async def test_pages_that_wait_for_the_service_do_not_keep_the_others_waiting(
    reader: Browser, website: Website
) -> None:
    website.site.host.forget(website.user(reader.email).uuid)
    waiting = []
    for _ in range(12):
        website.wire.plan("hold", "/auth/refresh")
        waiting.append(asyncio.create_task(reader.get("/token")))
    while website.wire.paths.count("/auth/refresh") < 12:
        await asyncio.sleep(0)
    assert (await website.browser().get("/sign-in")).status_code == 200
    assert not any(task.done() for task in waiting)
    website.wire.released.set()
    assert {(await task).status_code for task in waiting} == {200}


# What a outsider must not learn by the clock --------------------------------------------------------------------


async def test_an_unknown_address_costs_as_many_hashes_as_a_known_one(
    reader: Browser, website: Website, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []
    for email in (reader.email, "nobody@example.org"):
        checked: list[str] = []
        real = PasswordHasher.verify

        def counting(hasher: PasswordHasher, *given: str, real: Any = real, checked: list[str] = checked) -> bool:
            checked.append("once")
            answer: bool = real(hasher, *given)
            return answer

        with monkeypatch.context() as patch:
            patch.setattr(PasswordHasher, "verify", counting)
            answer = await from_address(website, "203.0.113.7", email).sign_in(WRONG)
        counts.append((answer.status_code, len(checked), answer.text.count("not the right password")))
    assert counts[0] == counts[1] == (403, 1, 1)


async def test_a_letter_is_written_after_the_answer(
    reader: Browser, website: Website, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    app, outbox = website.app, website.site.outbox
    real = outbox.send

    async def watched(scope: Any, receive: Any, send: Any) -> None:
        async def noting(message: Any) -> None:
            await send(message)
            if message["type"] == "http.response.body" and scope["method"] == "POST":
                order.append("answer")

        await app(scope, receive, noting)

    def sending(email: str, text: str) -> Path:
        order.append("letter")
        return real(email, text)

    monkeypatch.setattr(outbox, "send", sending)
    website.app = watched  # type: ignore[assignment]
    await reader.submit("/forgotten", {"email": reader.email})
    assert order[-1] == "letter"
    assert "answer" in order


# The parts --------------------------------------------------------------------------------------------------------


def test_an_allowance_is_bounded_in_memory_and_full_again_after_its_time() -> None:
    clock = HostClock()
    allowance = Allowance(clock, at_once=2, each_seconds=10, remembered=100)
    assert [allowance.take("a") for _ in range(3)] == [0, 0, 10]
    allowance.release("a")
    assert allowance.take("a") == 0
    clock.now += 20
    assert [allowance.take("a") for _ in range(3)] == [0, 0, 10]
    for number in range(1000):
        allowance.take(f"subject {number}")
    assert len(allowance) == 100


def test_a_try_counts_before_it_is_checked_so_that_many_at_once_gain_nothing() -> None:
    throttle = Throttle(HostClock())
    tries = [throttle.guessing("reader@example.org", "203.0.113.7") for _ in range(6)]
    for each in tries[:5]:
        each.__enter__()
    with pytest.raises(TooManyTries):
        tries[5].__enter__()
    for each in tries[:5]:
        assert not each.__exit__(WrongPassword, WrongPassword(), None)


def test_hashes_are_computed_a_few_at_a_time_and_who_would_wait_too_long_is_sent_away() -> None:
    passwords = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1), at_once=1, timeout_seconds=0.01)
    with passwords.turn(), pytest.raises(TooBusy) as caught:
        passwords.hash(FIRST)
    assert caught.value.wait_seconds
    assert passwords.hash(FIRST)
