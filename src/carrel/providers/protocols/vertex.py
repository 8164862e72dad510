"""Google's Vertex AI: the models of Google and of Anthropic, below a project and a location of the user's.

Written to the public documentation of v1. Bodies and answers are those of generateContent and of Anthropic's messages;
only addresses and headers differ. Tokens stand in for keys.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

import msgspec

from carrel.providers.base import ModelRequest
from carrel.providers.protocols.anthropic_messages import MessagesWire
from carrel.providers.protocols.google_generate import GenerateWire
from carrel.providers.protocols.wire import NO_QUIRKS, Form, ModelPage, Quirks

_VERSION: Final = "vertex-2023-10-16"
_PUBLISHED: Final = "publishers/google/models/"
_LISTED: Final = ("gemini", "gemma")
"""The list has pictures, films and vectors, too, and nothing in it tells them apart but their names."""


class VertexWire(GenerateWire):
    """generateContent at Vertex. Pure."""

    def headers(self, key: str) -> dict[str, str]:
        """A token."""
        return {"Authorization": f"Bearer {key}"}

    def call_url(self, base: str, model: str) -> str:
        """The URL of the model, below the project and the location."""
        return f"{base}/{_PUBLISHED}{_segment(model)}:generateContent"

    def stream_url(self, base: str, model: str) -> str:
        """The URL of another method."""
        return f"{base}/{_PUBLISHED}{_segment(model)}:streamGenerateContent?alt=sse"

    def models_url(self, base: str) -> str:
        """The URL of one page that lists models of every project."""
        host = base.partition("/v1/")[0]
        return f"{host}/v1beta1/{_PUBLISHED.rstrip('/')}?pageSize=300"

    def models(self, body: bytes) -> ModelPage | None:
        """The models in a page of a list, of those that write text."""
        page = super().models(body)
        if page is None:
            return None
        listed = (one._replace(name=one.name.removeprefix(_PUBLISHED)) for one in page.models if _writes(one.name))
        return page._replace(models=tuple(listed))


class VertexMessagesWire(MessagesWire):
    """Anthropic's messages at Vertex. Pure."""

    def headers(self, key: str) -> dict[str, str]:
        """A token."""
        return {"Authorization": f"Bearer {key}"}

    def call_url(self, base: str, model: str) -> str:
        """The URL of the model, below the project and the location."""
        return f"{base}/publishers/anthropic/models/{_segment(model)}:rawPredict"

    def stream_url(self, base: str, model: str) -> str:
        """The URL of another method."""
        return f"{base}/publishers/anthropic/models/{_segment(model)}:streamRawPredict"

    def encoded(self, request: ModelRequest, form: Form, quirks: Quirks = NO_QUIRKS, *, stream: bool = False) -> bytes:
        """The body of a call: the model stands in the URL, and the version of the protocol here."""
        body: Mapping[str, msgspec.Raw] = msgspec.json.decode(
            super().encoded(request, form, quirks, stream=stream), type=dict[str, msgspec.Raw]
        )
        named = {name: value for name, value in body.items() if name != "model"}
        return msgspec.json.encode({"anthropic_version": _VERSION, **named})


def _writes(name: str) -> bool:
    return not name.startswith(_PUBLISHED) or name.removeprefix(_PUBLISHED).startswith(_LISTED)


def _segment(model: str) -> str:
    return quote(model.removeprefix("models/"), safe="")
