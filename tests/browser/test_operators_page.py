"""The operator's page, in Chromium, before a service with a user whose texts it must not show."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.browser import USER, Deployment

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_the_operator_sees_users_and_sums_and_no_text(page: Page, deployment: Deployment) -> None:
    texts: list[str] = []
    page.on("request", lambda request: texts.append(f"{request.url} {request.post_data}"))
    deployment.workspace.contents.create("canaryname", "fragment", "canarytext")
    deployment.host.add_credits(USER, "12.5")
    deployment.host.sign_up("bob")
    await page.goto(f"{deployment.service.url}/api/admin")
    secret = page.get_by_label("Admin secret")
    await secret.fill("wrong" * 8)
    await page.get_by_role("button", name="Show").click()
    await expect(page.get_by_role("status")).to_have_text("The admin secret is wrong.")
    await secret.fill(deployment.service.admin_secret)
    await page.get_by_role("button", name="Show").click()
    sums, users = page.get_by_role("table", name="In all"), page.get_by_role("table", name="Users")
    await expect(sums.get_by_role("row", name="credits left")).to_have_text("credits left12.5")
    await expect(sums.get_by_role("row", name="users", exact=True)).to_have_count(0)
    await expect(users.get_by_role("row")).to_have_count(3)
    await expect(users.get_by_role("row").nth(1)).to_contain_text("ada")
    await page.get_by_label("Users with the most").select_option("credits")
    await expect(users.get_by_role("row", name="bob")).to_contain_text("free")
    shown = await page.content()
    assert "canary" not in shown
    assert not [text for text in texts if deployment.service.admin_secret in text], "the secret goes in a header only"
