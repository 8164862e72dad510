"""Keys of Google's service accounts: the JSON file that the console gives, traded for a token of an hour (RFC 7523)."""

import importlib
import re
from typing import Final
from urllib.parse import urlencode

import msgspec

from carrel.errors import BadInput
from carrel.providers.credentials import trade
from carrel.providers.credentials.trade import Grant

_GRANT: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
_SECONDS: Final = 3_600
_TRADED_AT: Final = "https://oauth2.googleapis.com/token"
_HOST: Final = "https://aiplatform.googleapis.com"
_OF_PLACE = re.compile(
    r"https://(?:([a-z0-9-]+)-aiplatform\.googleapis\.com|aiplatform\.([a-z]+)\.rep\.googleapis\.com)(?:/|$)"
)


class _AccountFile(msgspec.Struct, frozen=True):
    project_id: str
    client_email: str
    private_key: str
    private_key_id: str = ""
    token_uri: str = _TRADED_AT


class ServiceAccount:
    """Of Vertex, whose base URLs name a project and a location."""

    def kept(self, key: str) -> str:
        """The file in one line.

        Raises:
            BadInput: it is no such file, or its key signs nothing.
        """
        file = trade.read(key, _AccountFile)
        try:
            self.grant(key, 0.0)
        except (ValueError, importlib.import_module("jwt").PyJWTError):
            raise BadInput.at("key", "must hold the private_key of a service account") from None
        return trade.one_line(file)

    def address(self, key: str, base_url: str | None) -> str:
        """The project and the location below a host: `global` unless the host is that of a region."""
        host = (base_url or _HOST).partition("/publishers")[0].rstrip("/").removesuffix("/v1")
        if "/projects/" in host:
            return host
        found = _OF_PLACE.match(host)
        place = "global" if found is None else found[1] or found[2]
        return f"{host}/v1/projects/{trade.read(key, _AccountFile).project_id}/locations/{place}"

    def grant(self, key: str, now: float) -> Grant:
        """A statement that the account's own key signs."""
        file, at = trade.read(key, _AccountFile), int(now)
        claims = {"iss": file.client_email, "scope": _SCOPE, "aud": file.token_uri, "iat": at, "exp": at + _SECONDS}
        # The import takes time, and most services never need it.
        encode = importlib.import_module("jwt").encode
        signed: str = encode(claims, file.private_key, algorithm="RS256", headers={"kid": file.private_key_id})
        return Grant(file.token_uri, urlencode({"grant_type": _GRANT, "assertion": signed}).encode())
