"""The guards that run before every route, and the objects that they pass to it.

A guard runs before the service reads the body. All guards are `async`, because Litestar would run a plain function in a
thread. `session` puts a leased workspace into the scope; the outermost layer of the app releases it after the answer.
"""

import hmac
from dataclasses import dataclass
from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers.base import BaseRouteHandler
from litestar.types import Scope

from carrel.accounts.accounts import MembershipRequired
from carrel.auth.credentials import Credentials
from carrel.auth.programs import scopes
from carrel.auth.programs.scopes import PersonRequired
from carrel.auth.programs.tokens import ProgramClaims
from carrel.auth.session import Session, User
from carrel.auth.sessions import Sessions
from carrel.errors import CarrelError, Forbidden, Unauthorized
from carrel.kit.concurrency.caller import Caller
from carrel.kit.http.answer import CALLER
from carrel.kit.http.body import keep_pieces
from carrel.kit.http.envelope import RELEASE
from carrel.kit.http.fenced import USER
from carrel.kit.http.in_flight import IN_FLIGHT, PASSAGE, InFlight
from carrel.vault.keyring import UserUuid
from carrel.vault.workspace import Workspace

_Connection = ASGIConnection[Any, Any, Any, Any]

STATE = "carrel.gatekeeper"


class TokenMissing(Unauthorized):
    """No session token was sent."""

    code = "session-token-missing"
    detail = "Send the session token in X-SVC-Session-Token."


class PluginSecretMissing(Unauthorized):
    """No plugin secret was sent."""

    code = "plugin-secret-missing"
    detail = "Send the plugin secret in X-SVC-Plugin-Secret."


class PluginSecretInvalid(Unauthorized):
    """Not the plugin secret."""

    code = "plugin-secret-invalid"
    detail = "The plugin secret is wrong."


class AdminSecretMissing(Unauthorized):
    """No admin secret was sent."""

    code = "admin-secret-missing"
    detail = "Send the admin secret in X-SVC-Admin-Secret."


class AdminSecretInvalid(Unauthorized):
    """Not the admin secret."""

    code = "admin-secret-invalid"
    detail = "The admin secret is wrong."


class AdminDisabled(Forbidden):
    """The service was started without an admin secret."""

    code = "admin-disabled"
    detail = "The admin routes are off: the service has no admin secret."


@dataclass(frozen=True, repr=False)
class Gatekeeper:
    """The secrets and rules that the guards check. `free_is_full` gives users without paid membership every right."""

    sessions: Sessions
    credentials: Credentials
    free_is_full: bool


async def session(connection: _Connection, handler: BaseRouteHandler) -> None:
    """A valid session token: the user and a leased workspace stand ready. A program needs the scope of the route."""
    await _sign_in(connection, handler)


async def full(connection: _Connection, handler: BaseRouteHandler) -> None:
    """A valid session token of a user who may create, change and execute."""
    user = await _sign_in(connection, handler)
    if user.membership == "free" and not _gatekeeper(connection).free_is_full:
        raise MembershipRequired


async def plugin(connection: _Connection, _: BaseRouteHandler) -> None:
    """Require a plugin secret; two may be in force during a rotation. The request may carry a key."""
    presented = _header(connection, b"x-svc-plugin-secret")
    if presented is None:
        raise PluginSecretMissing
    if not _equals_any(presented, _gatekeeper(connection).credentials.plugin):
        raise PluginSecretInvalid
    scope: dict[str, Any] = connection.scope  # type: ignore[assignment]  # ASGI lets an application add keys
    scope[RELEASE] = keep_pieces(connection)


async def secret_in_body(connection: _Connection, _: BaseRouteHandler) -> None:
    """Let everybody in: the credential is in the body, which is overwritten at the end."""
    scope: dict[str, Any] = connection.scope  # type: ignore[assignment]  # ASGI lets an application add keys
    scope[RELEASE] = keep_pieces(connection)


async def admin(connection: _Connection, _: BaseRouteHandler) -> None:
    """The admin secret."""
    secret = _gatekeeper(connection).credentials.admin
    if secret is None:
        raise AdminDisabled
    presented = _header(connection, b"x-svc-admin-secret")
    if presented is None:
        raise AdminSecretMissing
    if not _equals_any(presented, (secret,)):
        raise AdminSecretInvalid


async def plugin_or_admin(connection: _Connection, handler: BaseRouteHandler) -> None:
    """Require the host or the operator; a request with an admin secret is checked as the operator's."""
    if _header(connection, b"x-svc-admin-secret") is not None:
        await admin(connection, handler)
    else:
        await plugin(connection, handler)


async def session_or_plugin(connection: _Connection, handler: BaseRouteHandler) -> None:
    """The user, also while no key is in memory, or the host; a request with a plugin secret is checked as the host's.

    No workspace is leased: a sign-out must not wait for the end of its own request.
    """
    if _header(connection, b"x-svc-plugin-secret") is not None:
        await plugin(connection, handler)
        return
    token = _header(connection, b"x-svc-session-token")
    if token is None:
        raise TokenMissing
    scope: dict[str, Any] = connection.scope  # type: ignore[assignment]  # ASGI lets an application add keys
    sessions = _gatekeeper(connection).sessions
    claims = sessions.claims_of(token)
    scope[USER] = claims.uuid
    await sessions.require_in_force(claims)
    if isinstance(claims, ProgramClaims):
        raise PersonRequired
    scope["carrel.signed_in"] = UserUuid(claims.uuid)


async def operator_if_named(connection: _Connection, handler: BaseRouteHandler) -> None:
    """Let everybody in; whoever presents a plugin or admin secret is checked, and then `is_operator`."""
    if any(_header(connection, name) is not None for name in (b"x-svc-plugin-secret", b"x-svc-admin-secret")):
        await plugin_or_admin(connection, handler)
        connection.scope["carrel.operator"] = True  # type: ignore[typeddict-unknown-key]  # as above


def is_operator(scope: Scope) -> bool:
    """Whether the request showed a secret to `operator_if_named`."""
    return "carrel.operator" in scope


def provide_signed_in(scope: Scope) -> UserUuid | None:
    """The user whom the session token names; `None` if the host sent the request."""
    found: UserUuid | None = scope.get("carrel.signed_in")  # type: ignore[assignment]  # put there by the guard
    return found


def provide_workspace(scope: Scope) -> Workspace:
    """The workspace that the guard leased."""
    workspace: Workspace = scope["carrel.workspace"]  # type: ignore[typeddict-item]  # put there by the guard
    return workspace


def provide_session(scope: Scope) -> Session:
    """The checked session."""
    checked: Session = scope["carrel.session"]  # type: ignore[typeddict-item]  # put there by the guard
    return checked


def provide_user(scope: Scope) -> User:
    """The user who sent the request."""
    return provide_session(scope).user


async def _sign_in(connection: _Connection, handler: BaseRouteHandler) -> User:
    token = _header(connection, b"x-svc-session-token")
    if token is None:
        raise TokenMissing
    sessions = _gatekeeper(connection).sessions
    checked, workspace = await sessions.authenticate(token)
    scope: dict[str, Any] = connection.scope  # type: ignore[assignment]  # ASGI lets an application add keys
    scope["carrel.session"] = checked
    scope["carrel.workspace"] = workspace
    scope[USER] = checked.user.uuid
    scope[RELEASE] = lambda: sessions.pool.release(workspace)
    if checked.scopes is not None:
        scopes.require(checked.scopes, handler.opt.get(scopes.NEEDS))
    in_flight: InFlight | None = scope.get(IN_FLIGHT)
    if in_flight is not None:
        caller: Caller | None = scope.get(CALLER)
        try:
            passage = in_flight.enter(checked.user.uuid, None if caller is None else caller.drop)
        except CarrelError:
            await in_flight.pause()
            raise
        scope[PASSAGE] = passage
        await passage.take_turn(scope["method"])
    return checked.user


def _gatekeeper(connection: _Connection) -> Gatekeeper:
    gatekeeper: Gatekeeper = connection.app.state[STATE]
    return gatekeeper


def _header(connection: _Connection, name: bytes) -> bytes | None:
    """The header as the client sent it; `None` if it is missing or sent more than once."""
    values = [value for key, value in connection.scope["headers"] if key == name]
    return values[0] if len(values) == 1 and values[0] else None


def _equals_any(presented: bytes, secrets: tuple[bytes, ...]) -> bool:
    equal = False
    for secret in secrets:
        equal |= hmac.compare_digest(presented, secret)
    return equal
