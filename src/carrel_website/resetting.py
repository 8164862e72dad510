"""Set a new password for a user who has forgotten the old one. The easiest way to keep the workspace comes first.

1. The workspace's key is still in the service's memory: it is re-encrypted, and nothing else is asked.
2. The user finds the old password after all, or has a recovery code.
3. The user gives up the workspace and types a phrase that says so. This never happens automatically.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from carrel_sdk import CarrelApiError, CarrelError, OldKeyRequired, PasswordChangeUnknown

from carrel_website import recovery, users, visits
from carrel_website.refusals import InDoubt, ProofNeeded, ServiceAway, WorkspaceElsewhere, WorkspaceLost, WrongProof
from carrel_website.users import User
from carrel_website.workspaces import Workspaces

PHRASE: Final = "give up my workspace"
"""What the user has to type before the workspace is given up."""


@dataclass(frozen=True, slots=True, repr=False)
class OldPassword:
    """The password that locks the workspace now."""

    text: str


@dataclass(frozen=True, slots=True, repr=False)
class RecoveryCode:
    """The code that was shown when it was made."""

    text: str


Proof: TypeAlias = OldPassword | RecoveryCode | None
Leave: TypeAlias = Callable[[], object]
"""Checks, inside the user's turn, that the link is still good: another tab may just have used it."""


def reset(workspaces: Workspaces, uuid: str, new: str, proof: Proof, leave: Leave) -> int:
    """Lock the workspace with a new password and return its id. Without a proof, the key must be in memory.

    Raises:
        what `leave` raises: nothing was changed.
        ProofNeeded: it does not; nothing was changed.
        WrongProof, WorkspaceElsewhere, WorkspaceLost, AccountGone, ServiceAway: nothing was changed.
        InDoubt: the connection broke; the new password is kept as pending.
    """
    with workspaces.turn(uuid):
        leave()
        user = workspaces.standing(uuid)
        pending = workspaces.add_pending(user, new, by_reset=True)
        try:
            has_workspace = _rekey(workspaces, user, new, proof)
        except PasswordChangeUnknown:
            raise InDoubt from None
        except CarrelError as error:
            workspaces.drop(pending)
            raise ServiceAway from error
        except (ProofNeeded, WrongProof, WorkspaceElsewhere, WorkspaceLost):
            workspaces.drop(pending)
            raise
        if has_workspace:
            workspaces.settle_change(uuid, pending)
        else:
            user = workspaces.user(uuid)
            workspaces.open_in_turn(user, workspaces.checked(user, new), new)
        return pending


def start_anew(workspaces: Workspaces, uuid: str, new: str, leave: Leave) -> int:
    """Give up the workspace with everything in it, and make an empty one. Returns the id of its password.

    The caller has had the user type `PHRASE`.

    Raises:
        what `leave` raises: nothing was changed.
        ServiceAway: the reset is recorded, and the next sign-in with the new password finishes it.
    """
    with workspaces.turn(uuid):
        leave()
        new_hash = workspaces.passwords.hash(new)
        with workspaces.database.begin() as conn:
            users.begin_anew(conn, uuid, new_hash)
            visits.end_all(conn, uuid)
        user = workspaces.user(uuid)
        try:
            workspaces.open_in_turn(user, user.passwords[0], new)
        except ServiceAway as error:
            raise ServiceAway(
                "The service cannot be reached right now. Your new password is valid already. Sign in with it later: "
                "your new workspace is created then."
            ) from error
        return user.passwords[0].id


def _rekey(workspaces: Workspaces, user: User, new: str, proof: Proof) -> bool:
    """Whether there was a workspace to re-encrypt.

    The key in memory comes first, even if there is a proof: a wrong proof would drop that key.
    """
    try:
        workspaces.host.reset_password(user.uuid, new)
    except OldKeyRequired:
        if isinstance(proof, OldPassword):
            return _from_password(workspaces, user, new, proof.text)
        if isinstance(proof, RecoveryCode):
            return _from_code(workspaces, user, new, proof.text)
        raise ProofNeeded from None
    except CarrelApiError as refused:
        return _judge(user, refused)
    return True


def _from_password(workspaces: Workspaces, user: User, new: str, old: str) -> bool:
    try:
        workspaces.host.change_password(user.uuid, old, new)
    except CarrelApiError as refused:
        if refused.code == "key-rejected":
            raise WrongProof("This old password does not open your workspace.") from None
        return _judge(user, refused)
    return True


def _from_code(workspaces: Workspaces, user: User, new: str, code: str) -> bool:
    sealed = [each.sealed_key for each in user.passwords if each.sealed_key is not None]
    old_keys = recovery.unseal(code, user.uuid, sealed)
    if not old_keys:
        raise WrongProof("This is not the recovery code of your account.")
    # There is more than one only while a change is pending. The workspace has one of them.
    for old_key in old_keys:
        try:
            workspaces.host.reset_password(user.uuid, new, old_key=old_key)
        except CarrelApiError as refused:
            if refused.code != "key-rejected":
                return _judge(user, refused)
        else:
            return True
    raise WorkspaceElsewhere


def _judge(user: User, refused: CarrelApiError) -> bool:
    """Handle a refusal that is not about the proof: False if there is no workspace yet."""
    if refused.code in {"workspace-absent", "user-not-provisioned"}:
        if user.workspace_made:
            raise WorkspaceLost from None
        return False
    raise refused
