"""The refusals of the website. The person who uses the page reads each text."""

import math
from typing import Final

SUSPENDED: Final = "The operator has suspended your workspace. Nothing in it is lost."
AWAY: Final = "The service cannot be reached right now. Please try again in a moment."


class Refusal(Exception):
    """A request that the website understood and does not carry out. `status` is the status of the page."""

    status = 400
    wait_seconds: int | None = None
    """How long to wait before the next try, if that is known; sent as `Retry-After`."""

    @property
    def text(self) -> str:
        """What the page says."""
        return str(self)


class WrongPassword(Refusal):
    """Nothing was sent to the service, where a wrong key would lock the workspace and pause its runs."""

    status = 403

    def __init__(self, text: str = "This is not the right password.") -> None:
        super().__init__(text)


class TooManyTries(Refusal):
    """There were too many tries: guessing has to take long."""

    status = 429

    def __init__(self, wait_seconds: float) -> None:
        self.wait_seconds = max(1, math.ceil(wait_seconds))
        super().__init__(
            f"There were too many tries, so this one was not checked. Please wait {_in_words(self.wait_seconds)}. "
            "Nothing is lost."
        )


class TooBusy(Refusal):
    """Too many passwords are being checked right now. Each check takes time and memory on purpose."""

    status = 503
    wait_seconds = 2

    def __init__(self) -> None:
        super().__init__("Many people are signing in right now. Please try again in a moment. Nothing was changed.")


class OtherPassword(Refusal):
    """A change of the password was interrupted. This is one of the two passwords; the workspace has the other one."""

    status = 409

    def __init__(self) -> None:
        super().__init__(
            "A change of your password was interrupted, and your workspace opens with the other one. "
            "Please type that password: the old one if you tried the new one, and the new one if you tried the old one."
        )


class WorkspaceElsewhere(Refusal):
    """The website knows the password and the workspace does not, for example after an older backup was restored."""

    status = 409

    def __init__(self) -> None:
        super().__init__(
            "Your password is right for this website, but your workspace is locked with an earlier one. "
            "Use “Forgotten password” and give the earlier password there. You keep everything in your workspace."
        )


class WorkspaceLost(Refusal):
    """There was a workspace, and the service does not know it. People have to look into that; no new one is made."""

    status = 503

    def __init__(self) -> None:
        super().__init__(
            "The service cannot find your workspace. We have not created a new one. "
            "Please tell us, and we will look for it."
        )


class ServiceAway(Refusal):
    """The service cannot be reached, or not now. What was asked for did not happen."""

    status = 503

    def __init__(
        self, text: str = "The service cannot be reached right now. Nothing was changed; please try again."
    ) -> None:
        super().__init__(text)


class InDoubt(Refusal):
    """The connection broke while the workspace was being re-encrypted."""

    status = 503

    def __init__(self) -> None:
        super().__init__(
            "The connection broke while your workspace was being re-encrypted, so we cannot say yet which "
            "of the two opens it. Nothing is lost. Sign in with the new one, and if that is refused with the old one: "
            "the one that works is the one that counts."
        )


class PasswordReplaced(Refusal):
    """The password was right when it was looked at, and is not any more: another tab was faster."""

    status = 409

    def __init__(self) -> None:
        super().__init__("Your password was changed at this very moment. Please sign in with the new one.")


class ProofNeeded(Refusal):
    """A reset for which the service has no key in its memory."""

    status = 409

    def __init__(self) -> None:
        super().__init__(
            "Your workspace is locked, and it opens with your old password or with your recovery code only."
        )


class WrongProof(WrongPassword):
    """The old password or the recovery code of a reset does not open the workspace."""


class AccountGone(Refusal):
    """A deletion that was interrupted has just been finished."""

    status = 410

    def __init__(self) -> None:
        super().__init__("This account was deleted, as you asked, with everything in it.")


def _in_words(seconds: int) -> str:
    if seconds == 1:
        return "a second"
    return f"{seconds} seconds" if seconds < 120 else f"{math.ceil(seconds / 60)} minutes"
