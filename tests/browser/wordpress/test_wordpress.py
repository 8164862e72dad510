"""The plugin of integrations/wordpress, in a real WordPress."""

from collections.abc import Iterator

import httpx
import pytest
from carrel_sdk import Workspace
from playwright.async_api import Browser, Page, expect

from tests.browser.contents import finish, preset, stations
from tests.browser.pages import TIMEOUT_SECONDS, settled, watched
from tests.browser.wordpress.site import NEEDED, WordPress, open_wordpress
from tests.browser.wordpress.visits import Reset, ask_for_link, change_password, said, xmlrpc_takes

pytestmark = [pytest.mark.browser, pytest.mark.program(*NEEDED), pytest.mark.asyncio(loop_scope="session")]

FIRST = 'L\'heure "bleue" \\ 1904 at the harbour'
SECOND = "the second \\'pass\\' \"word\" of über 1904"
PHRASE = "give up my workspace"
PROGRAM_S_PASSWORD = """
$id = get_user_by( 'login', 'fay' )->ID;
echo WP_Application_Passwords::create_new_application_password( $id, array( 'name' => 'A program' ) )[0];
"""
UPDATE = """
$done = wp_update_user( array( 'ID' => get_user_by( 'login', 'fay' )->ID, '{name}' => '{value}' ) );
echo is_wp_error( $done ) ? $done->get_error_message() : 'done';
"""
AN_HOUR_LATER = """
foreach ( _get_cron_array() as $at => $hooks ) {
    foreach ( $hooks['carrel_delete'] ?? array() as $due ) {
        wp_unschedule_event( $at, 'carrel_delete', $due['args'] );
        do_action( 'carrel_delete', ...$due['args'] );
    }
}
"""


@pytest.fixture(scope="module")
def site() -> Iterator[WordPress]:
    with open_wordpress() as site:
        yield site
        assert site.complaints() == ""


async def test_the_journey_of_a_reader(site: WordPress, chromium: Browser) -> None:
    page, other = await _browser(chromium), await _browser(chromium)
    site.service.stop()
    await _register(page, site)
    await _sign_in(page, site, FIRST)
    await expect(page.get_by_text("cannot be reached right now")).to_be_visible()
    assert (await page.request.get(site.token_url)).status == 503

    site.service.start()
    await page.reload()
    await expect(page.get_by_text("Your workspace is locked")).to_be_visible()
    await page.get_by_role("link", name="Enter your password").click()
    await _type_password(page, FIRST)
    await settled(page)
    answer = await page.request.get(site.token_url)
    assert answer.headers["cache-control"] == "no-store"

    def token() -> str:
        return str(visitor.get(site.token_url).json()["session_token"])

    visitor = _entered(site, "reader", FIRST)
    workspace = Workspace(site.service.url, token)
    run = finish(workspace, preset(workspace, "Stations", stations(2)))
    await page.goto(f"{site.workspace_url}#/runs/{run}")
    await expect(page.get_by_text("Completed", exact=True)).to_be_visible()

    await _sign_in(other, site, FIRST)
    await settled(other)
    await page.goto(f"{site.url}/wp-login.php?action=carrel_password")
    await page.get_by_label("Present password").fill(FIRST)
    await page.get_by_label("New password", exact=True).fill(SECOND)
    await page.get_by_label("New password again").fill(SECOND)
    await page.get_by_role("button", name="Change password").click()
    await settled(page)
    await other.get_by_role("link", name="Library").click()
    await expect(other.get_by_role("alertdialog")).to_contain_text("nobody is signed in there any more")
    await _sign_in(other, site, FIRST)
    await expect(other.get_by_text("is incorrect")).to_be_visible()

    site.service.restart()
    await page.get_by_role("link", name="Library").click()
    dialog = page.get_by_role("alertdialog")
    await expect(dialog).to_contain_text("enter your password again")
    async with page.context.expect_page() as opened:
        await dialog.get_by_role("link", name="Enter your password").click()
    tab = await watched(await opened.value)
    await _type_password(tab, SECOND)
    await settled(tab)
    await tab.close()
    await expect(dialog).to_be_hidden()
    await page.goto(f"{site.workspace_url}#/runs/{run}")
    await expect(page.get_by_text("Completed", exact=True)).to_be_visible()

    await page.goto(f"{site.url}/wp-login.php?action=logout")
    await page.get_by_role("link", name="log out").click()
    await expect(page.get_by_text("You are now logged out")).to_be_visible()
    assert visitor.get(site.token_url).status_code == 401, "the key is gone, for the user's other browsers as well"
    workspace.close()
    visitor.close()
    for one in (page, other):
        await one.context.close()


async def test_only_one_password_opens_after_a_change_that_broke_off(site: WordPress, chromium: Browser) -> None:
    link = ask_for_link(site, "ada")
    visitor = _entered(site, "ada", "first of ada")
    with site.fault("after /auth/rekey"), pytest.raises(httpx.RemoteProtocolError):
        change_password(site, visitor, "first of ada", "second of ada")
    assert visitor.get(site.token_url).status_code == 401, "nobody gets a token before it is known which counts"

    page = await _browser(chromium)
    await _sign_in(page, site, "first of ada", "ada")
    await expect(page.get_by_text("Please try the other one")).to_be_visible()
    assert site.sign_in("ada@example.org", "first of ada") is None
    assert not xmlrpc_takes(site, "ada", "first of ada")
    with site.fault("refuse"):
        assert [site.sign_in("ada", f"{which} of ada") for which in ("first", "second", "third")] == [None, None, None]
    await _sign_in(page, site, "second of ada", "ada")
    await settled(page)
    await page.context.close()

    assert site.sign_in("ada", "first of ada") is None
    assert not Reset(site, link).is_valid, "a link from before the change is good for nothing"
    assert visitor.get(site.token_url).status_code == 401
    assert said(visitor.get(site.workspace_url)).startswith(f"{site.url}/wp-login.php"), "the session ended"

    # Before the service heard of it: the new password completes the change, and the old one takes it back.
    for counts in ("third of ada", "second of ada"):
        visitor = _entered(site, "ada", "second of ada")
        with site.fault("before /auth/rekey"), pytest.raises(httpx.RemoteProtocolError):
            change_password(site, visitor, "second of ada", "third of ada")
        visitor = _entered(site, "ada", counts)
        other = {"second of ada", "third of ada"} - {counts}
        assert site.sign_in("ada", other.pop()) is None
        if counts == "third of ada":
            assert change_password(site, visitor, counts, "second of ada").status_code == 302

    visitor = _entered(site, "ada", "second of ada")
    with site.fault("lose /auth/rekey"):
        assert "The connection broke" in said(change_password(site, visitor, "second of ada", "third of ada"))
    assert xmlrpc_takes(site, "ada", "third of ada")
    assert site.sign_in("ada", "second of ada") is None
    assert _opens(site, "ada", "third of ada")


async def test_a_change_that_is_refused_changes_nothing(site: WordPress) -> None:
    visitor = _entered(site, "bea", "first of bea")
    site.asked()
    assert "is incorrect" in said(change_password(site, visitor, "a guess", "second of bea"))
    assert site.asked() == [], "a guess is not sent on"
    with site.fault("refuse"):
        assert "cannot be reached" in said(change_password(site, visitor, "first of bea", "second of bea"))
        assert site.sign_in("bea", "first of bea") is not None, "nothing is pending"
    assert _opens(site, "bea", "first of bea")
    site.asked()
    assert site.sign_in("bea", "first of bea") is not None
    assert site.asked() == ["POST /auth/login"]


async def test_what_is_pending_has_a_bound(site: WordPress) -> None:
    _entered(site, "hana", "first of hana")
    reset = Reset(site, ask_for_link(site, "hana"))
    with site.fault("lose /auth/rekey"):
        for number in range(3):
            assert "The connection broke" in reset.send(f"reset {number} of hana")
        assert "Sign in first" in reset.send("reset 3 of hana")
    assert [_opens(site, "hana", f"reset {number} of hana") for number in (3, 1, 2)] == [False, True, False]


async def test_two_browsers_that_change_the_password_at_once_take_turns(site: WordPress) -> None:
    visitors = [_entered(site, "cleo", "first of cleo") for _ in range(2)]
    new = ["second of cleo", "third of cleo"]
    answers = site.at_once("/auth/rekey", lambda at: change_password(site, visitors[at], "first of cleo", new[at]))
    assert [answer.status_code for answer in answers] == [302, 200]
    assert [_opens(site, "cleo", password) for password in (*new, "first of cleo")] == [True, False, False]


async def test_a_reset_takes_the_workspace_along_or_is_stopped(site: WordPress) -> None:
    _entered(site, "dora", "first of dora")
    link = ask_for_link(site, "dora")
    tabs = [Reset(site, link), Reset(site, link)]
    told = site.at_once("/auth/rekey", lambda at: tabs[at].send(f"{('second', 'third')[at]} of dora"))
    assert "Your password has been reset" in told[0]
    assert "This link is no longer valid" in told[1]
    assert [_opens(site, "dora", f"{which} of dora") for which in ("second", "third")] == [True, False]
    assert not Reset(site, link).is_valid

    # The key is gone: the reset stops, the password in force is still the one before, and the same link goes on.
    _forget_key(site, "dora")
    reset = Reset(site, ask_for_link(site, "dora"))
    assert "enter that as well" in reset.send("third of dora")
    assert "does not open your workspace" in reset.send("third of dora", old="a guess")
    assert site.sign_in("dora", "third of dora") is None
    with site.fault("refuse"):
        assert "cannot be reached" in reset.send("third of dora")
    assert "Your password has been reset" in reset.send("third of dora", old="second of dora")
    assert _opens(site, "dora", "third of dora")

    # It breaks off on either side of the rekey, and the next sign-in finds out.
    for when, new in (("after", "fourth of dora"), ("before", "fifth of dora")):
        reset = Reset(site, ask_for_link(site, "dora"))
        with site.fault(f"{when} /auth/rekey"), pytest.raises(httpx.RemoteProtocolError):
            reset.send(new)
        assert _opens(site, "dora", new)

    _forget_key(site, "dora")
    reset = Reset(site, ask_for_link(site, "dora"))
    assert "enter that as well" in reset.send("sixth of dora", phrase="give up")
    before = _meta(site, "dora", "carrel_uuid")
    assert "Your password has been reset" in reset.send("sixth of dora", phrase=PHRASE)
    assert _opens(site, "dora", "sixth of dora")
    assert _meta(site, "dora", "carrel_uuid") != before
    assert not _exists(site, before)


async def test_another_plugin_s_form_can_reset_only_with_the_workspace(site: WordPress) -> None:
    _entered(site, "emma", "first of emma")
    reset = "reset_password( get_user_by( 'login', 'emma' ), '{}' ); echo 'done';"
    assert site.run(reset.format("second of emma")) == "done"
    assert _opens(site, "emma", "second of emma")
    _forget_key(site, "emma")
    assert "done" not in site.run(reset.format("third of emma"))
    assert site.sign_in("emma", "third of emma") is None
    assert _opens(site, "emma", "second of emma")


async def test_no_other_way_in_or_around_separates_the_password_from_the_workspace(site: WordPress) -> None:
    _entered(site, "fay", "first of fay")
    program = ("fay", site.run(PROGRAM_S_PASSWORD))
    site.asked()
    assert xmlrpc_takes(site, *program)
    assert xmlrpc_takes(site, "fay", "first of fay")
    with site.visitor() as visitor:
        me = "/?rest_route=/wp/v2/users/me"
        assert visitor.get(me, auth=program).status_code == 200
        assert visitor.get(site.token_url, auth=program).status_code == 401
        assert visitor.get(site.workspace_url, auth=program).status_code == 302
        assert visitor.post(me, json={"password": "second of fay"}, auth=program).status_code == 500
    assert site.asked() == [], "programs reach no workspace"

    update = UPDATE.replace("{name}", "user_pass").replace("{value}", "second of fay")
    assert "Not enough data" in site.run(update)
    assert site.run(UPDATE.replace("{name}", "display_name").replace("{value}", "Fay")) == "done"
    assert _opens(site, "fay", "first of fay")

    # What cannot be stopped: the new password is WordPress's only, and the page says how to go on.
    site.run("wp_set_password( 'second of fay', get_user_by( 'login', 'fay' )->ID );")
    visitor = _entered(site, "fay", "second of fay")
    locked = visitor.get(site.workspace_url)
    assert (locked.status_code, "it has an earlier password" in said(locked)) == (401, True)
    reset = Reset(site, ask_for_link(site, "fay"))
    assert "Your password has been reset" in reset.send("third of fay", old="first of fay")
    assert _opens(site, "fay", "third of fay")


async def test_an_administrator_sees_the_service_and_a_shop_makes_members(site: WordPress) -> None:
    assert site.run("echo carrel_state();") == "The service answers and takes the secret."
    admin = _entered(site, "admin", "the password of the administrator")
    assert "under a random identity" in admin.get("/wp-admin/options-privacy.php?tab=policyguide").text
    assert 'action=carrel_workspace">Open my workspace</a>' in site.run("echo do_shortcode( '[carrel]' );")
    visitor = _entered(site, "gwen", "first of gwen")
    visitor.close()
    member = """
    remove_all_filters( 'carrel_membership' );
    update_option( 'carrel_paid_roles', 'editor' );
    $user = get_user_by( 'login', 'gwen' );
    $user->set_role( '{role}' );
    echo carrel_uuid( $user->ID );
    """
    for role, told in (("editor", "activate"), ("subscriber", "deactivate")):
        site.asked()
        uuid = site.run(member.replace("{role}", role))
        assert set(site.asked()) == {f"POST /users/{uuid}/{told}"}
    personal = """
    $all = apply_filters( 'wp_privacy_personal_data_{kind}s', array() );
    echo wp_json_encode( $all['carrel']['callback']( 'gwen@example.org' ) );
    """
    assert uuid in site.run(personal.replace("{kind}", "exporter"))
    assert '"items_removed":true' in site.run(personal.replace("{kind}", "eraser"))
    assert not _exists(site, uuid)


async def test_a_deleted_user_has_no_workspace_even_if_the_service_was_down(site: WordPress) -> None:
    _entered(site, "gwen", "first of gwen")
    uuid = _meta(site, "gwen", "carrel_uuid")
    with site.fault("refuse"):
        site.run(
            "require ABSPATH . 'wp-admin/includes/user.php'; wp_delete_user( get_user_by( 'login', 'gwen' )->ID );"
        )
    assert _exists(site, uuid)
    site.run(AN_HOUR_LATER)
    assert not _exists(site, uuid)
    assert (
        site.run(f"echo wp_next_scheduled( 'carrel_delete', array( '{uuid}' ) ) ? 'again' : 'never again';")
        == "never again"
    )


async def test_a_removed_plugin_leaves_no_token_and_finds_every_workspace_again(
    site: WordPress,
) -> None:
    site.run("wp_create_user( 'hal', 'first of hal', 'hal@example.org' );")
    _entered(site, "hal", "first of hal")
    uuid = _meta(site, "hal", "carrel_uuid")
    kept = "echo get_transient( 'carrel_token_' . get_user_by( 'login', 'hal' )->ID ) ? 'kept' : 'gone';"
    assert site.run(kept) == "kept"
    site.run("define( 'WP_UNINSTALL_PLUGIN', 'carrel' ); require ABSPATH . 'wp-content/plugins/carrel/uninstall.php';")
    assert (site.run(kept), _meta(site, "hal", "carrel_uuid")) == ("gone", uuid)


def _entered(site: WordPress, name: str, password: str) -> httpx.Client:
    visitor = site.sign_in(name, password)
    assert visitor is not None, password
    return visitor


def _opens(site: WordPress, name: str, password: str) -> bool:
    """Whether the password signs in to WordPress; it then opens the workspace as well."""
    visitor = site.sign_in(name, password)
    if visitor is None:
        return False
    assert visitor.get(site.token_url).status_code == 200, f"{password} signs in and opens nothing"
    visitor.close()
    return True


def _meta(site: WordPress, name: str, meta: str) -> str:
    return site.run(f"echo get_user_meta( get_user_by( 'login', '{name}' )->ID, '{meta}', true );")


def _forget_key(site: WordPress, name: str) -> None:
    """As a restart of the service does to every user, which takes longer."""
    body = {"uuid": _meta(site, name, "carrel_uuid"), "db_key_hex": "00" * 32}
    headers = {"X-SVC-Plugin-Secret": site.service.plugin_secret}
    answer = httpx.post(f"{site.service.url}/api/auth/login", json=body, headers=headers)
    assert answer.json()["code"] == "key-rejected"


def _exists(site: WordPress, uuid: str) -> bool:
    """Whether the service knows the user."""
    answer = httpx.post(
        f"{site.service.url}/api/users",
        json={"uuid": uuid},
        headers={"X-SVC-Plugin-Secret": site.service.plugin_secret},
    )
    return answer.status_code == 409


async def _browser(chromium: Browser) -> Page:
    context = await chromium.new_context(viewport={"width": 1280, "height": 860})
    context.set_default_timeout(TIMEOUT_SECONDS * 1000)
    return await watched(await context.new_page())


async def _register(page: Page, site: WordPress) -> None:
    await page.goto(f"{site.url}/wp-login.php?action=register")
    await page.get_by_label("Username").fill("reader")
    await page.get_by_label("Email").fill("reader@example.org")
    await page.get_by_role("button", name="Register").click()
    await expect(page.get_by_text("Registration complete")).to_be_visible()
    await page.goto(site.letter())
    new = page.get_by_label("New password", exact=True)
    # The page proposes a password when its estimator of strength has come, and would write it over one that is there.
    await expect(new).not_to_have_value("")
    await new.fill(FIRST)
    await page.get_by_role("button", name="Save Password").click()
    await expect(page.get_by_text("Your password has been reset")).to_be_visible()


async def _sign_in(page: Page, site: WordPress, password: str, name: str = "reader") -> None:
    await page.goto(f"{site.url}/wp-login.php?redirect_to={site.workspace_url.replace('?', '%3F')}")
    await _type_password(page, password, name)


async def _type_password(page: Page, password: str, name: str = "reader") -> None:
    # The page empties a field when it sets the focus, a moment after it was loaded.
    await expect(page.locator("#user_login:focus, #user_pass:focus")).to_be_visible()
    await page.get_by_label("Username or Email Address").fill(name)
    await page.get_by_label("Password", exact=True).fill(password)
    await page.get_by_role("button", name="Log In").click()
