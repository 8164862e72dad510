"""What the pictures show: the things on a workspace, where they are, and what is opened before a picture is taken."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final
from uuid import UUID

from carrel_sdk import Workspace
from carrel_sdk.models import Candidate, Choice, Comparison, Generation, Judge, Preset, PresetDraft, Rows, RunLimits
from playwright.async_api import Page, expect

from carrel.cli import demo
from tests.browser.contents import CRITERIA, finish, finished_run, preset, stations
from tests.browser.demo_website import PRICED, DemoWebsite
from tests.browser.pages import at_rest
from tests.support.model_server import Fault

GUIDES: Final = 18
EARLY: Final = ("submodular", "random", "lead")
EARLY_GUIDES: Final = 36
VOTES: Final = {"Ann": 30, "Bo": 20}
REASONS: Final = (
    "Leaves out what the decision costs.",
    "Too long for what it says.",
    "Clearer, and the decision comes first.",
    "Hm, a matter of taste.",
    "Shorter, and nothing is missing.",
    "Hard to follow without the record.",
)
"""Of every second vote, by turns."""
TABS: Final = (
    *("verdict", "answers", "documents", "people", "figures", "judges", "matrix", "what-if", "tasks", "log", "report"),
)
SETTINGS: Final = ("usage", "ledger", "github", "data", "sessions", "programs")
UNFINISHED, TRIED = str(UUID(int=1)), str(UUID(int=2))
"""Two comparisons that have not started."""
EMPTY: Final = {
    "empty-runs": "/runs",
    "empty-presets": "/presets",
    "empty-library": "/library",
    "empty-data-sets": "/library/data-sets",
    "empty-keys": "/models?tab=keys",
    "empty-leaderboard": "/leaderboard",
}
"""Pages of a workspace that nobody has used yet."""
SCROLLED: Final = {
    "run-people": "What people would say",
    "run-looks": "Looks on the way",
    "run-overturning": "Method, and what could overturn it",
    "run-against": "People against the judges",
    "run-proposed": "Criteria from what you said",
    "run-live-answers": "Answers as they come",
    "leaderboard-chart": "Quality against cost and length",
    "leaderboard-candidates": "Candidates",
}
"""Parts of a page that begin below its first screen, by their headings."""
TABLE: Final = "id,question,language,expected\n" + "".join(
    f"{number},When was the tower of station {number} built?,{('English', 'German')[number % 2]},{1890 + number}\n"
    for number in range(30)
)


async def _booth(page: Page) -> None:
    await expect(page.get_by_role("dialog").get_by_text("The first is better")).to_be_visible()
    await page.get_by_role("textbox", name="Why?").fill("Names the ship, and is half as long.")


async def _note(page: Page) -> None:
    await page.get_by_role("button", name="Note", exact=False).first.click()
    await page.get_by_role("dialog").get_by_role("textbox").fill("Leaves out the date, which is what I look for.")


async def _glossary(page: Page) -> None:
    words = page.get_by_role("button", name="What the words mean")
    await words.click()
    await words.evaluate("element => element.scrollIntoView()")


async def _trial(page: Page) -> None:
    if not await page.get_by_role("region", name="Tried on").is_visible():
        await page.get_by_role("button", name="Take the sample", exact=True).click()
        await page.get_by_role("button", name="Try on one").click()
        await expect(page.get_by_role("region", name="Tried on").get_by_role("article")).to_have_count(3)
        await expect(page.get_by_text("draft saved")).to_be_visible()
        await at_rest(page)
    await page.get_by_role("region", name="Tried on").evaluate("element => element.scrollIntoView()")


async def _live(page: Page) -> None:
    # How fast it goes is known after a second of looking.
    await expect(page.locator(".figure", has_text="Rate").locator("dd")).not_to_have_text("–", timeout=30_000)


OPENED: Final[Mapping[str, Callable[[Page], Awaitable[None]]]] = {
    "run-booth": _booth,
    "run-note": _note,
    "run-glossary": _glossary,
    "compare-tried": _trial,
    "run-live": _live,
}
"""What is done on a page before its picture."""


def furnish(workspace: Workspace, website: DemoWebsite) -> Mapping[str, str]:
    """Something to see on each page; where it is."""
    workspace.provider_keys.store("openai", website.models.key, base_url=website.models.base_url)
    first = finished_run(workspace, "Station books, first look")
    again = finish(workspace, preset(workspace, "Station books, once more", stations(4), ("lexrank", "mmr", "lead")))
    # The last ones are records of decisions, which are short.
    guides = {one.name: one.body for one in demo.documents_of(None)[-GUIDES:]}
    of_guides = preset(workspace, "Which summary reads best?", guides, demo.GENERATORS)
    run = finish(workspace, of_guides)
    ranked = _ranked(workspace, guides)
    early = _with_looks(workspace, of_guides, {one.name: one.body for one in demo.documents_of(None)[-EARLY_GUIDES:]})
    for voter, votes in VOTES.items():
        _vote(workspace, early, voter, votes)
    workspace.judges.check("local:reader")
    a_preset = preset(workspace, "Summaries of the station books", stations(12))
    criteria = workspace.contents.create("What a good summary is", "criteria", CRITERIA).id
    table = workspace.data_sets.upload("towers.csv", TABLE.encode()).id
    of_rows = _with_rows(workspace, table)
    finish(workspace, of_rows)
    website.models.faults(Fault("status", match="Station 1"))
    failed = finish(workspace, _with_models(workspace, "With a model that fails", stations(4)))
    website.models.faults()
    # Slow enough that it is under way as long as the pictures take.
    website.models.latency(6_000)
    paused = _with_models(workspace, "Paused for the night", stations(12))
    pausing = workspace.presets.execute(paused.id, name=paused.name)
    workspace.runs.pause(pausing.id)
    under_way = _with_models(workspace, "With language models", stations(120))
    live = workspace.presets.execute(under_way.id, name=under_way.name)
    unfinished = {"name": "Letters of the keeper", "documents": a_preset.inputs[:3]}
    workspace.presets.save_draft(UNFINISHED, "Letters of the keeper", unfinished, form="comparison")
    places = {"runs": "/runs", "run-live": f"/runs/{live.id}", "run-live-answers": f"/runs/{live.id}"}
    places |= {"run-failed": f"/runs/{failed}", "run-paused": f"/runs/{pausing.id}"}
    places |= {f"run-{tab}": f"/runs/{run}?tab={tab}" for tab in TABS}
    places |= {"run-failed-tasks": f"/runs/{failed}?tab=tasks", "beside": f"/runs/compare/{first}/{again}"}
    places |= {
        "compare": f"/compare?draft={UUID(int=3)}",
        "compare-tried": f"/compare?draft={TRIED}",
        "trends": f"/presets/{of_rows.id}/trends",
    }
    places |= {"presets": "/presets", "preset": f"/presets/{a_preset.id}"}
    places |= {"library": "/library", "text": f"/library/{a_preset.inputs[0]}", "criteria": f"/library/{criteria}"}
    places |= {"data-sets": "/library/data-sets", "data-set": f"/library/data-sets/{table}"}
    places |= {"models": "/models", "keys": "/models?tab=keys", "rate-limits": "/models?tab=limits"}
    for model, price in (("ollama:llama3.1:8b", "0.05"), ("vllm", "0.4")):
        workspace.models.set_price(model, input_per_million=price, output_per_million=price)
    places |= {"prices": "/models?tab=prices"}
    places |= {"judges": "/models?tab=judges", "account": "/account", "leaderboard": f"/leaderboard?run={ranked}"}
    places |= dict.fromkeys(("leaderboard-chart", "leaderboard-candidates"), places["leaderboard"])
    places |= {f"account-{tab}": f"/account?tab={tab}" for tab in SETTINGS}
    places |= {"run-judges": f"/runs/{early}?tab=judges", "run-against": f"/runs/{early}?tab=people"}
    places |= {"run-proposed": f"/runs/{early}?tab=people"}
    places |= {"criteria-from-votes": f"/library/new?type=criteria&votes={early}"}
    places |= {"run-booth": f"/runs/{run}?tab=people&vote=now", "run-note": f"/runs/{run}?tab=documents"}
    places |= {"run-glossary": f"/runs/{run}?tab=figures", "embedded": f"/runs/{run}"}
    places |= dict.fromkeys(("run-looks", "run-overturning"), f"/runs/{early}?tab=figures")
    places["run-people"] = f"/runs/{early}?tab=people"
    return {name: f"/desk#{place}" for name, place in places.items()}


def _with_models(workspace: Workspace, name: str, documents: Mapping[str, str]) -> Preset:
    like = preset(workspace, name, documents)
    candidates = [
        Candidate(label="alpha", model="openai:alpha"),
        Candidate(label="by the rank of its sentences", model="local:lexrank"),
    ]
    draft = PresetDraft(
        name=name,
        inputs=like.inputs,
        instructions=like.instructions,
        generation=Generation(candidates=candidates),
        scoring=like.scoring,
        limits=RunLimits(concurrency=2),
    )
    made = workspace.presets.create(draft)
    workspace.presets.delete(like.id)
    return made


def _ranked(workspace: Workspace, documents: Mapping[str, str]) -> str:
    """A run and, with one candidate changed, another one of the same preset; the id of the last."""
    models = [f"openai:{name}" for name in PRICED]
    for model, price in zip(models, ("1.25", "0.25", "0.05"), strict=True):
        workspace.models.set_price(model, input_per_million=price, output_per_million=price)
    made = preset(workspace, "Summaries with and without a price", documents, (*models, "lead"))
    finish(workspace, made)
    made.generation.candidates[-1] = Candidate(label="by rank", model="local:lexrank")
    return finish(workspace, workspace.presets.save(made))


def _with_rows(workspace: Workspace, table: str) -> Preset:
    return workspace.presets.create(
        PresetDraft(
            name="Questions about towers",
            rows=Rows(data_set=table),
            instructions=workspace.contents.create(
                "Answer", "generation_instructions", "Answer in one sentence: {{question}}"
            ).id,
            generation=Generation(
                candidates=[Candidate(label=one, model=f"openai:{one}") for one in ("alpha", "beta")]
            ),
            comparison=Comparison(judges=[Judge(model="openai:judge-one")]),
        )
    )


def _with_looks(workspace: Workspace, like: Preset, documents: Mapping[str, str]) -> str:
    """A run that may stop early, with a candidate that lags far behind; its id."""
    inputs = [workspace.contents.create(title, "input_document", text).id for title, text in documents.items()]
    draft = PresetDraft(
        name="Three summarisers, stopping early",
        inputs=inputs,
        instructions=like.instructions,
        generation=Generation(candidates=[Candidate(label=one, model=f"local:{one}") for one in EARLY]),
        comparison=Comparison(judges=[Judge(model="local:reader")], stop_when_decided=True),
        limits=like.limits,
    )
    return finish(workspace, workspace.presets.create(draft))


def _vote(workspace: Workspace, run: str, voter: str, votes: int) -> None:
    """Voters like answers with more of the document's words. Each is of another mind about every sixth pair."""
    for number in range(votes):
        ballot = workspace.votes.next(run, voter=voter)
        if ballot is None:
            return
        words = set(ballot.document.lower().split())
        first, second = (len(words & set(text.lower().split())) for text in (ballot.first, ballot.second))
        likes_first = (first > second) != ((number + len(voter)) % 6 == 0)
        word: Choice = "tie" if first == second else "first" if likes_first else "second"
        reason = "" if number % 2 else REASONS[number // 2 % len(REASONS)]
        workspace.votes.cast(run, ballot.pair, word, reason=reason)
