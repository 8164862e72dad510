"""Files in a browser: dropped on the library, read, shown, handed out again and deleted."""

from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.browser.browser import Deployment
from tests.browser.pages import at_rest, settled
from tests.documents import files

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

PDF = files.pdf("The tower was raised by seven metres.")
DOCX = files.docx(files.paragraph("The keeper", "<w:pStyle w:val='Heading1'/>") + files.paragraph("A storm came."))


async def _drop(page: Page, *paths: Path) -> None:
    """As from the desktop: the browser itself is told of the drag, not the page."""
    box = await page.locator(".drop").bounding_box()
    assert box is not None
    devtools = await page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        await devtools.send(
            "Input.dispatchDragEvent",
            {
                "type": kind,
                "x": box["x"] + box["width"] / 2,
                "y": box["y"] + box["height"] / 2,
                "data": {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1},
            },
        )


async def test_dropped_files_become_documents_and_their_originals_come_back(
    page: Page, deployment: Deployment, tmp_path: Path
) -> None:
    bodies = {"tower.pdf": PDF, "storm.docx": DOCX, "locked.pdf": files.pdf("x", password="p")}
    for name, body in bodies.items():
        (tmp_path / name).write_bytes(body)
    await page.goto(f"{deployment.site.url}/desk#/library")
    await settled(page)
    await _drop(page, *(tmp_path / name for name in bodies))
    uploads = page.get_by_role("region", name="Uploads")
    await expect(uploads.get_by_role("status")).to_have_text("3 of 3 files done, 1 refused")
    await expect(uploads.get_by_role("alert")).to_contain_text("protected by a password")

    await page.get_by_label("Search in all texts").fill("storm")
    await expect(page.get_by_role("link", name="tower.pdf")).to_be_hidden()
    await expect(page.get_by_role("link", name="storm.docx")).to_be_visible()
    await page.get_by_label("Search in all texts").fill("")

    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download the original of tower.pdf").click()
    got = await download.value
    assert got.suggested_filename == "tower.pdf"
    assert Path(await got.path()).read_bytes() == PDF

    await page.get_by_role("link", name="tower.pdf", exact=True).click()
    await page.get_by_role("button", name="The original beside the text").click()
    pages = page.get_by_role("region", name="Pages of tower.pdf")
    await expect(pages.get_by_role("img", name="Page 1 as it looks")).to_be_visible()
    assert await pages.get_by_role("img").evaluate("image => image.decode().then(() => image.naturalWidth)") > 500
    await expect(pages.get_by_role("group", name="The text that models get")).to_contain_text("raised by seven metres")
    await page.go_back()

    await page.get_by_role("link", name="storm.docx").click()
    await expect(page.get_by_role("textbox", name="Text")).to_have_value("# The keeper\n\nA storm came.")


async def test_a_document_that_is_deleted_takes_its_original_along(page: Page, deployment: Deployment) -> None:
    document = deployment.workspace.documents.upload("gone.pdf", PDF)
    await page.goto(f"{deployment.site.url}/desk#/library?type=input_document")
    await page.get_by_role("button", name="Delete gone.pdf").click()
    dialog = page.get_by_role("alertdialog").or_(page.get_by_role("dialog"))
    await expect(dialog).to_contain_text("its original")
    await dialog.get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("link", name="gone.pdf")).to_be_hidden()
    await at_rest(page)
    assert document.id not in {one.id for one in deployment.workspace.documents.each()}
