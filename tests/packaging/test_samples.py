"""The data folder of every released version, opened by this one."""

import tarfile
from pathlib import Path

import pytest
from carrel_sdk import Host, Workspace

from tests.packaging import samples


@pytest.mark.parametrize("sample", samples.kept(), ids=lambda path: path.name.removesuffix(".tar.gz"))
def test_the_data_folder_of_a_released_version_is_opened_with_its_users_texts_and_verdicts(
    sample: Path, tmp_path: Path
) -> None:
    service = samples.service_in(tmp_path)
    with tarfile.open(sample) as archive:
        archive.extractall(service.data_dir, filter="data")
    service.start()
    host = Host(service.url, service.plugin_secret)
    with Workspace(service.url, host.sign_in(samples.UUID, samples.PASSWORD).token) as workspace:
        (run,) = workspace.runs.find()
        assert (run.state, bool(workspace.runs.get(run.id).verdict)) == ("completed", True)
        (preset,) = workspace.presets.each()
        assert samples.TEXT in workspace.contents.get(workspace.presets.get(preset.id).inputs[0]).body
        again = workspace.runs.wait(workspace.presets.execute(preset.id).id, timeout=120)
        assert again.state == "completed"
    host.close()
    assert service.stop() == 0
