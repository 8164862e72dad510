"""`make profile`: the samples come from the service, and they name its own functions."""

from pathlib import Path

import pytest
from pyinstrument.renderers import ConsoleRenderer

from benchmarks.profile import LOADS, profiled

pytestmark = pytest.mark.slow


def test_a_profile_of_reads_names_the_route_that_was_read(tmp_path: Path) -> None:
    session = profiled(tmp_path, LOADS["read"])
    assert session.sample_count > 100
    assert "read_content" in ConsoleRenderer(show_all=True).render(session)
