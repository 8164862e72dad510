"""The errors of calls to GitHub, as callers of Carrel see them. GitHub's own messages are never repeated."""

import math
from collections.abc import Mapping
from http import HTTPStatus

from carrel.errors import BadInput, CarrelError, Conflict, NotFound, Unavailable
from carrel.providers.base import ANSWER_TOO_LARGE, ProviderError

_LONGEST_WAIT_SECONDS = 86_400
_UNTOLD_WAIT_SECONDS = 60
"""How long GitHub's documentation says to wait if an answer names no time."""


class GithubHostNotAllowed(BadInput):
    """The operator does not allow the host, or its name leads to a forbidden address."""

    code = "github-host-not-allowed"
    detail = "The operator has not allowed this GitHub host."


class GithubTokenRejected(Conflict):
    """GitHub rejects the token."""

    code = "github-token-rejected"
    detail = "GitHub does not take this connection's token: it is wrong, ended or was withdrawn."


class GithubNoPermission(Conflict):
    """GitHub accepts the token, but not for this request."""

    code = "github-no-permission"
    detail = "The connection's token does not allow this in the repository."


class GithubNotFound(NotFound):
    """GitHub shows no such repository, branch, folder or file to this token."""

    code = "github-not-found"
    detail = "GitHub shows nothing like this to the connection's token: the repository, branch or path."


class GithubMoved(Conflict):
    """The repository was renamed. A token is never sent to a redirect's target."""

    code = "github-moved"
    detail = "The repository was renamed or moved; give the connection its new name."


class GithubConflict(Conflict):
    """The repository's state forbids it."""

    code = "github-conflict"
    detail = "The repository does not take this as it is now: the branch moved meanwhile, is protected, or is empty."


class GithubAnswerTooLarge(Conflict):
    """An answer is longer, or has more elements, than any should have."""

    code = "github-answer-too-large"
    detail = "GitHub's answer is larger than Carrel reads: the folder holds too many files."


class GithubRateLimited(CarrelError):
    """GitHub refuses requests for a while."""

    status = 429
    code = "github-rate-limited"
    detail = "GitHub takes no more requests with this token for now; see Retry-After."


class GithubUnavailable(Unavailable):
    """GitHub gave no answer, or one that cannot be understood."""

    code = "github-unavailable"
    detail = "GitHub did not answer as it should; try again later."


OF_GITHUB = (
    GithubHostNotAllowed,
    GithubTokenRejected,
    GithubNoPermission,
    GithubNotFound,
    GithubMoved,
    GithubConflict,
    GithubAnswerTooLarge,
    GithubRateLimited,
    GithubUnavailable,
)
"""Every error that a call of GitHub can end with."""

_BY_STATUS: dict[int, type[CarrelError]] = {
    HTTPStatus.UNAUTHORIZED: GithubTokenRejected,
    HTTPStatus.FORBIDDEN: GithubNoPermission,
    HTTPStatus.NOT_FOUND: GithubNotFound,
    HTTPStatus.GONE: GithubNotFound,
    HTTPStatus.CONFLICT: GithubConflict,
    HTTPStatus.UNPROCESSABLE_ENTITY: GithubConflict,
}
_BY_CODE: dict[str, type[CarrelError]] = {
    "provider-host-not-allowed": GithubHostNotAllowed,
    ANSWER_TOO_LARGE: GithubAnswerTooLarge,
}
_LIMITING = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS})


def refusal(status: int, headers: Mapping[str, str], now: float) -> CarrelError:
    """The error for an answer that is not a 2xx; `now` is the time in seconds since the epoch."""
    if status in _LIMITING:
        wait = _wait(headers, now)
        if wait is not None or status == HTTPStatus.TOO_MANY_REQUESTS:
            return GithubRateLimited(retry_after_seconds=_UNTOLD_WAIT_SECONDS if wait is None else wait)
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return GithubMoved()
    return _BY_STATUS.get(status, GithubUnavailable)()


def of_transport(error: ProviderError) -> CarrelError:
    """The error for a request that got no answer."""
    return _BY_CODE.get(error.code, GithubUnavailable)()


def _wait(headers: Mapping[str, str], now: float) -> int | None:
    """How long GitHub says to wait; `None` if the answer is not about a limit."""
    after = _number(headers.get("Retry-After"))
    if after is None and headers.get("X-RateLimit-Remaining") == "0":
        reset = _number(headers.get("X-RateLimit-Reset"))
        after = _UNTOLD_WAIT_SECONDS if reset is None else reset - now
    return None if after is None else max(1, min(math.ceil(after), _LONGEST_WAIT_SECONDS))


def _number(text: str | None) -> float | None:
    return float(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 15 else None
