"""What the workers of reports may do: make a run's report, and rank what judges said, also over several runs."""

import importlib

from carrel.evaluation import classes
from carrel.judges import run_passports
from carrel.kit.processes.jobs import Jobs
from carrel.reports import rendering
from carrel.reports.grid import figures
from carrel.runs.findings import gate_decision, split_parts
from carrel.runs.verdicts import judgement


def prepare() -> None:
    """Import and read what only pages and rankings need."""
    importlib.import_module("numpy")
    importlib.import_module("carrel.reports.page").prepare()


JOBS = Jobs(
    "reports",
    __name__,
    (
        rendering.as_json,
        rendering.as_page,
        rendering.as_memo,
        rendering.as_entries,
        judgement.answer,
        run_passports.drawn,
        gate_decision.decide,
        gate_decision.replace,
        split_parts.split_packed,
        classes.results,
        figures.encoded,
    ),
    prepare=prepare,
)
