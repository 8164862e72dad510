"""Which base URLs a provider key may name: plain URLs of hosts that the operator allows. Pure.

If two parsers read a URL differently, one of them passes the check and the other reaches another host. So this module
accepts far less than a URL may be: no user, no escapes in the host, no backslash, no query, nothing but ASCII.
"""

import ipaddress
import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from carrel.errors import BadInput, FieldError
from carrel.providers.catalogue import KNOWN, find

_LABEL = r"[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?"
_HOST = rf"(?P<host>{_LABEL}(?:\.{_LABEL})*|\[[0-9a-f:.]{{2,45}}\])(?::(?P<port>[1-9][0-9]{{0,4}}))?"
# ASCII, else the Kelvin sign would pass for a k.
_URL = re.compile(rf"(?P<scheme>https?)://{_HOST}(?:/[a-z0-9._~!$&'()*+,;=:%/-]*)?", re.IGNORECASE | re.ASCII)
_RULE = re.compile(rf"(?P<plain>http://)?(?P<any>\*\.)?{_HOST}")
_DEFAULT_PORTS = {"https": 443, "http": 80}
_MAX_PORT = 65_535
_PUBLIC = frozenset(urlsplit(known.base_url).hostname for known in KNOWN.values() if known.base_url is not None) | {
    "api.github.com",
    "oauth2.googleapis.com",
}
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


_ROUTES = re.compile(r"/(chat/completions|completions|responses|messages|embeddings|models)(/.*)?$")
_GOOGLE_VERSION = re.compile(r"/v1(beta)?(/openai)?$")
"""Carrel adds the version that it speaks."""
_FIRST_PATHS = {"ollama": "/v1", "vllm": "/v1", "azure": "/openai/v1"}
"""Where these servers have their routes, whatever their host is."""


class ProviderHostNotAllowed(BadInput):
    """The operator has not allowed the host of this base URL."""

    code = "provider-host-not-allowed"
    detail = "The operator has not allowed this host."


class _Place(NamedTuple):
    """A host in its normal spelling, so that two can be compared, and the port if the URL named one."""

    host: str
    port: int | None


def normal(provider: str, text: str) -> str:
    """The base URL in what somebody pasted: the address of one route, or that of the host alone.

    Every provider shows its address in another way, and each of them is easily told from the others.
    """
    address, _, query = text.strip(" ").partition("?")
    bare = address.rstrip("/")
    url = _ROUTES.sub("", bare)
    if query and url == bare:
        # Only the address of a route has one.
        return text
    found = _URL.fullmatch(url)
    known = find(provider)
    if found is None or known is None:
        return url
    path = url[found.end("port") if found["port"] else found.end("host") :]
    if provider == "google":
        return url.removesuffix(path) + _GOOGLE_VERSION.sub("", path)
    if provider == "ollama" and path == "/api":
        url, path = url.removesuffix(path), ""
    if path:
        return url
    if known.base_url is not None and host(url) == host(known.base_url):
        return known.base_url
    return url + _FIRST_PATHS.get(provider, "")


def check(url: str, rules: tuple[str, ...]) -> None:
    """Refuse a `base_url` that Carrel may not call; `rules` are CARREL_PROVIDER_HOSTS.

    A rule is `host`, `host:port`, `*.suffix` or `*.suffix:port`; one without a port means the scheme's own. Carrel
    calls only a loopback without TLS, and what a rule names so: `http://ollama:11434`.

    Raises:
        BadInput: it is no plain https URL.
        ProviderHostNotAllowed: no rule covers its host and port.
    """
    found = _URL.fullmatch(url)
    place = _place(found) if found is not None else None
    if found is None or place is None:
        raise BadInput.at("base_url", "must be an https URL that holds nothing but scheme, host, port and path")
    scheme = found["scheme"].lower()
    if not any(_covers(rule, place, scheme) for rule in rules):
        if scheme == "http" and place.host not in _LOOPBACK:
            raise BadInput.at("base_url", "must be an https URL, unless the operator names its host with http://")
        raise ProviderHostNotAllowed(errors=(FieldError("base_url", "must name a host that the operator allows"),))


@lru_cache(maxsize=1_000)
def is_allowed(url: str, rules: tuple[str, ...]) -> bool:
    """Whether Carrel may call a URL: see `check`."""
    try:
        check(url, rules)
    except BadInput:
        return False
    return True


def host(url: str) -> str | None:
    """The host that a base URL names, in its normal spelling, with the port unless it is that of https.

    `None` if the URL is not one that `check` may accept.
    """
    found = _URL.fullmatch(url)
    place = _place(found) if found is not None else None
    if found is None or place is None:
        return None
    port = place.port or _DEFAULT_PORTS[found["scheme"].lower()]
    return place.host if port == _DEFAULT_PORTS["https"] else f"{place.host}:{port}"


def is_inside(host: str, port: int, rules: tuple[str, ...]) -> bool:
    """Whether the operator named exactly this host and port, so that it may be on the machine or its own network.

    A `*.suffix` names no single host. The hosts of well-known providers are public wherever they stand in `rules`.
    """
    if host in _PUBLIC:
        return False
    named = (_RULE.fullmatch(rule) for rule in rules)
    places = (_place(found) for found in named if found is not None and not found["any"])
    bracketed = f"[{host}]" if ":" in host else host
    return any(
        place.host == bracketed and port in ((place.port,) if place.port else _DEFAULT_PORTS.values())
        for place in places
        if place is not None
    )


def _covers(text: str, place: _Place, scheme: str) -> bool:
    found = _RULE.fullmatch(text)
    rule = _place(found) if found is not None else None
    default_port = _DEFAULT_PORTS[scheme]
    if found is None or rule is None or (place.port or default_port) != (rule.port or default_port):
        return False
    if found["plain"]:
        return scheme == "http" and not found["any"] and place.host == rule.host and place.host not in _PUBLIC
    if scheme == "http" and place.host not in _LOOPBACK:
        return False
    return place.host.endswith(f".{rule.host}") if found["any"] else place.host == rule.host


def _place(found: re.Match[str]) -> _Place | None:
    """The host and port in normal spelling; `None` if the port, the IPv6 address or the encoded name is invalid."""
    host = found["host"].lower()
    port = int(found["port"]) if found["port"] else None
    if port is not None and port > _MAX_PORT:
        return None
    if host.startswith("["):
        try:
            # An address has many spellings, and the rules are compared with one of them.
            host = f"[{ipaddress.IPv6Address(host[1:-1]).compressed}]"
        except ValueError:
            return None
    elif not _is_decodable(host):
        return None
    return _Place(host, port)


def _is_decodable(host: str) -> bool:
    """Whether every encoded part of the name (`xn--`) can be decoded.

    HTTP libraries decode it when they call, and would raise an error of their own.
    """
    try:
        return bool(host.encode("ascii").decode("idna"))
    except UnicodeError:
        return False
