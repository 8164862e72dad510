"""What a wire protocol does: it turns a request into bytes, and the bytes of an answer into an answer."""

from typing import Literal, NamedTuple, Protocol

from carrel.providers.base import Answer, ModelRequest, ProviderError
from carrel.providers.protocols.names import Listed
from carrel.providers.protocols.streamed import StreamReader

Form = Literal["json_schema", "tool", "json_object", "words"]
"""How Carrel makes a model answer in JSON: by a schema that the server enforces, as the input of a tool that the model
must call, as any JSON object, or by the words of the prompt alone."""


class Quirks(NamedTuple):
    """What a server has refused for a model, and what it told about it: later requests are made so at once.

    `in_second`: the model answers in its provider's second protocol. `window` is how many tokens the model reads and
    writes together, and `most_output` how many it writes.
    """

    other_limit_word: bool = False
    no_system: bool = False
    no_stream_options: bool = False
    no_summary: bool = False
    in_second: bool = False
    whole_only: bool = False
    window: int | None = None
    most_output: int | None = None


NO_QUIRKS = Quirks()


class ModelPage(NamedTuple):
    """Models as a server lists them. `following` is what the URL of the next page has in its query."""

    models: tuple[Listed, ...]
    following: str | None = None


class Wire(Protocol):
    """A protocol as bytes. Pure. The key goes into the headers only."""

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms in which to ask for a structured answer: the strongest first. After a refusal the next is used."""
        ...

    def headers(self, key: str) -> dict[str, str]:
        """The headers that every request carries."""
        ...

    def call_url(self, base: str, model: str) -> str:
        """The URL that calls a model; `base` has no slash at its end."""
        ...

    def stream_url(self, base: str, model: str) -> str:
        """The URL that calls a model for an answer piece by piece."""
        ...

    def models_url(self, base: str) -> str:
        """The URL that lists the models."""
        ...

    @property
    def stops_empty(self) -> bool:
        """Whether models end by chance without a word, so that an empty answer is asked for once more."""
        ...

    def encoded(self, request: ModelRequest, form: Form, quirks: Quirks = NO_QUIRKS, *, stream: bool = False) -> bytes:
        """Build the body of a call. With `stream` it asks for an answer piece by piece.

        Raises:
            ProviderError: `parameter-not-supported`, the protocol has no word for what was set, or
                `thinking-budget-too-high`.
        """
        ...

    def answered(self, body: bytes) -> Answer | None:
        """Read the body of a 200; `None` if it is not an answer.

        Raises:
            ProviderError: `provider-overloaded`, the server says that it failed on the way.
        """
        ...

    def streamed(self) -> StreamReader:
        """Make a reader for one answer that comes piece by piece."""
        ...

    def models(self, body: bytes) -> ModelPage | None:
        """The models in a page of a list; `None` if the body is not such a list."""
        ...


def check_thinking_budget(request: ModelRequest) -> None:
    """Refuse a call in which the model could only think, for servers that want thoughts and answer in one limit.

    Raises:
        ProviderError: `thinking-budget-too-high`.
    """
    budget = request.parameters.thinking_budget
    if budget is not None and budget >= request.output_limit:
        raise ProviderError("thinking-budget-too-high", retryable=False, unbilled=True)
