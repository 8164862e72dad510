"""A new password for somebody who does not know the old one. Of the ways to keep the desk, the easiest comes first.

1. The desk's key is still in the service's memory: it is re-encrypted, and nothing else is asked.
2. The user finds the old password after all, or has a recovery code.
3. The user gives the desk up and types that in words. This never happens by itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from carrel_sdk import CarrelApiError, CarrelError, OldKeyRequired, PasswordChangeUnknown

from demo import recovery, users, visits
from demo.desks import Desks
from demo.refusals import DeskElsewhere, DeskLost, InDoubt, ProofNeeded, ServiceAway, WrongProof
from demo.users import User

PHRASE: Final = "give up my desk"
"""What has to be typed before a desk is given up."""


@dataclass(frozen=True, slots=True, repr=False)
class OldPassword:
    """The password that locks the desk now."""

    text: str


@dataclass(frozen=True, slots=True, repr=False)
class RecoveryCode:
    """The code that was shown when it was made."""

    text: str


Proof: TypeAlias = OldPassword | RecoveryCode | None
Leave: TypeAlias = Callable[[], object]
"""Asks, in the user's turn, whether the link is still good: another tab may have used it a moment ago."""


def reset(desks: Desks, uuid: str, new: str, proof: Proof, leave: Leave) -> int:
    """Lock the desk with a new password; its id. Without a proof, the service's memory has to hold the key.

    Raises:
        what `leave` raises: nothing was changed.
        ProofNeeded: it does not; nothing was changed.
        WrongProof, DeskElsewhere, DeskLost, AccountGone, ServiceAway: nothing was changed.
        InDoubt: the connection broke; the new password is kept as pending.
    """
    with desks.turn(uuid):
        leave()
        user = desks.standing(uuid)
        pending = desks.add_pending(user, new, by_reset=True)
        try:
            has_desk = _rekey(desks, user, new, proof)
        except PasswordChangeUnknown:
            raise InDoubt from None
        except CarrelError as error:
            desks.drop(pending)
            raise ServiceAway from error
        except (ProofNeeded, WrongProof, DeskElsewhere, DeskLost):
            desks.drop(pending)
            raise
        if has_desk:
            desks.settle_change(uuid, pending)
        else:
            user = desks.user(uuid)
            desks.open_in_turn(user, desks.checked(user, new), new)
        return pending


def start_anew(desks: Desks, uuid: str, new: str, leave: Leave) -> int:
    """Give the desk up, with everything on it, and make an empty one; the id of its password.

    The caller has had the user type `PHRASE`.

    Raises:
        what `leave` raises: nothing was changed.
        ServiceAway: it is written down; the next sign-in with the new password finishes it.
    """
    with desks.turn(uuid):
        leave()
        new_hash = desks.passwords.hash(new)
        with desks.database.begin() as conn:
            users.begin_anew(conn, uuid, new_hash)
            visits.end_all(conn, uuid)
        user = desks.user(uuid)
        try:
            desks.open_in_turn(user, user.passwords[0], new)
        except ServiceAway as error:
            raise ServiceAway(
                "The service cannot be reached right now. Your new password counts already; sign in with it later, and "
                "your new desk will be made."
            ) from error
        return user.passwords[0].id


def _rekey(desks: Desks, user: User, new: str, proof: Proof) -> bool:
    """Whether there was a desk to re-encrypt.

    The key in memory comes first, whatever proof was brought: a wrong one would drop it.
    """
    try:
        desks.host.reset_password(user.uuid, new)
    except OldKeyRequired:
        if isinstance(proof, OldPassword):
            return _from_password(desks, user, new, proof.text)
        if isinstance(proof, RecoveryCode):
            return _from_code(desks, user, new, proof.text)
        raise ProofNeeded from None
    except CarrelApiError as refused:
        return _judge(user, refused)
    return True


def _from_password(desks: Desks, user: User, new: str, old: str) -> bool:
    try:
        desks.host.change_password(user.uuid, old, new)
    except CarrelApiError as refused:
        if refused.code == "key-rejected":
            raise WrongProof("This old password does not open your desk.") from None
        return _judge(user, refused)
    return True


def _from_code(desks: Desks, user: User, new: str, code: str) -> bool:
    sealed = [each.sealed_key for each in user.passwords if each.sealed_key is not None]
    old_keys = recovery.unseal(code, user.uuid, sealed)
    if not old_keys:
        raise WrongProof("This is not the recovery code of your account.")
    # More than one only while a change is pending: the desk has one of them.
    for old_key in old_keys:
        try:
            desks.host.reset_password(user.uuid, new, old_key=old_key)
        except CarrelApiError as refused:
            if refused.code != "key-rejected":
                return _judge(user, refused)
        else:
            return True
    raise DeskElsewhere


def _judge(user: User, refused: CarrelApiError) -> bool:
    """A refusal that has nothing to do with the proof."""
    if refused.code in {"workspace-absent", "user-not-provisioned"}:
        if user.desk_made:
            raise DeskLost from None
        return False
    raise refused
