"""A document, a model's answer, a file name and a preset's name that would like to run as a script do nothing."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from carrel_sdk.models import Candidate, Comparison, Generation, Judge, PresetDraft, Run
from playwright.async_api import FilePayload, Page, expect

from tests.browser.browser import Deployment, open_deployment
from tests.browser.contents import preset, stations
from tests.browser.pages import settled

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

ATTACK = "<img src=x onerror=window.owned=1><script>window.owned=1</script> <svg onload=window.owned=1>"
DOCUMENT = (
    f"{ATTACK} stands first here and is quoted. [A link](javascript:window.owned=1) follows it, and nothing else."
)


class HostileModel(BaseHTTPRequestHandler):
    """An OpenAI-compatible server that answers everything with the same text."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        choice = {"index": 0, "message": {"role": "assistant", "content": ATTACK}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        body = json.dumps({"id": "x", "model": "hostile", "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    """Its host and port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), HostileModel) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory, model: str) -> Iterator[Deployment]:
    with open_deployment(tmp_path_factory.mktemp("workspace"), {"CARREL_PROVIDER_HOSTS": model}) as deployment:
        deployment.workspace.provider_keys.store("openai", "sk-hostile", base_url=f"http://{model}/v1")
        yield deployment


@pytest.fixture(scope="module")
def run(deployment: Deployment) -> Run:
    """Ended; its preset has the name, its documents hold the text, and a candidate says it."""
    named = preset(deployment.workspace, ATTACK, stations(1))
    hostile = deployment.workspace.contents.create(ATTACK, "input_document", DOCUMENT)
    candidates = [Candidate(label=ATTACK[:90], model="openai:hostile"), Candidate(label="lead", model="local:lead")]
    told = PresetDraft(
        name=ATTACK,
        inputs=[hostile.id, *named.inputs],
        instructions=named.instructions,
        generation=Generation(candidates=candidates),
        comparison=Comparison(judges=[Judge(model="local:reader")]),
    )
    run = deployment.workspace.presets.execute(deployment.workspace.presets.create(told).id, name=ATTACK)
    for event in deployment.workspace.runs.events(run.id):
        if event.kind == "end":
            break
    return run


async def test_a_document_does_nothing(page: Page, deployment: Deployment, run: Run) -> None:
    (document, *_) = run.configuration.inputs
    await _look(page, deployment, "/library", f"/library/{document}", f"/runs/{run.id}?tab=documents")


async def test_the_answer_of_a_model_does_nothing(page: Page, deployment: Deployment, run: Run) -> None:
    made = [task.generated_id for task in deployment.workspace.runs.tasks(run.id) if task.generated_id]
    answers = [deployment.workspace.runs.generated(run.id, one).body for one in made]
    assert ATTACK in answers
    await _look(page, deployment, *(f"/runs/{run.id}?tab={tab}" for tab in ("documents", "report")))
    report = page.frame_locator("iframe")
    await expect(report.get_by_text("onerror").first).to_be_attached()
    assert await report.locator("img, script, svg[onload]").count() == 0


async def test_the_name_of_a_file_does_nothing(page: Page, deployment: Deployment) -> None:
    await page.goto(f"{deployment.site.url}/desk#/library")
    name = "<img src=x onerror=window.owned=1>.md"
    async with page.expect_file_chooser() as chooser:
        await page.get_by_role("button", name="Choose files").click()
    await (await chooser.value).set_files(
        FilePayload(name=name, mimeType="text/markdown", buffer=b"# A text\n\nOf words.")
    )
    await page.get_by_role("link", name=name).click()
    await expect(page.get_by_label("Name", exact=True)).to_have_value(name)
    await _nothing_ran(page)


async def test_the_name_of_a_preset_does_nothing(page: Page, deployment: Deployment, run: Run) -> None:
    places = ("/presets", f"/presets/{run.preset_id}", "/runs", f"/runs/{run.id}")
    await _look(
        page, deployment, *places, *(f"/runs/{run.id}?tab={tab}" for tab in ("verdict", "matrix", "log", "report"))
    )


async def _look(page: Page, deployment: Deployment, *places: str) -> None:
    await page.goto(f"{deployment.site.url}/desk")
    for place in places:
        await page.evaluate("place => { location.hash = place }", place)
        await settled(page)
        # It is there to be seen, as text.
        await expect(page.get_by_text("onerror").or_(page.locator("input[value*=onerror]")).first).to_be_attached()
        await _nothing_ran(page)


async def _nothing_ran(page: Page) -> None:
    assert await page.evaluate("window.owned") is None
    assert await page.locator("#carrel :is(img, script, [onload], [onerror], a[href^='javascript'])").count() == 0
