"""The guards that run before every route, and the objects that they pass to it.

A guard runs before the service reads the body. `session` puts a leased workspace into the scope; the outermost layer
of the app releases it after the answer.
"""

import hmac
from dataclasses import dataclass

from starlette.types import Scope

from carrel.accounts.accounts import MembershipRequired
from carrel.auth.credentials import Credentials
from carrel.auth.programs import scopes
from carrel.auth.programs.scopes import PersonRequired
from carrel.auth.programs.tokens import ProgramClaims
from carrel.auth.sessions import Session, Sessions, User
from carrel.errors import CarrelError, Forbidden, Unauthorized
from carrel.http.answers.fenced import USER
from carrel.http.client_connection import CLIENT, ClientConnection
from carrel.http.in_flight import IN_FLIGHT, PASSAGE, InFlight
from carrel.http.request import Request
from carrel.http.requests import auditing
from carrel.http.requests.envelope import RELEASE
from carrel.vault.keyring import UserUuid
from carrel.vault.workspace import Workspace

STATE = "carrel.gatekeeper"
_BEARER = b"Bearer "


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


class MetricsSecretInvalid(Unauthorized):
    """Not the secret for metrics."""

    code = "metrics-secret-invalid"
    detail = "The secret for metrics is wrong."


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


async def session(request: Request) -> None:
    """A valid session token: the user and a leased workspace stand ready. A program needs the scope of the route."""
    await _sign_in(request)


async def full(request: Request) -> None:
    """A valid session token of a user who may create, change and execute."""
    user = await _sign_in(request)
    if user.membership == "free" and not _gatekeeper(request).free_is_full:
        raise MembershipRequired


async def plugin(request: Request) -> None:
    """Require a plugin secret; two may be in force during a rotation. The request may carry a key."""
    presented = request.credential(b"x-svc-plugin-secret")
    if presented is None:
        raise PluginSecretMissing
    if not _equals_any(presented, _gatekeeper(request).credentials.plugin):
        raise PluginSecretInvalid
    auditing.name_asking(request, "host", presented)
    request.scope[RELEASE] = request.forget


async def secret_in_body(request: Request) -> None:
    """Let everybody in: the credential is in the body, which is overwritten at the end."""
    request.scope[RELEASE] = request.forget


async def admin(request: Request) -> None:
    """The admin secret."""
    secret = _gatekeeper(request).credentials.admin
    if secret is None:
        raise AdminDisabled
    presented = request.credential(b"x-svc-admin-secret")
    if presented is None:
        raise AdminSecretMissing
    if not _equals_any(presented, (secret,)):
        raise AdminSecretInvalid
    auditing.name_asking(request, "operator", presented)


async def metrics(request: Request) -> None:
    """Require the secret for metrics as a Bearer token (RFC 6750), or the admin secret.

    Prometheus' `authorization` sends it; it sends no header of our own before version 2.55.
    """
    secret = _gatekeeper(request).credentials.metrics
    presented = request.credential(b"authorization") or b""
    if secret is None or not presented.startswith(_BEARER):
        await admin(request)
    elif not _equals_any(presented.removeprefix(_BEARER), (secret,)):
        raise MetricsSecretInvalid


async def plugin_or_admin(request: Request) -> None:
    """Require the host or the operator; a request with an admin secret is checked as the operator's."""
    if request.credential(b"x-svc-admin-secret") is not None:
        await admin(request)
    else:
        await plugin(request)


async def session_or_plugin(request: Request) -> None:
    """The user, also while no key is in memory, or the host; a request with a plugin secret is checked as the host's.

    No workspace is leased: a sign-out must not wait for the end of its own request.
    """
    if request.credential(b"x-svc-plugin-secret") is not None:
        await plugin(request)
        return
    token = request.credential(b"x-svc-session-token")
    if token is None:
        raise TokenMissing
    scope = request.scope
    sessions = _gatekeeper(request).sessions
    claims = sessions.claims_of(token)
    scope[USER] = claims.uuid
    await sessions.require_in_force(claims)
    if isinstance(claims, ProgramClaims):
        raise PersonRequired
    scope["carrel.signed_in"] = UserUuid(claims.uuid)


async def operator_if_named(request: Request) -> None:
    """Let everybody in; whoever presents a plugin or admin secret is checked, and then `is_operator`."""
    if any(request.credential(name) is not None for name in (b"x-svc-plugin-secret", b"x-svc-admin-secret")):
        await plugin_or_admin(request)
        request.scope["carrel.operator"] = True


def is_operator(scope: Scope) -> bool:
    """Whether the request showed a secret to `operator_if_named`."""
    return "carrel.operator" in scope


def provide_signed_in(request: Request) -> UserUuid | None:
    """The user whom the session token names; `None` if the host sent the request."""
    found: UserUuid | None = request.scope.get("carrel.signed_in")
    return found


def provide_workspace(request: Request) -> Workspace:
    """The workspace that the guard leased."""
    workspace: Workspace = request.scope["carrel.workspace"]
    return workspace


def provide_session(request: Request) -> Session:
    """The checked session."""
    checked: Session = request.scope["carrel.session"]
    return checked


def provide_user(request: Request) -> User:
    """The user who sent the request."""
    return provide_session(request).user


async def _sign_in(request: Request) -> User:
    token = request.credential(b"x-svc-session-token")
    if token is None:
        raise TokenMissing
    sessions = _gatekeeper(request).sessions
    checked, workspace = await sessions.authenticate(token)
    scope = request.scope
    scope["carrel.session"] = checked
    scope["carrel.workspace"] = workspace
    scope[USER] = checked.user.uuid
    scope[RELEASE] = lambda: sessions.pool.release(workspace)
    if checked.scopes is not None:
        scopes.require(checked.scopes, request.opt.get(scopes.NEEDS))
    in_flight: InFlight | None = scope.get(IN_FLIGHT)
    if in_flight is not None:
        caller: ClientConnection | None = scope.get(CLIENT)
        try:
            passage = in_flight.enter(checked.user.uuid, None if caller is None else caller.drop)
        except CarrelError:
            await in_flight.pause()
            raise
        scope[PASSAGE] = passage
        if scope["method"] == "GET":
            await passage.begin_to_read()
    return checked.user


def _gatekeeper(request: Request) -> Gatekeeper:
    gatekeeper: Gatekeeper = request.state[STATE]
    return gatekeeper


def _equals_any(presented: bytes, secrets: tuple[bytes, ...]) -> bool:
    equal = False
    for secret in secrets:
        equal |= hmac.compare_digest(presented, secret)
    return equal
