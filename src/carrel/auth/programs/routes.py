"""`POST /auth/program`, where programs sign in; `/users/me/program-keys`, where users make and revoke the keys."""

from typing import Annotated, Final

from starlette.types import ASGIApp, Receive, Scope, Send

from carrel.accounts.accounts import UserSuspended
from carrel.accounts.program_keys import ProgramKeyId, ProgramKeyNotFound, TooManyProgramKeys
from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.auth.programs.keys import ProgramKeysDisabled, ProgramKeyStore
from carrel.auth.programs.schemas import NewProgramKey, ProgramKeyIn, ProgramSessionOut, ProgramSignInIn
from carrel.auth.programs.schemas import ProgramKeys as Listed
from carrel.auth.programs.secret import ProgramKeyInvalid
from carrel.auth.programs.sign_in import ProgramKeyExpired, ProgramKeyRevoked, ProgramSignIn, TooManyProgramSignIns
from carrel.auth.sessions import Session, User
from carrel.errors import Unavailable
from carrel.http.answers.fenced import USER
from carrel.http.answers.response import Response
from carrel.http.client_connection import CLIENT, ClientConnection
from carrel.http.request import Request
from carrel.http.requests.describe import raises
from carrel.http.requests.routing import Path, Router, delete, get, post
from carrel.kit.ids import Id
from carrel.kit.sqlite.database import Damaged, Missing, wipe

MAX_BYTES: Final = 8 * 1024
"""Of the body of an exchange, which anybody may send."""
_EXCHANGE = raises(
    ProgramKeyInvalid,
    ProgramKeyExpired,
    ProgramKeyRevoked,
    ProgramKeysDisabled,
    UserSuspended,
    TooManyProgramSignIns,
    Missing,
    Damaged,
    Unavailable,
)


class ShownOnce(Response[NewProgramKey]):
    """An answer that is overwritten when the client has taken it, if the server tells when that is."""

    def asgi(self, request: Request) -> ASGIApp:
        """What is sent."""
        answer = self.with_status(request.status)

        async def send_and_wipe(scope: Scope, receive: Receive, send: Send) -> None:
            # Nothing refers to it any more: it is encoded.
            wipe(self.content.program_key)
            await answer(scope, receive, send)
            caller: ClientConnection | None = scope.get(CLIENT)
            if caller is not None and caller.taken is not None:
                # Not before: what the client has not taken yet may be this very object.
                await caller.taken()
                if isinstance(answer.body, bytes):
                    wipe(answer.body)

        return send_and_wipe


@post(
    "/program",
    guards=[guard.secret_in_body],
    status_code=200,
    opt=_EXCHANGE,
    max_body_bytes=MAX_BYTES,
)
async def sign_in_program(data: ProgramSignInIn, request: Request, program_sign_in: ProgramSignIn) -> ProgramSessionOut:
    """Exchange a program key for a session token, which is good for an hour at most and for the key's scopes alone.

    If need be, the workspace is opened. The program keeps the token and comes back when it has ended.
    """
    try:
        presented = program_sign_in.parse(data.program_key)
    finally:
        wipe(data.program_key)
    request.scope[USER] = presented.uuid
    return await program_sign_in.exchange(presented)


@post("", guards=[guard.full], opt=scopes.PERSON | raises(TooManyProgramKeys, ProgramKeysDisabled))
async def create_program_key(
    data: ProgramKeyIn, session: Session, program_keys: ProgramKeyStore
) -> Response[NewProgramKey]:
    """Make a key with which a program signs in as the user, with these scopes, for so many days. It is shown once."""
    return ShownOnce(await program_keys.create(session, data))


@get("", guards=[guard.session], opt=scopes.PERSON)
async def list_program_keys(user: User, program_keys: ProgramKeyStore) -> Listed:
    """The user's program keys, with their last use. None of them can be shown again."""
    return await program_keys.list(user.uuid)


@delete("/{program_key_id:str}", guards=[guard.session], opt=scopes.PERSON | raises(ProgramKeyNotFound))
async def revoke_program_key(
    program_key_id: Annotated[Id, Path()],
    session: Session,
    program_keys: ProgramKeyStore,
) -> None:
    """Revoke a key. The program's sessions end at once; runs that it has started go on."""
    await program_keys.revoke(session, ProgramKeyId(program_key_id))


router = Router("/auth", route_handlers=[sign_in_program], tags=["Auth"])
keys_router = Router(
    "/users/me/program-keys",
    route_handlers=[create_program_key, list_program_keys, revoke_program_key],
    tags=["Auth"],
)
