"""A local server that takes what the documentation of Vertex AI describes: Gemini and Claude, for tokens of an account.

A token is given for a statement that the key of the service account signed (RFC 7523), and checked here by hand.
"""

import base64
import json
import time
from functools import cache
from typing import Any, Final

import msgspec
from aiohttp import web
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.support.strict_anthropic import MessagesAsked, message, messages_fault
from tests.support.strict_google import GenerateAsked, Google, content, generate_fault

PROJECT, EMAIL, KEY_ID = "canary-project", "bench@canary-project.iam.gserviceaccount.com", "0123456789abcdef"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_VERSION: Final = "vertex-2023-10-16"


@cache
def account_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


class Vertex(Google):
    """Models of Google and of Anthropic below a project, a list of models, and `POST /token`."""

    def __init__(self, *models: str) -> None:
        super().__init__(*models)
        self.tokens: list[str] = []
        self.grants = True
        self.answers: list[dict[str, Any]] = []

    @property
    def key(self) -> str:
        """The file of the service account."""
        pem = account_key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        return json.dumps(
            {
                "type": "service_account",
                "project_id": PROJECT,
                "private_key_id": KEY_ID,
                "private_key": pem,
                "client_email": EMAIL,
                "client_id": "1",
                "token_uri": f"{self.base_url}/token",
                "universe_domain": "googleapis.com",
            },
            indent=2,
        )

    def routes(self) -> list[web.RouteDef]:
        below = f"/v1/projects/{PROJECT}/locations/global/publishers"
        return [
            web.post("/token", self.grant),
            web.post(below + "/google/models/{model}:generateContent", self.call),
            web.post(below + "/google/models/{model}:streamGenerateContent", self.call),
            web.post(below + "/anthropic/models/{model}:rawPredict", self.call),
            web.post(below + "/anthropic/models/{model}:streamRawPredict", self.call),
            web.get("/v1beta1/publishers/google/models", self.listing),
        ]

    async def grant(self, request: web.Request) -> web.Response:
        form = await request.post()
        try:
            stated = _claims(str(form["assertion"])) if form["grant_type"] == _GRANT else {}
        except (KeyError, ValueError, InvalidSignature):
            stated = {}
        expected = {"iss": EMAIL, "scope": _SCOPE, "aud": f"{self.base_url}/token"}
        lives = stated.get("exp", 0) - stated.get("iat", 0)
        if {name: stated.get(name) for name in expected} != expected or not (0 < lives <= 3_600 and self.grants):
            said = {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}
            return web.json_response(said, status=400)
        self.tokens.append(f"ya29.canary-{len(self.tokens)}-{time.monotonic_ns()}")
        return web.json_response({"access_token": self.tokens[-1], "expires_in": 3_599, "token_type": "Bearer"})

    def unwelcome(self, request: web.Request) -> web.Response | None:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token not in self.tokens or "x-goog-api-key" in request.headers:
            return self._error(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
        return None

    def judged(self, request: web.Request, body: bytes) -> web.Response:
        model, method = request.path.rpartition("/")[2].split(":")
        if model not in self.models:
            return self._error(404, "NOT_FOUND", f"Publisher Model {model} was not found")
        if "Predict" in method:
            return self._predicted(model, method, body)
        if model.startswith("claude"):
            said = f"{model} is not supported in the {method} API."
            return self._error(400, "FAILED_PRECONDITION", said)
        try:
            asked = msgspec.json.decode(body, type=GenerateAsked)
        except msgspec.DecodeError as refused:
            return self._error(400, "INVALID_ARGUMENT", f"Invalid JSON payload received. Unknown name: {refused}")
        trouble = generate_fault(model, asked)
        if trouble is not None:
            return self._error(400, "INVALID_ARGUMENT", trouble)
        answer = content(model, asked, body)
        self.answers.append({"model": model, **answer})
        return web.json_response(answer) if method == "generateContent" else _events([answer])

    def _predicted(self, model: str, method: str, body: bytes) -> web.Response:
        said = json.loads(body)
        if said.pop("anthropic_version", None) != _VERSION or "model" in said:
            return _refused("anthropic_version: Field required, model: Extra inputs are not permitted")
        try:
            asked = msgspec.convert({"model": model, **said}, MessagesAsked)
        except msgspec.ValidationError as refused:
            return _refused(f"Extra inputs are not permitted: {refused}")
        trouble = messages_fault(asked)
        if trouble is not None:
            return _refused(trouble)
        answer = message(asked, body)
        self.answers.append(answer)
        return web.json_response(answer) if method == "rawPredict" else _events(_of_message(answer))

    def listed(self) -> dict[str, Any]:
        names = (*self.models, "imagen-4", "text-embedding-5")
        return {"publisherModels": [{"name": f"publishers/google/models/{name}", "versionId": "1"} for name in names]}


def _claims(assertion: str) -> dict[str, Any]:
    head, body, signature = assertion.split(".")
    account_key().public_key().verify(_plain(signature), f"{head}.{body}".encode(), padding.PKCS1v15(), hashes.SHA256())
    if json.loads(_plain(head)) != {"alg": "RS256", "typ": "JWT", "kid": KEY_ID}:
        raise ValueError
    found: dict[str, Any] = json.loads(_plain(body))
    return found


def _plain(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _refused(text: str) -> web.Response:
    said = {"type": "error", "error": {"type": "invalid_request_error", "message": text}}
    return web.json_response(said, status=400)


def _events(events: list[dict[str, Any]]) -> web.Response:
    lines = "".join(f"data: {json.dumps(event)}\r\n\r\n" for event in events)
    return web.Response(text=lines, content_type="text/event-stream")


def _of_message(answer: dict[str, Any]) -> list[dict[str, Any]]:
    text = answer["content"][-1]["text"]
    start = answer | {"content": [], "usage": answer["usage"] | {"output_tokens": 1}}
    return [
        {"type": "vertex_event", "usage": {}},
        {"type": "message_start", "message": start},
        {"type": "ping"},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": answer["usage"]},
        {"type": "message_stop"},
    ]
