"""Data folders as released versions left them, which every later version opens; `__main__` makes the one of today."""

import os
import tarfile
from pathlib import Path

from carrel_sdk import Host, Workspace
from carrel_sdk.models import Candidate, Comparison, Generation, Judge, PresetDraft

from tests.support.service import Service

FOLDER = Path(__file__).parent
UUID, PASSWORD = "reader-1", "the password of the sample"
PLUGIN_SECRET, SERVICE_KEY = "sample-plugin-secret-0123456789abcdef", "0123456789abcdef" * 4
TEXT = "The harbour opened in 1817. It froze in the long winter. The owners rebuilt its roof in stone. "
NOT_OF_IT = {"lock", "reserve"}


def kept() -> list[Path]:
    """The samples, by version."""
    return sorted(FOLDER.glob("*.tar.gz"))


def service_in(folder: Path) -> Service:
    """A service with the secrets of the samples."""
    return Service(folder, PLUGIN_SECRET, service_key=SERVICE_KEY, settings={"CARREL_FREE_PLAN": "full"})


def make(folder: Path, sample: Path) -> None:
    """Write the data folder of a user with texts and a finished run."""
    service = service_in(folder)
    service.start()
    token = Host(service.url, service.plugin_secret).sign_up(UUID, password=PASSWORD).token
    with Workspace(service.url, token) as it:
        texts = [it.contents.create(f"Text {n}", "input_document", f"{TEXT}{n} ships came. " * 3) for n in range(6)]
        preset = it.presets.create(
            PresetDraft(
                name="Which summary?",
                inputs=[text.id for text in texts],
                instructions=it.contents.create("Prompt", "generation_instructions", "Summarise it.").id,
                generation=Generation(candidates=[Candidate(model="local:mmr"), Candidate(model="local:lead")]),
                comparison=Comparison(judges=[Judge(model="local:reader")]),
            )
        )
        assert it.runs.wait(it.presets.execute(preset.id).id, timeout=120).state == "completed"
    assert service.stop() == 0
    with tarfile.open(sample, "w:gz") as archive:
        for name in sorted(set(os.listdir(service.data_dir)) - NOT_OF_IT):
            archive.add(service.data_dir / name, name)
