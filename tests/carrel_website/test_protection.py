"""What changes something has to come from a page of ours: every form, without exception."""

import pytest
from litestar.routes import HTTPRoute

from tests.carrel_website.website import FIRST, SECOND, Browser, Website


def writing_paths(website: Website) -> list[str]:
    """Every path that takes anything but reading, from the application itself."""
    routes = [route for route in website.app.routes if isinstance(route, HTTPRoute)]
    assert all(route.methods <= {"GET", "HEAD", "OPTIONS", "POST"} for route in routes)
    return [route.path.replace("{link:str}", "any-link") for route in routes if "POST" in route.methods]


async def test_every_form_is_refused_without_its_token_and_with_another_visitor_s(
    website: Website, browser: Browser
) -> None:
    await browser.sign_up()
    other = website.browser()
    page = (await other.get("/sign-in")).text
    stolen = page.partition('name="form_token" value="')[2].partition('"')[0]
    assert len(stolen) == 64
    paths = [path for path in writing_paths(website) if path != "/token"]
    assert len(paths) >= 10
    for path in paths:
        for fields in ({"password": FIRST}, {"password": FIRST, "form_token": stolen}):
            answer = await browser.post(path, fields)
            assert answer.status_code == 403, path
            assert "out of date" in answer.text
    assert (await browser.get("/desk")).status_code == 200, "nothing happened"


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
    ],
)
async def test_a_form_from_another_website_is_refused_with_its_token_too(
    browser: Browser, headers: dict[str, str]
) -> None:
    page = (await browser.get("/sign-up")).text
    fields = {
        "form_token": page.partition('name="form_token" value="')[2].partition('"')[0],
        "email": browser.email,
        "password": FIRST,
        "repeated": FIRST,
    }
    assert (await browser.post("/sign-up", fields, **headers)).status_code == 403
    assert (await browser.post("/token", {}, **headers)).status_code == 403
    assert (await browser.post("/sign-up", fields, **{"sec-fetch-site": "same-origin"})).status_code == 303


async def test_the_address_of_the_token_wants_to_know_who_asks_before_it_forgets(browser: Browser) -> None:
    assert (await browser.post("/token", {})).status_code == 403


async def test_what_is_no_form_too_large_or_for_another_host_is_refused(browser: Browser) -> None:
    await browser.get("/sign-in")
    assert (await browser.post("/sign-in", {}, **{"content-type": "application/json"})).status_code == 400
    assert (await browser.post("/sign-in", {"password": "x" * 20_000})).status_code == 413
    assert (await browser.get("/", host="rebound.example")).status_code == 400


async def test_what_a_person_types_is_shown_as_text(browser: Browser) -> None:
    email = '"><script>alert(1)</script>@example.org'
    page = await browser.sign_up(email=email)
    assert page.status_code in {303, 400}
    shown = await browser.sign_in(email=email)
    assert "<script>alert" not in page.text + shown.text + (await browser.get("/account")).text


async def test_no_password_comes_back_in_a_page(browser: Browser) -> None:
    pages = [
        await browser.sign_up(repeated=SECOND),
        await browser.sign_up(),
        await browser.sign_in(SECOND),
        await browser.change(SECOND, FIRST + "!"),
    ]
    assert all(FIRST not in page.text and SECOND not in page.text for page in pages)


async def test_nothing_that_opens_a_workspace_lies_on_the_disk_or_in_a_log(
    website: Website, browser: Browser, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    await browser.sign_up(recovery="yes")
    token = await browser.token()
    website.wire.plan("garble", "/auth/rekey")
    website.wire.plan("garble", "/auth/login")
    await browser.change(FIRST, SECOND)
    monkeypatch.setattr(website.site.host, "sign_in", None)
    assert (await browser.submit("/unlock", {"password": FIRST})).status_code == 500
    stored = b"".join(path.read_bytes() for path in website.folder.rglob("*") if path.is_file())
    for secret in (FIRST, SECOND, token, website.service.plugin_secret, *browser.cookies.values()):
        assert secret.encode() not in stored
        assert secret not in caplog.text
    assert "a page failed" in caplog.text
