"""What a host learns about a rekey, also when the answer was lost: it happened, it did not, or nobody knows.

`send` asks for the rekey, `login` signs in with the new key; both return their failure.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from carrel_sdk.errors import CarrelError, CarrelUnreachable, KeyRejected, OldKeyRequired
from carrel_sdk.host_calls import code_of
from carrel_sdk.sessions import Session

Call: TypeAlias = Callable[[], Session | CarrelError]


class PasswordChangeUnknown(CarrelError):
    """The service cannot be asked whether the password's change happened.

    Keep both passwords' hashes. At the next sign-in the user types one of them: the one that `Host.sign_in` accepts is
    the one that counts.
    """

    def __init__(self) -> None:
        super().__init__("it is unknown whether the workspace was re-encrypted; keep the change pending")


@dataclass(frozen=True, slots=True)
class PasswordChange:
    """The change is done on Carrel's side: now only the new password opens the workspace. Record it on the host's."""

    session: Session
    already_done: bool
    """An earlier call did it, and its answer was lost or not recorded."""


def with_old_key(send: Call, login: Call) -> PasswordChange | CarrelError:
    """A rekey with the old key."""
    rekeyed = send()
    if isinstance(rekeyed, Session):
        return PasswordChange(rekeyed, already_done=False)
    in_doubt = _may_have_happened(rekeyed)
    if not in_doubt and code_of(rekeyed) != "key-rejected":
        return rekeyed
    # A login waits for a rekey that is still running, and then shows which key counts.
    confirmed = login()
    if isinstance(confirmed, Session):
        return PasswordChange(confirmed, already_done=True)
    if not in_doubt and isinstance(confirmed, KeyRejected):
        return rekeyed
    return PasswordChangeUnknown()


def from_memory(send: Call, login: Call) -> PasswordChange | CarrelError:
    """A rekey with the key in the service's memory."""
    rekeyed = send()
    in_doubt = not isinstance(rekeyed, Session) and _may_have_happened(rekeyed)
    if in_doubt:
        # Send the rekey again instead of a login. The key in memory opens the workspace whether or not the first rekey
        # happened. A login with the new password would drop that key if it had not happened.
        rekeyed = send()
        if isinstance(rekeyed, OldKeyRequired):
            # There is none to lose any more.
            rekeyed = login()
    if isinstance(rekeyed, Session):
        return PasswordChange(rekeyed, already_done=False)
    # After the first one was in doubt, a refusal of the second says nothing about it.
    return PasswordChangeUnknown() if in_doubt else rekeyed


def _may_have_happened(error: CarrelError) -> bool:
    """Whether a rekey that ended with this error may have re-encrypted the workspace anyway."""
    if isinstance(error, CarrelUnreachable):
        return error.sent
    # Carrel's own refusals say that nothing was changed; a proxy's page or an internal error says nothing.
    return code_of(error) in {"unexpected-answer", "internal"}
