"""What a wire protocol is: how a request becomes bytes, and what the bytes of an answer say."""

from typing import Literal, Protocol

from carrel.providers.base import Answer, Request
from carrel.providers.protocols.streamed import Streamed

Form = Literal["json_schema", "tool", "json_object", "words"]
"""How a judge is made to answer in JSON: by a schema that the server holds it to, as the input of a tool that it must
call, as some JSON object, or by the words of the prompt alone."""


class Wire(Protocol):
    """A protocol as bytes. Pure; the key stands in the headers alone."""

    @property
    def forms(self) -> tuple[Form, ...]:
        """How structured answers are asked for: the strongest first, the next once the one before was refused."""
        ...

    def can_be_called(self, name: str) -> bool:
        """Whether a model can have this name."""
        ...

    def headers(self, key: str) -> dict[str, str]:
        """What every request carries."""
        ...

    def call_url(self, base: str, model: str) -> str:
        """Where a model is called; `base` has no slash at its end."""
        ...

    def stream_url(self, base: str, model: str) -> str:
        """Where a model is called whose answer is to come piece by piece."""
        ...

    def models_url(self, base: str) -> str:
        """Where the models are listed."""
        ...

    def encoded(self, request: Request, form: Form, *, stream: bool = False) -> bytes:
        """The body of a call; with `stream` the answer is to come piece by piece.

        Raises:
            ProviderError: `parameter-not-supported`, the protocol has no word for what was set.
        """
        ...

    def answered(self, body: bytes) -> Answer | None:
        """What the body of a 200 says; `None` if it is no answer.

        Raises:
            ProviderError: `provider-overloaded`, the server says that it broke down on the way.
        """
        ...

    def streamed(self) -> Streamed:
        """A reader of one answer that comes piece by piece."""
        ...

    def models(self, body: bytes) -> tuple[str, ...] | None:
        """The names in a list of models, in order; `None` if the body is no such list."""
        ...
