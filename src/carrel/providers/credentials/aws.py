"""Access keys of AWS, which sign each request (Signature Version 4)."""

import importlib
import re
from typing import Final
from urllib.parse import quote, urlsplit

_SERVICE: Final = "bedrock"
_ACCESS_KEY = re.compile(r"(A[A-Z0-9]{15,127}):([A-Za-z0-9/+=]+)(?::([A-Za-z0-9/+=]+))?")
_REGION = re.compile(r"\bbedrock(?:-runtime)?(?:-fips)?\.([a-z0-9-]+)\.")
_USUAL_REGION: Final = "us-east-1"


def signed(key: str, method: str, url: str, body: bytes) -> dict[str, str] | None:
    """The headers that sign a request with `ACCESS_KEY_ID:SECRET_ACCESS_KEY` or `….:SESSION_TOKEN`.

    `None` if the key is none of these: API keys of Bedrock are sent as they are. The time is that of the machine.
    """
    found = _ACCESS_KEY.fullmatch(key)
    if found is None:
        return None
    # The imports take a fifth of a second, and most services never need them.
    signer, httpx = (importlib.import_module(name) for name in ("httpx_aws_auth", "httpx"))
    region = _REGION.search(url)
    parts = urlsplit(url)
    # AWS encodes the path once more than it was sent. The signer decodes the path of a URL before it encodes it.
    path = quote(parts.path)
    request = httpx.Request(method, parts._replace(path=path).geturl(), content=body)
    sign = signer.AwsSigV4AuthSigner(_SERVICE, region[1] if region is not None else _USUAL_REGION)
    headers: dict[str, str] = sign.get_aws_auth_headers(request, signer.AwsCredentials(*found.groups()))
    return headers
