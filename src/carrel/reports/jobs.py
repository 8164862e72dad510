"""What the workers of reports may do: make a run's report, and rank what judges said, also over several runs."""

import importlib

from carrel.kit.processes.jobs import Jobs
from carrel.reports import rendering
from carrel.reports.grid import figures
from carrel.runs.gate import deciding
from carrel.runs.judging import judgement
from carrel.runs.leaderboard import passports
from carrel.runs.splits import splitting


def prepare() -> None:
    """Import and compile what only pages and rankings need."""
    importlib.import_module("numpy")
    importlib.import_module("carrel.reports.page").prepare()


JOBS = Jobs(
    "reports",
    __name__,
    (
        rendering.as_json,
        rendering.as_page,
        rendering.as_entries,
        judgement.answer,
        passports.drawn,
        deciding.decide,
        splitting.split_packed,
        figures.of,
    ),
    prepare=prepare,
)
