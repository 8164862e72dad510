"""A workspace with something on it, made without a browser."""

from collections.abc import Mapping, Sequence

from carrel_sdk import Workspace
from carrel_sdk.models import Candidate, Comparison, Generation, Judge, Preset, PresetDraft, RunLimits, Scoring

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


def stations(count: int) -> dict[str, str]:
    """So many short documents."""
    return {f"Station {number}": document(number) for number in range(count)}


def preset(
    workspace: Workspace,
    name: str,
    documents: Mapping[str, str],
    names: Sequence[str] = ("lexrank", "submodular", "lead"),
    *,
    concurrency: int = 8,
) -> Preset:
    """Candidates of these names, built in unless they have a provider's before them; both built-in judges."""
    inputs = [workspace.contents.create(title, "input_document", text) for title, text in documents.items()]
    judges = [Judge(model="local:reader"), Judge(model="local:statistician")]
    return workspace.presets.create(
        PresetDraft(
            name=name,
            inputs=[content.id for content in inputs],
            instructions=workspace.contents.create("Summarise", "generation_instructions", "Summarise it.").id,
            generation=Generation(
                candidates=[Candidate(label=one, model=one if ":" in one else f"local:{one}") for one in names]
            ),
            scoring=Scoring(judges=judges, criteria=workspace.contents.create("Criteria", "criteria", CRITERIA).id),
            comparison=Comparison(judges=judges, finalists=len(names)),
            limits=RunLimits(concurrency=concurrency),
        )
    )


def finished_run(workspace: Workspace, name: str = "Stations") -> str:
    """The id of a run that has ended."""
    return finish(workspace, preset(workspace, name, stations(4)))


def finish(workspace: Workspace, of: Preset) -> str:
    """Execute a preset to its end; the run's id."""
    run = workspace.presets.execute(of.id, name=of.name)
    for event in workspace.runs.events(run.id):
        if event.kind == "end":
            break
    return run.id
