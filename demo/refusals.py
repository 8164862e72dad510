"""What the website says no with. Each text is written for the person who reads it in the page."""

import math
from typing import Final

AWAY: Final = "The service cannot be reached right now. Please try again in a moment."


class Refusal(Exception):
    """A request that was understood and is not carried out; `status` is that of the page that says so."""

    status = 400
    wait_seconds: int | None = None
    """After which it may be asked again, if that is known; for `Retry-After`."""

    @property
    def text(self) -> str:
        """What the page says."""
        return str(self)


class WrongPassword(Refusal):
    """Nothing was sent to the service: there a wrong key would lock the user out and halt the user's runs."""

    status = 403

    def __init__(self, text: str = "This is not the right password.") -> None:
        super().__init__(text)


class TooManyTries(Refusal):
    """Guessing costs time."""

    status = 429

    def __init__(self, wait_seconds: float) -> None:
        self.wait_seconds = max(1, math.ceil(wait_seconds))
        super().__init__(
            f"There were too many tries, so this one was not looked at. Please wait {_in_words(self.wait_seconds)}. "
            "Nothing is lost."
        )


class TooBusy(Refusal):
    """Too many passwords are being checked at this moment, each of which takes time and memory on purpose."""

    status = 503
    wait_seconds = 2

    def __init__(self) -> None:
        super().__init__("Many people are signing in right now. Please try again in a moment. Nothing was changed.")


class OtherPassword(Refusal):
    """The password is one of the two of a change that was interrupted, and the desk has the other one."""

    status = 409

    def __init__(self) -> None:
        super().__init__(
            "A change of your password was interrupted, and your desk opens with the other one. "
            "Please type that password: the old one if you tried the new one, and the new one if you tried the old one."
        )


class DeskElsewhere(Refusal):
    """The website knows the password and the desk does not, as after the restoring of an older backup."""

    status = 409

    def __init__(self) -> None:
        super().__init__(
            "Your password is right for this website, but your desk is locked with an earlier one. "
            "Use “Forgotten password” and give the earlier password there: it brings the desk along."
        )


class DeskLost(Refusal):
    """There was a desk, and the service knows nothing of it: a matter for people, not for a fresh start."""

    status = 503

    def __init__(self) -> None:
        super().__init__(
            "The service does not know your desk. Nothing was made in its place. Please tell us. We will look for it."
        )


class ServiceAway(Refusal):
    """The service cannot be reached, or not now. What was asked for did not happen."""

    status = 503

    def __init__(
        self, text: str = "The service cannot be reached right now. Nothing was changed; please try again."
    ) -> None:
        super().__init__(text)


class InDoubt(Refusal):
    """The connection broke while the desk was being re-encrypted."""

    status = 503

    def __init__(self) -> None:
        super().__init__(
            "The connection broke while your desk was being locked with the new password, so we cannot say yet which "
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
        super().__init__("Your desk is locked, and it opens with your old password or with your recovery code only.")


class WrongProof(WrongPassword):
    """The old password or the recovery code of a reset does not open the desk."""


class AccountGone(Refusal):
    """A deletion that was interrupted has just been finished."""

    status = 410

    def __init__(self) -> None:
        super().__init__("This account was deleted, as you asked, with everything in it.")


def _in_words(seconds: int) -> str:
    if seconds == 1:
        return "a second"
    return f"{seconds} seconds" if seconds < 120 else f"{math.ceil(seconds / 60)} minutes"
