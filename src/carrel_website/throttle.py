"""Slows down guessing, sign-ups and mails. In memory, and bounded; the service limits none of this.

A guess counts against three subjects. The account from this network: after five wrong tries each further one waits,
twice as long every time. The network, whatever the account, so that one password cannot be tried on everybody. And the
account, wherever the guess comes from, except from a network where its password was right before: many strangers
together shall not get further, and shall not shut the owner out either.
"""

import ipaddress
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from carrel_website.refusals import TooManyTries, WrongPassword

V = TypeVar("V")

FREE_TRIES: Final = 5
LONGEST_WAIT_SECONDS: Final = 900
_REMEMBERED: Final = 10_000


def network_of(address: str) -> str:
    """What counts as one address: of IPv6 the 64 bits that one household is given."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)


class Allowance:
    """For each subject so many at once, and then one each so many seconds."""

    def __init__(
        self, clock: Callable[[], float], *, at_once: int, each_seconds: float, remembered: int = _REMEMBERED
    ) -> None:
        self._clock = clock
        self._each_seconds = each_seconds
        self._debt_seconds = at_once * each_seconds
        self._remembered = remembered
        # When each subject's allowance is whole again, in the order of their last use.
        self._whole_at: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._whole_at)

    def take(self, subject: str) -> float:
        """One more: 0, or the seconds to wait before there is one."""
        now = self._clock()
        with self._lock:
            whole_at = max(self._whole_at.get(subject, now), now) + self._each_seconds
            wait = whole_at - now - self._debt_seconds
            if wait > 0:
                return wait
            self._whole_at[subject] = whole_at
            self._whole_at.move_to_end(subject)
            if len(self._whole_at) > self._remembered:
                self._whole_at.popitem(last=False)
            return 0

    def release(self, subject: str) -> None:
        """Give back what was taken, because it did not count."""
        with self._lock:
            if subject in self._whole_at:
                self._whole_at[subject] -= self._each_seconds


class Throttle:
    """All limits of the website. `clock` counts seconds and never goes backwards."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._right_before: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()
        self._guesses_of_network = Allowance(clock, at_once=30, each_seconds=30)
        self._guesses_at_account = Allowance(clock, at_once=30, each_seconds=60)
        self._sign_ups = Allowance(clock, at_once=20, each_seconds=60)
        self._mails_to_account = Allowance(clock, at_once=3, each_seconds=1200)
        self._mails_from_network = Allowance(clock, at_once=20, each_seconds=60)

    @contextmanager
    def guessing(self, account: str, address: str) -> Iterator[None]:
        """Limit the tries, around a check of a password.

        A try counts as failed until it succeeds, so that many tries at once gain nothing.

        Raises:
            TooManyTries
        """
        account, network = account.lower(), network_of(address)
        pair = f"{network} {account}"
        taken = self._admit(account, network, pair)
        try:
            yield
        except WrongPassword:
            raise
        except BaseException:
            # The password was not checked, or was right: this is not a failed try.
            self._take_back(pair, taken)
            raise
        self._take_back(pair, taken)
        with self._lock:
            self._failures.pop(pair, None)
            _remember(self._right_before, pair, None)

    def signing_up(self, address: str) -> None:
        """Count one more account from this address: its hash, key and workspace cost time.

        Raises:
            TooManyTries
        """
        _insist(self._sign_ups, network_of(address))

    def sending_mail(self, account: str, address: str) -> None:
        """Count one more mail. It counts for unknown accounts, too: otherwise the answer would reveal them.

        Raises:
            TooManyTries
        """
        _insist(self._mails_from_network, network_of(address))
        _insist(self._mails_to_account, account.lower())

    def _admit(self, account: str, network: str, pair: str) -> list[tuple[Allowance, str]]:
        now = self._clock()
        with self._lock:
            count, last = self._failures.get(pair, (0, now))
            wait = 0 if count < FREE_TRIES else min(2 ** (count - FREE_TRIES), LONGEST_WAIT_SECONDS)
            if now - last < wait:
                raise TooManyTries(wait - (now - last))
            wanted = [(self._guesses_of_network, network)]
            if pair not in self._right_before:
                wanted.append((self._guesses_at_account, account))
            for number, (allowance, subject) in enumerate(wanted):
                seconds = allowance.take(subject)
                if seconds:
                    for earlier, its_subject in wanted[:number]:
                        earlier.release(its_subject)
                    raise TooManyTries(seconds)
            _remember(self._failures, pair, (count + 1, now))
        return wanted

    def _take_back(self, pair: str, taken: list[tuple[Allowance, str]]) -> None:
        for allowance, subject in taken:
            allowance.release(subject)
        with self._lock:
            if pair in self._failures:
                count, last = self._failures[pair]
                self._failures[pair] = (max(count - 1, 0), last)


def _insist(allowance: Allowance, subject: str) -> None:
    seconds = allowance.take(subject)
    if seconds:
        raise TooManyTries(seconds)


def _remember(kept: OrderedDict[str, V], key: str, value: V) -> None:
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > _REMEMBERED:
        kept.popitem(last=False)
