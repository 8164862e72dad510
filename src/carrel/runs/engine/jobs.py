"""What the workers of the engine may do: answer as a built-in model, check answers, and rank what judges said."""

from carrel.checks import jobs as checks
from carrel.checks import work
from carrel.kit.processes.jobs import Jobs
from carrel.providers.local import jobs as models
from carrel.providers.local.work import answer
from carrel.runs.verdicts import judgement


def prepare() -> None:
    """Import what only models and checks need."""
    models.prepare()
    checks.prepare()


JOBS = Jobs(
    "models",
    __name__,
    (answer, judgement.decide, judgement.conclude, work.mark, work.fields),
    errors=models.ERRORS,
    prepare=prepare,
)
