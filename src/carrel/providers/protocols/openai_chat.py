"""OpenAI's chat completions, which many servers speak; a dialect says what differs from server to server."""

from carrel.providers.base import Answer, ModelRequest
from carrel.providers.protocols import names, openai_wire
from carrel.providers.protocols.openai_stream import ChatStreamReader
from carrel.providers.protocols.openai_wire import PLAIN, Dialect
from carrel.providers.protocols.streamed import StreamReader
from carrel.providers.protocols.wire import NO_QUIRKS, Form, ModelPage, Quirks

_DEPLOYMENTS = "/deployments/"
"""The part of Azure's base URLs that names one deployment. URLs that end in `/openai/v1` need no version."""


class ChatWire:
    """Chat completions in one dialect."""

    stops_empty = False

    def __init__(self, dialect: Dialect = PLAIN) -> None:
        self.dialect = dialect
        self.forms: tuple[Form, ...] = dialect.forms

    def headers(self, key: str) -> dict[str, str]:
        """The key, in the server's own header."""
        return {self.dialect.key_header: self.dialect.key_prefix + key}

    def call_url(self, base: str, model: str) -> str:
        """The same URL for every model; the base of a classic Azure URL names the deployment."""
        return f"{base}/chat/completions{self._query(base)}"

    def stream_url(self, base: str, model: str) -> str:
        """The same URL: the body asks for an answer piece by piece."""
        return self.call_url(base, model)

    def models_url(self, base: str) -> str:
        """The URL that lists the models: beside the deployments, not below one of them."""
        listing = base.partition(_DEPLOYMENTS)[0] if self._query(base) else base
        return f"{listing}/models{self._query(base)}"

    def encoded(self, request: ModelRequest, form: Form, quirks: Quirks = NO_QUIRKS, *, stream: bool = False) -> bytes:
        """The body of a call; see `openai_wire.encoded`."""
        return openai_wire.encoded(request, self.dialect, form, quirks, stream=stream)

    def answered(self, body: bytes) -> Answer | None:
        """Read the body of a 200; see `openai_wire.answered`."""
        return openai_wire.answered(body)

    def streamed(self) -> StreamReader:
        """Make a reader for one stream."""
        return ChatStreamReader()

    def models(self, body: bytes) -> ModelPage | None:
        """The models in a list, which is never cut into pages."""
        found = names.entries(body)
        return None if found is None else ModelPage(names.listed(found))

    def _query(self, base: str) -> str:
        version = self.dialect.deployment_version
        return f"?api-version={version}" if version is not None and _DEPLOYMENTS in base else ""
