"""What the workers of the engine may do: answer as a built-in model, check answers, and rank what judges said."""

from carrel.checks import marking
from carrel.kit.processes.jobs import Jobs
from carrel.providers.local import jobs as models
from carrel.providers.local.work import answer
from carrel.runs.judging import judgement

JOBS = Jobs(
    "models",
    __name__,
    (answer, judgement.decide, judgement.conclude, marking.mark),
    errors=models.ERRORS,
    prepare=models.prepare,
)
