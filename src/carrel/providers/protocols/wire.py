"""What a wire protocol does: it turns a request into bytes, and the bytes of an answer into an answer."""

from typing import Literal, Protocol

from carrel.providers.base import Answer, ModelRequest
from carrel.providers.protocols.streamed import StreamReader

Form = Literal["json_schema", "tool", "json_object", "words"]
"""How Carrel makes a model answer in JSON: by a schema that the server enforces, as the input of a tool that the model
must call, as any JSON object, or by the words of the prompt alone."""


class Wire(Protocol):
    """A protocol as bytes. Pure. The key goes into the headers only."""

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms in which to ask for a structured answer: the strongest first. After a refusal the next is used."""
        ...

    def can_be_called(self, name: str) -> bool:
        """Whether a model can have this name."""
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

    def encoded(self, request: ModelRequest, form: Form, *, stream: bool = False) -> bytes:
        """Build the body of a call. With `stream` it asks for an answer piece by piece.

        Raises:
            ProviderError: `parameter-not-supported`, the protocol has no word for what was set.
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

    def models(self, body: bytes) -> tuple[str, ...] | None:
        """The names in a list of models, in order; `None` if the body is not such a list."""
        ...
