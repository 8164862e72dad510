"""Applications of Microsoft's Entra ID, whose secrets are traded for a token of an hour (client credentials)."""

from typing import Final
from urllib.parse import quote, urlencode

import msgspec

from carrel.providers.credentials import trade
from carrel.providers.credentials.trade import Grant

_SCOPE: Final = "https://cognitiveservices.azure.com/.default"


class _Application(msgspec.Struct, frozen=True):
    tenant_id: str
    client_id: str
    client_secret: str
    authority: str = "https://login.microsoftonline.com"


class EntraApplication:
    """Of Azure, whose plain keys are sent as they are."""

    def kept(self, key: str) -> str:
        """The application in one line, or a plain key."""
        return trade.one_line(trade.read(key, _Application)) if trade.is_object(key) else trade.plain(key)

    def address(self, key: str, base_url: str | None) -> str | None:
        """What the user named."""
        return base_url

    def grant(self, key: str, now: float) -> Grant:
        """The application's name and secret."""
        found = trade.read(key, _Application)
        form = {
            "grant_type": "client_credentials",
            "client_id": found.client_id,
            "client_secret": found.client_secret,
            "scope": _SCOPE,
        }
        url = f"{found.authority.rstrip('/')}/{quote(found.tenant_id, safe='')}/oauth2/v2.0/token"
        return Grant(url, urlencode(form).encode())
