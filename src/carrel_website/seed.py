"""`make seed`: fill a workspace of the website that `make start` runs with documents, presets and finished runs.

It goes the way of a user: it signs up on the website, takes a session token from its page, and works through the SDK.
"""

import argparse
import html
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

import httpx
import msgspec
from carrel_sdk import CarrelError, Workspace
from carrel_sdk.models import Candidate, Combination, Comparison, Generation, Judge, Preset, PresetDraft, Scoring

from carrel.cli.demo import CRITERIA, INSTRUCTIONS, DemoDocument, DemoFailed, documents_of
from carrel.cli.interface.watching import snapshots
from carrel_website.start import SITE_PORT, say

EMAIL: Final = "seed@example.org"
PASSWORD: Final = "seeded for development"  # noqa: S105  # an account of the developer's own machine
DOCUMENTS: Final = 8
BALLOTS: Final = 5
TABLE: Final = b"candidate,cost\nshort,0.10\nlong,0.45\n"
NOTES: Final = b"<!doctype html><h1>Minutes</h1><p>The board met in May and chose the short summaries.</p>"

_FORM_TOKEN: Final = re.compile(r'name="form_token" value="(\w+)"')
_SESSION_TOKEN: Final = re.compile(r'<textarea id="token"[^>]*>([^<]+)</textarea>')
_SERVICE_URL: Final = re.compile(r"carrel login --token-stdin --url ([^\s<]+)")
_ANSWER_SECONDS: Final = 60.0


class SeedFailed(Exception):
    """The text is one line for the terminal."""


class Seeded(NamedTuple):
    """How much is in the workspace now."""

    documents: int
    presets: int
    runs: int


def main() -> int:
    """Exit code 0 when everything is there, 1 with one line if not."""
    parser = argparse.ArgumentParser(prog="python -m carrel_website.seed", description=__doc__)
    parser.add_argument("--website", default=f"http://127.0.0.1:{SITE_PORT}", help="the address that make start prints")
    website: str = parser.parse_args().website
    try:
        with seed_account(website) as workspace:
            seeded = fill(workspace)
    except (SeedFailed, DemoFailed, CarrelError) as failed:
        sys.stderr.write(f"seed: {failed}\n")
        return 1
    say(f"{seeded.documents} documents, {seeded.presets} presets and {seeded.runs} runs are there")
    say(f"sign in at {website}/sign-in as {EMAIL} with the password: {PASSWORD}")
    return 0


@contextmanager
def seed_account(website: str) -> Iterator[Workspace]:
    """The workspace of the seed's own account, which is made if it is not there yet.

    Raises:
        SeedFailed: no website answers there, or the account has another password.
    """
    with httpx.Client(base_url=website, follow_redirects=True, timeout=_ANSWER_SECONDS) as browser:
        try:
            entered = _submit(browser, "/sign-up", email=EMAIL, password=PASSWORD, repeated=PASSWORD)
            if entered.status_code == httpx.codes.CONFLICT:
                _submit(browser, "/sign-in", email=EMAIL, password=PASSWORD)
            _submit(browser, "/account/plan", at="/account", plan="paid")
            page = _submit(browser, "/terminal").text
        except httpx.HTTPError:
            raise SeedFailed(f"no website answers at {website}: run make start in another terminal") from None
    token, service = _SESSION_TOKEN.search(page), _SERVICE_URL.search(page)
    if token is None or service is None:
        raise SeedFailed(f"{EMAIL} cannot be signed in at {website}")
    with Workspace(html.unescape(service[1]).removesuffix("</code>"), html.unescape(token[1]).strip()) as workspace:
        yield workspace


def fill(workspace: Workspace) -> Seeded:
    """Put everything into an empty workspace and wait until the runs have ended.

    Raises:
        SeedFailed: the workspace holds presets already, or a run did not complete.
    """
    if next(iter(workspace.presets.each()), None) is not None:
        raise SeedFailed("the workspace holds presets already; delete the account on the website to begin again")
    documents = documents_of(None)[:DOCUMENTS]
    presets = _presets(workspace, documents)
    workspace.documents.upload("costs.csv", TABLE)
    workspace.documents.upload("minutes.html", NOTES)
    runs = [workspace.presets.execute(preset.id, name=f"{preset.name} (week 1)").id for preset in presets]
    runs.append(workspace.presets.execute(presets[0].id, name=f"{presets[0].name} (week 2)").id)
    for run_id in runs:
        _wait_until_completed(workspace, run_id)
    _vote(workspace, runs[0])
    workspace.runs.replace(runs[0], name=f"{presets[0].name} (week 1)", tags=["reviewed"], pinned=True)
    cancelled = workspace.runs.create(preset_id=presets[0].id, name="Cancelled before it started")
    workspace.runs.cancel(cancelled.id)
    workspace.runs.create(preset_id=presets[0].id, name="Not started yet")
    return Seeded(len(documents) + 2, len(presets), workspace.runs.count().total)


def _presets(workspace: Workspace, documents: list[DemoDocument]) -> list[Preset]:
    contents = workspace.contents
    inputs = [contents.create(document.name, "input_document", document.body).id for document in documents]
    instructions = contents.create("Summarise for a colleague", "generation_instructions", INSTRUCTIONS).id
    criteria = contents.create("What a summary needs", "criteria", CRITERIA).id
    judges = [Judge(model="local:reader"), Judge(model="local:statistician")]

    def of(*names: str) -> Generation:
        return Generation(candidates=[Candidate(label=name, model=f"local:{name}") for name in names])

    scoring, comparison = Scoring(judges=judges, criteria=criteria), Comparison(judges=judges)
    full = PresetDraft(
        name="Which summary?",
        description="Every built-in summariser, scored and compared.",
        tags=["summaries"],
        inputs=inputs,
        instructions=instructions,
        generation=of("lead", "random", "lexrank", "mmr", "submodular", "outline"),
        scoring=scoring,
        comparison=comparison,
    )
    quick = msgspec.structs.replace(
        full, name="Scores only", description="", tags=["quick"], generation=of("lead", "mmr"), comparison=None
    )
    combined = msgspec.structs.replace(
        full,
        name="Combine the best two",
        description="The best answers become one, which is judged against them.",
        generation=of("lead", "lexrank", "submodular"),
        combination=Combination(candidates=[Candidate(label="combined", model="local:lexrank")]),
    )
    drafts = (full, quick, combined)
    return [workspace.presets.create(draft) for draft in drafts]


def _wait_until_completed(workspace: Workspace, run_id: str) -> None:
    for _ in snapshots(workspace, run_id):
        pass
    run = workspace.runs.get(run_id)
    say(f"{run.name}: {run.state}, {run.progress.succeeded:,} tasks")
    if run.state != "completed":
        raise SeedFailed(f"a run ended as {run.state}")


def _vote(workspace: Workspace, run_id: str) -> None:
    """A few blind votes, which always take the first answer."""
    for _ in range(BALLOTS):
        ballot = workspace.votes.next(run_id)
        if ballot is None:
            return
        workspace.votes.cast(run_id, ballot.pair, "first")


def _submit(browser: httpx.Client, path: str, *, at: str | None = None, **fields: str) -> httpx.Response:
    """Open the page of a form and send it, as a browser does."""
    token = _FORM_TOKEN.search(browser.get(at or path).text)
    sent = fields | {"form_token": token[1] if token else ""}
    return browser.post(path, data=sent, headers={"Origin": str(browser.base_url).rstrip("/")})


if __name__ == "__main__":
    sys.exit(main())
