"""A desk with something on it, made without a browser."""

from carrel_sdk import Workspace
from carrel_sdk.configuration import Candidate, Comparison, Generation, Judge, RunLimits, Scoring
from carrel_sdk.presets import Preset, PresetDraft

CRITERIA = "- name: coverage\n- name: clarity\n"
SENTENCES = (
    "A lighthouse keeper writes down every ship that passes in the night.",
    "The book of ships is read aloud in the harbour each Sunday morning.",
    "Fishermen learn from the book which way the currents have turned.",
    "In 1904 the tower was raised by seven metres of grey local stone.",
    "Nobody has counted how many storms the old lamp has seen since then.",
    "A second keeper came when the night watches had become too long.",
    "They paint the gallery white whenever the swallows have left.",
)


def document(number: int) -> str:
    turned = SENTENCES[number % 7 :] + SENTENCES[: number % 7]
    return f"# Station {number}\n\n" + "\n\n".join(" ".join(turned[part:] + turned[:part]) for part in range(4))


def preset(workspace: Workspace, name: str, *, documents: int, concurrency: int = 8, extra: str = "") -> Preset:
    """Three built-in candidates, both judges."""
    inputs = [
        workspace.contents.create(f"Station {n}", "input_document", document(n) + extra) for n in range(documents)
    ]
    judges = [Judge(model="local:reader"), Judge(model="local:statistician")]
    names = ("lexrank", "submodular", "lead")
    return workspace.presets.create(
        PresetDraft(
            name=name,
            inputs=[content.id for content in inputs],
            instructions=workspace.contents.create("Summarise", "generation_instructions", "Summarise it.").id,
            generation=Generation(candidates=[Candidate(label=one, model=f"local:{one}") for one in names]),
            scoring=Scoring(judges=judges, criteria=workspace.contents.create("Criteria", "criteria", CRITERIA).id),
            comparison=Comparison(judges=judges, finalists=3),
            limits=RunLimits(concurrency=concurrency),
        )
    )


def finished_run(workspace: Workspace, name: str = "Stations") -> str:
    """The id of a run that has ended."""
    run = workspace.presets.execute(preset(workspace, name, documents=4).id, name=name)
    for event in workspace.runs.events(run.id):
        if event.kind == "end":
            break
    return run.id
