"""`POST /auth/program`, where programs sign in; `/users/me/program-keys`, where users make and revoke the keys."""

from typing import Annotated, Any, Final

from litestar import Request, Router, delete, get, post
from litestar.di import NamedDependency
from litestar.params import JSONBody, PathParameter
from litestar.types import ASGIApp, Receive, Scope, Send

from carrel.accounts.program_keys import ProgramKeyId, ProgramKeyNotFound, TooManyProgramKeys
from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.auth.programs.keys import ProgramKeys, ProgramKeysDisabled
from carrel.auth.programs.schemas import NewProgramKey, ProgramKeyIn, ProgramSessionOut, ProgramSignInIn
from carrel.auth.programs.schemas import ProgramKeys as Listed
from carrel.auth.programs.secret import ProgramKeyInvalid
from carrel.auth.programs.sign_in import ProgramKeyExpired, ProgramKeyRevoked, ProgramSignIn, TooManyProgramSignIns
from carrel.auth.session import Session, User
from carrel.errors import Unavailable
from carrel.kit.concurrency.caller import Caller
from carrel.kit.http.answer import CALLER, Answer
from carrel.kit.http.describe import raises
from carrel.kit.http.fenced import USER
from carrel.kit.ids import Id
from carrel.kit.sqlite.database import Damaged, Missing, wipe

MAX_BYTES: Final = 8 * 1024
"""Of the body of an exchange, which anybody may send."""
_EXCHANGE = raises(
    ProgramKeyInvalid,
    ProgramKeyExpired,
    ProgramKeyRevoked,
    ProgramKeysDisabled,
    TooManyProgramSignIns,
    Missing,
    Damaged,
    Unavailable,
)


class ShownOnce(Answer[NewProgramKey]):
    """An answer that is overwritten when the client has taken it, if the server tells when that is."""

    def to_asgi_response(self, app: object, request: Request[Any, Any, Any], **_: Any) -> ASGIApp:  # type: ignore[override]  # as in `Answer`
        """What the framework sends."""
        answer = self.asgi(201)

        async def send_and_wipe(scope: Scope, receive: Receive, send: Send) -> None:
            # Nothing refers to it any more: it is encoded.
            wipe(self.content.program_key)
            await answer(scope, receive, send)
            caller: Caller | None = scope.get(CALLER)  # type: ignore[assignment]  # put there by the server
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
    request_max_body_size=MAX_BYTES,
)
async def sign_in_program(
    data: JSONBody[ProgramSignInIn], scope: Scope, program_sign_in: NamedDependency[ProgramSignIn]
) -> ProgramSessionOut:
    """Exchange a program key for a session token, which is good for an hour at most and for the key's scopes alone.

    If need be, the workspace is opened. The program keeps the token and comes back when it has ended.
    """
    try:
        presented = program_sign_in.parse(data.program_key)
    finally:
        wipe(data.program_key)
    scope[USER] = presented.uuid  # type: ignore[typeddict-unknown-key]  # ASGI lets an application add keys
    return await program_sign_in.exchange(presented)


@post("", guards=[guard.full], opt=scopes.PERSON | raises(TooManyProgramKeys, ProgramKeysDisabled))
async def create_program_key(
    data: JSONBody[ProgramKeyIn], session: NamedDependency[Session], program_keys: NamedDependency[ProgramKeys]
) -> Answer[NewProgramKey]:
    """Make a key with which a program signs in as the user, with these scopes, for so many days. It is shown once."""
    return ShownOnce(await program_keys.create(session, data))


@get("", guards=[guard.session], opt=scopes.PERSON)
async def list_program_keys(user: NamedDependency[User], program_keys: NamedDependency[ProgramKeys]) -> Listed:
    """The user's program keys, with their last use. None of them can be shown again."""
    return await program_keys.list(user.uuid)


@delete("/{program_key_id:str}", guards=[guard.session], opt=scopes.PERSON | raises(ProgramKeyNotFound))
async def revoke_program_key(
    program_key_id: Annotated[Id, PathParameter()],
    session: NamedDependency[Session],
    program_keys: NamedDependency[ProgramKeys],
) -> None:
    """Revoke a key. The program's sessions end at once; runs that it has started go on."""
    await program_keys.revoke(session, ProgramKeyId(program_key_id))


router = Router("/auth", route_handlers=[sign_in_program], tags=["Auth"])
keys_router = Router(
    "/users/me/program-keys",
    route_handlers=[create_program_key, list_program_keys, revoke_program_key],
    tags=["Auth"],
)
