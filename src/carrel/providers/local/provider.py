"""The provider `local`: built-in generators and judges that need no key and no network, in a worker process."""

from carrel.kit.clock import SystemClock
from carrel.kit.processes.jobs import WorkerError, WorkerTimedOut
from carrel.kit.processes.pool import WorkerPool
from carrel.providers.base import Answer, CombineMatter, GenerateMatter, ModelInfo, ModelRequest, ProviderError, Role
from carrel.providers.local.jobs import JOBS
from carrel.providers.local.judges import UnsupportedCriterion
from carrel.providers.local.work import answer

_GENERATORS = {
    "lead": "The first sentences of the document. Not a language model: the baseline that any other must beat.",
    "random": "Sentences drawn by lot, the same for the same document. Not a language model: the control.",
    "lexrank": "The sentences that most others resemble (LexRank, 2004). Not a language model: it only quotes.",
    "mmr": "Sentences that match the instructions and the document's theme and do not repeat each other "
    "(maximal marginal relevance, 1998). Not a language model: it only quotes.",
    "submodular": "Sentences that together cover the document and its sections (Lin & Bilmes, 2011). Not a language "
    "model: it only quotes.",
    "outline": "The sentence of each section that stands for it best, under its heading. Not a language model: it only "
    "quotes.",
}
_JUDGES = {
    "reader": "Counts recalled key phrases (numbers, names, repeated pairs of words), readability (LIX) and how much "
    "each sentence adds. Not a language model: it does not understand, and cannot tell truth.",
    "statistician": "Counts how alike the words of answer and document are distributed (Jensen–Shannon divergence), "
    "openings that point to nothing, and repeated trigrams. Not a language model: it does not understand, and cannot "
    "tell truth.",
}
_FAMILY = "local"
_COMBINERS = frozenset({"random", "lexrank", "mmr", "submodular"})
"""Those that choose sentences by their content, wherever they stand. `lead` would only repeat the answer that comes
first, and `outline` needs a document's sections, which answers do not have."""


class LocalProvider:
    """Built-in models. `workers` that the caller passes are used and stay open."""

    name = "local"

    def __init__(self, workers: WorkerPool | None = None) -> None:
        self._workers = workers or WorkerPool(JOBS, 1, SystemClock())
        self._owns_workers = workers is None

    def models(self) -> tuple[ModelInfo, ...]:
        """The generators, then the judges."""
        return (*_infos(_GENERATORS, "generate"), *_infos(_JUDGES, "judge"))

    async def complete(self, request: ModelRequest) -> Answer:
        """Return one answer to `request.matter`. Of the parameters it uses `max_output_tokens` (words) and `seed`.

        Raises:
            ProviderError: `model-unknown`, `role-not-supported`, `criterion-not-supported`; `provider-timeout` and
                `provider-crashed`, which another try may mend.
        """
        _check(request)
        try:
            return await self._workers.run(
                request.user,
                answer,
                request.model,
                request.matter,
                request.parameters.max_output_tokens,
                request.parameters.seed,
                timeout_seconds=request.timeout_seconds,
            )
        except UnsupportedCriterion:
            raise ProviderError("criterion-not-supported", retryable=False) from None
        except WorkerTimedOut:
            raise ProviderError("provider-timeout", retryable=True) from None
        except WorkerError:
            raise ProviderError("provider-crashed", retryable=True) from None

    async def close(self) -> None:
        """End the worker processes if the provider started them; calls in flight end with `provider-crashed`."""
        if self._owns_workers:
            await self._workers.close()


def can_combine(name: str) -> bool:
    """Whether a built-in generator can combine several answers into one."""
    return name in _COMBINERS


def _check(request: ModelRequest) -> None:
    writes = isinstance(request.matter, GenerateMatter | CombineMatter)
    wanted, others = (_GENERATORS, _JUDGES) if writes else (_JUDGES, _GENERATORS)
    if isinstance(request.matter, CombineMatter) and request.model in wanted and not can_combine(request.model):
        raise ProviderError("role-not-supported", retryable=False)
    if request.model not in wanted:
        raise ProviderError("role-not-supported" if request.model in others else "model-unknown", retryable=False)


def _infos(descriptions: dict[str, str], role: Role) -> tuple[ModelInfo, ...]:
    return tuple(
        ModelInfo(name=name, family=_FAMILY, roles=(role,), description=description)
        for name, description in descriptions.items()
    )
