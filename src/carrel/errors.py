"""Every error that a caller can meet: one root, one status and one stable code each.

    CarrelError
    ├── BadInput 400            ├── Conflict 409
    ├── Unauthorized 401        ├── PreconditionFailed 412
    ├── Forbidden 403           ├── TooLarge 413 · UnsupportedMedia 415
    ├── NotFound 404            └── Unavailable 503 · DiskFull 507

A message is a constant text: it never repeats a value that a client sent, or another exception's text.
"""

from typing import ClassVar, NamedTuple


class FieldError(NamedTuple):
    """One fault of the input: `path` names the field (`candidates[0].model`), `message` says what is expected."""

    path: str
    message: str


class CarrelError(Exception):
    """The root. `code` is stable and documented in `docs/errors.md`; `detail` is a constant sentence for people."""

    status: ClassVar[int] = 500
    code: str = "internal"
    detail: str = "Something went wrong on our side."
    passes: ClassVar[bool] = False
    """Whether a service that cannot start because of it may be able to a little later, without anybody's help."""

    def __init__(
        self,
        code: str | None = None,
        detail: str | None = None,
        *,
        errors: tuple[FieldError, ...] = (),
        retry_after_seconds: int | None = None,
    ) -> None:
        self.code = code or type(self).code
        self.detail = detail or type(self).detail
        self.errors = errors
        self.retry_after_seconds = retry_after_seconds
        self.headers: tuple[tuple[bytes, bytes], ...] = ()
        """Further headers of the answer, in lower case."""
        super().__init__(self.code)


class BadInput(CarrelError):
    """The request's input breaks a rule; `errors` names each field."""

    status = 400
    code = "invalid-input"
    detail = "The input breaks a rule; see errors."

    @classmethod
    def at(cls, path: str, message: str, code: str | None = None) -> "BadInput":
        """One fault at one field."""
        return cls(code, errors=(FieldError(path, message),))


class Malformed(BadInput):
    """The request cannot be read at all."""

    code = "malformed"
    detail = "The request is malformed."


class Unauthorized(CarrelError):
    """A credential is missing or wrong."""

    status = 401
    code = "unauthorized"
    detail = "A credential is missing or wrong."


class Forbidden(CarrelError):
    """The credential is good, but does not allow this."""

    status = 403
    code = "forbidden"
    detail = "This is not allowed."


class NotFound(CarrelError):
    """No such row in this user's workspace; another user's ids look exactly the same."""

    status = 404
    code = "not-found"
    detail = "There is nothing with this id."


class Conflict(CarrelError):
    """The row's state forbids it."""

    status = 409
    code = "conflict"
    detail = "The present state forbids this."


class PreconditionFailed(CarrelError):
    """`If-Match` names another version than the present one."""

    status = 412
    code = "version-mismatch"
    detail = "The resource was changed in the meantime; read it again."


class TooLarge(CarrelError):
    """The request is larger than its limit."""

    status = 413
    code = "too-large"
    detail = "The request is larger than the limit."


class UnsupportedMedia(CarrelError):
    """The route does not accept the body's media type."""

    status = 415
    code = "unsupported-media-type"
    detail = "The body must be application/json."


class Unavailable(CarrelError):
    """The service cannot answer now; the same request may succeed later."""

    status = 503
    code = "unavailable"
    detail = "Not available right now; try again."


class DiskFull(CarrelError):
    """The disk, or the user's share of it, is full; nothing was half-written."""

    status = 507
    code = "storage-full"
    passes = True
    detail = "There is no space left to store this; nothing was changed."
