"""A rekey for which the user did not type the old password: by the key in the service's memory, or by an unsealed one.

`Host.change_password` covers the usual case. This is the one call to the service that the SDK has no method for.
"""

import json
from typing import Final

import httpx
from carrel_sdk import CarrelApiError, CarrelUnreachable

REKEY_SECONDS: Final = 300.0
"""A rekey writes the whole database anew."""
_CERTAIN: Final = frozenset({400, 401, 409, 503})
"""Carrel's own refusals, after which nothing has changed."""


class Rekey:
    """`POST /auth/rekey`, proven by the plugin secret."""

    def __init__(self, service_url: str, plugin_secret: str, http: httpx.BaseTransport | None) -> None:
        self._client = httpx.Client(
            base_url=service_url,
            headers={"X-SVC-Plugin-Secret": plugin_secret},
            timeout=httpx.Timeout(REKEY_SECONDS, connect=1.0),
            transport=http,
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __call__(self, uuid: str, new_key: bytes, old_key: bytes | None = None) -> None:
        """Re-encrypt the desk for `new_key`. Without an `old_key`, the service takes the one in its memory.

        Raises:
            CarrelApiError: the service refused; `old-key-required`, `key-rejected`. Nothing has changed.
            CarrelUnreachable: no answer; `sent` says whether it may have happened all the same.
        """
        body = {"uuid": uuid, "new_db_key_hex": new_key.hex()}
        if old_key is not None:
            body["old_db_key_hex"] = old_key.hex()
        try:
            answer = self._client.post("/api/auth/rekey", json=body)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise CarrelUnreachable("the service cannot be reached", sent=False) from None
        except httpx.TransportError:
            raise CarrelUnreachable("the service did not answer", sent=True) from None
        if answer.is_success:
            return
        code = _code(answer)
        if answer.status_code not in _CERTAIN or code is None:
            raise CarrelUnreachable("the answer does not say what happened", sent=True)
        raise CarrelApiError(answer.status_code, code, "the desk was not re-encrypted")


def _code(answer: httpx.Response) -> str | None:
    """Carrel's own code; a proxy's page has none, and says nothing about what the service did."""
    if answer.headers.get("content-type") != "application/problem+json":
        return None
    try:
        code = answer.json()["code"]
    except (json.JSONDecodeError, KeyError, TypeError):
        return None
    return code if isinstance(code, str) else None
