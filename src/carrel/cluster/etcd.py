"""etcd's v3 API through its JSON gateway: the few calls that nodes need. Reads are linearizable.

One of several servers is called; when it fails, the next one is. A call that failed may have been done all the same.
"""

import asyncio
import ssl
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, NamedTuple

import aiohttp
import msgspec
from aiohttp import ClientSession, ClientTimeout

CALL_SECONDS: Final = 1.0
"""How long one server may take to answer."""
_TOKEN_ENDED: Final = 401
_REJECTIONS: Final = (400, 401, 403, 412)
"""No user or a wrong password, no token, not in the role, and a user where the servers have none."""
MAX_OPERATIONS: Final = 128
"""The most that one transaction may do, as etcd is set up by default."""


class EtcdUnreachable(Exception):
    """No server answered, or all of them said that they cannot. The call may have been done all the same."""


class UserRejected(EtcdUnreachable):
    """A server wants another user or password, or the user's role does not allow what was asked for."""


class EtcdUser(NamedTuple):
    """Who asks, for servers that want to know. Without TLS both are readable on the way."""

    name: str
    password: str

    def __repr__(self) -> str:
        return "User(hidden)"


class Value(NamedTuple):
    """What is stored under a key; `revision` is that of its last change. A removed key has the text `None`."""

    text: bytes | None
    revision: int


class RangeResult(NamedTuple):
    """The values below a prefix, by the rest of their keys, as of `revision`."""

    values: dict[str, Value]
    revision: int


class Put(NamedTuple):
    """Store a value; `None` removes it. With a `lease` it is removed when that ends."""

    key: str
    text: bytes | None
    lease: str = ""


class ValueIs(NamedTuple):
    """The condition that a key still has this value; `None` says that it is not there."""

    key: str
    text: bytes | None


class Etcd:
    """The servers at `endpoints`, such as `http://127.0.0.1:2379`. Belongs to the event loop that calls it first."""

    def __init__(
        self,
        endpoints: Sequence[str],
        *,
        call_seconds: float = CALL_SECONDS,
        tls: ssl.SSLContext | None = None,
        user: EtcdUser | None = None,
    ) -> None:
        self._endpoints = [endpoint.rstrip("/") for endpoint in endpoints]
        self._call_seconds = call_seconds
        self._tls = tls
        self._user = user
        self._token = ""
        """What a server gave for the user's password. It ends after minutes without use, and with the server."""
        self._opened: ClientSession | None = None

    async def get(self, key: str) -> Value | None:
        """The value under a key.

        Raises:
            EtcdUnreachable
        """
        reply = await self._call("kv/range", {"key": _encoded(key)})
        return next((_value(row) for row in reply.get("kvs", ())), None)

    async def below(self, prefix: str, *, changed_after: int = 0) -> RangeResult:
        """Every value below `prefix`; only those that changed after a revision, if one is given.

        Raises:
            EtcdUnreachable
        """
        body: dict[str, Any] = {**_range(prefix)}
        if changed_after:
            body["min_mod_revision"] = str(changed_after + 1)
        reply = await self._call("kv/range", body)
        values = {_key(row).removeprefix(prefix): _value(row) for row in reply.get("kvs", ())}
        return RangeResult(values, int(reply["header"]["revision"]))

    async def put_if(self, conditions: Sequence[ValueIs], puts: Sequence[Put]) -> bool:
        """Store everything if every condition holds, and nothing otherwise; whether it was stored.

        Raises:
            EtcdUnreachable: whether it was stored is not known.
        """
        body = {
            "compare": [_compare(condition) for condition in conditions],
            "success": list(map(_put, puts)),
        }
        return bool((await self._call("kv/txn", body)).get("succeeded"))

    async def grant(self, seconds: int) -> str:
        """A new lease that ends so many seconds after its last renewal.

        Raises:
            EtcdUnreachable
        """
        return str((await self._call("lease/grant", {"TTL": str(seconds)}))["ID"])

    async def renew(self, lease: str) -> int:
        """Renew a lease; the seconds that it has from now on, and 0 if it has ended.

        Raises:
            EtcdUnreachable
        """
        reply = await self._call("lease/keepalive", {"ID": lease})
        return int(reply.get("result", {}).get("TTL", 0))

    async def revoke(self, lease: str) -> None:
        """End a lease, and remove what was stored with it. A lease that has ended already stays so.

        Raises:
            EtcdUnreachable
        """
        await self._call("lease/revoke", {"ID": lease}, accepted=(200, 404))

    async def watch(self, prefix: str, after: int, silent_seconds: float) -> AsyncIterator[RangeResult]:
        """Changes below `prefix` after a revision, as they happen.

        Raises:
            EtcdUnreachable: the connection ended, nothing came for so long, or the changes are no longer kept. Read
                everything again then.
        """
        create = {"create_request": {**_range(prefix), "start_revision": str(after + 1)}}
        limits = ClientTimeout(sock_connect=self._call_seconds, sock_read=silent_seconds)
        try:
            url, headers = f"{self._endpoints[0]}/v3/watch", self._headers
            async with self._session.post(url, json=create, headers=headers, timeout=limits) as answer:
                async for line in answer.content:
                    result = msgspec.json.decode(line).get("result", {}) if line.strip() else {}
                    if result.get("canceled"):
                        break
                    events = result.get("events", ())
                    if events:
                        values = {_key(event["kv"]).removeprefix(prefix): _changed(event) for event in events}
                        yield RangeResult(values, int(result["header"]["revision"]))
        except (OSError, TimeoutError, aiohttp.ClientError, msgspec.DecodeError, ValueError):
            self._take_the_next()
        raise EtcdUnreachable

    async def close(self) -> None:
        """Close every connection."""
        if self._opened is not None:
            await self._opened.close()

    @property
    def _session(self) -> ClientSession:
        if self._opened is None:
            connector = aiohttp.TCPConnector(ssl=self._tls if self._tls is not None else True)
            self._opened = ClientSession(connector=connector, trust_env=False, cookie_jar=aiohttp.DummyCookieJar())
        return self._opened

    async def _call(self, path: str, body: dict[str, Any], accepted: tuple[int, ...] = (200,)) -> dict[str, Any]:
        error: type[EtcdUnreachable] = EtcdUnreachable
        for _ in self._endpoints:
            try:
                async with asyncio.timeout(self._call_seconds):
                    status, reply = await self._asked(path, body)
                    if status in accepted and isinstance(reply, dict):
                        return reply
                    if status in _REJECTIONS:
                        error = UserRejected
            except (OSError, TimeoutError, aiohttp.ClientError, msgspec.DecodeError):
                pass
            self._take_the_next()
        raise error

    async def _asked(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """The status and the reply of the server that is asked now. It is told who asks, if that is anybody."""
        if self._user is None:
            return await self._sent(path, body)
        if self._token:
            status, reply = await self._sent(path, body)
            if status != _TOKEN_ENDED:
                return status, reply
        self._token = ""
        status, reply = await self._sent("auth/authenticate", self._user._asdict())
        if status != 200:
            return status, reply
        self._token = str(reply["token"])
        return await self._sent(path, body)

    async def _sent(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        url = f"{self._endpoints[0]}/v3/{path}"
        async with self._session.post(url, json=body, headers=self._headers) as answer:
            return answer.status, msgspec.json.decode(await answer.read())

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": self._token} if self._token else {}

    def _take_the_next(self) -> None:
        self._endpoints.append(self._endpoints.pop(0))


def _encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


def _range(prefix: str) -> dict[str, str]:
    return {"key": _encoded(prefix), "range_end": _encoded(prefix[:-1] + chr(ord(prefix[-1]) + 1))}


def _key(row: dict[str, Any]) -> str:
    # A key that is no text is nobody's, and must not end the reading of the others.
    return b64decode(row["key"]).decode(errors="replace")


def _value(row: dict[str, Any]) -> Value:
    return Value(b64decode(row.get("value", "")), int(row["mod_revision"]))


def _changed(event: dict[str, Any]) -> Value:
    found = _value(event["kv"])
    return Value(None, found.revision) if event.get("type") == "DELETE" else found


def _compare(condition: ValueIs) -> dict[str, str]:
    if condition.text is None:
        return {"key": _encoded(condition.key), "target": "CREATE", "create_revision": "0", "result": "EQUAL"}
    value = b64encode(condition.text).decode()
    return {"key": _encoded(condition.key), "target": "VALUE", "value": value, "result": "EQUAL"}


def _put(put: Put) -> dict[str, dict[str, str]]:
    if put.text is None:
        return {"request_delete_range": {"key": _encoded(put.key)}}
    stored = {"key": _encoded(put.key), "value": b64encode(put.text).decode()}
    return {"request_put": {**stored, "lease": put.lease} if put.lease else stored}
