"""One method of one route, as seen from outside: what it takes, who may call it, what it answers."""

import inspect
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, Final, NamedTuple, Union, get_args, get_origin, get_type_hints

from carrel.auth.programs.scopes import NEEDS, PersonRequired, ScopeMissing
from carrel.errors import (
    BadInput,
    CarrelError,
    DiskFull,
    NotFound,
    PreconditionFailed,
    TooLarge,
    Unavailable,
    UnsupportedMedia,
)
from carrel.http.answers.problem import NotAcceptable
from carrel.http.answers.response import JSON, Response
from carrel.http.requests.body import MULTIPART, TAKES, UnexpectedBody, is_all_optional
from carrel.http.requests.describe import ALSO, ERRORS, MEDIA_TYPES, VERSIONED
from carrel.http.requests.faults import members
from carrel.http.requests.idempotency import InProgress, Mismatch, TooManyKeys
from carrel.http.requests.routing import REQUIRED, Endpoint, template_of
from carrel.kit.sqlite.paging import InvalidCursor

_UNIONS: Final = (Union, UnionType)


class Gate(NamedTuple):
    """What a guard means: any one of `schemes` is accepted, and `errors` are its other answers."""

    schemes: tuple[str, ...]
    errors: tuple[type[CarrelError], ...]


class Operation:
    """Computed once for `openapi.json`."""

    def __init__(self, endpoint: Endpoint, gates: Mapping[Callable[..., Any], Gate]) -> None:
        declared, signature = endpoint.operation, endpoint.signature
        opt = declared.opt
        returned = get_type_hints(declared.function)["return"]
        self.path = template_of(declared.path)
        self.method = declared.method
        self.name = declared.function.__name__
        self.documentation = inspect.cleandoc(declared.function.__doc__ or "")
        self.tags = [*declared.tags]
        self.status = declared.status
        self.body = signature.body
        # Without a body, a route takes the defaults of its fields.
        self.body_required = (
            signature.body is not None
            and signature.body_default is REQUIRED
            and not any(map(is_all_optional, members(signature.body)))
        )
        self.form: dict[str, Any] | None = opt.get(MULTIPART)
        self.takes: str | None = opt.get(TAKES)
        self.parameters = sorted(endpoint.parameters, key=lambda parameter: (parameter.place, parameter.name))
        self.dependencies = frozenset(signature.dependencies)
        self.also: tuple[int, Any] | None = opt.get(ALSO)
        self.answer = _answer(returned, self.also[1] if self.also else None)
        self.tagged = get_origin(returned) is Response and (
            hasattr(self.answer, "version") or opt.get(VERSIONED, False)
        )
        self.media_types: tuple[str, ...] = opt.get(MEDIA_TYPES, (JSON,))
        self.gates = [gates[guard] for guard in declared.guards]
        self.schemes = [scheme for gate in self.gates for scheme in gate.schemes]
        self.scope: str | None = opt.get(NEEDS)
        """What a program needs; `person` for what is closed to programs."""
        self.errors = _errors(self, opt.get(ERRORS, ()))

    def annotations(self) -> list[Any]:
        """Every type that needs a schema."""
        types = [parameter.kind for parameter in self.parameters]
        answers = (self.body, self.answer, self.also[1] if self.also else None)
        return types + [annotation for annotation in answers if annotation is not None]


def _answer(returned: Any, elsewhere: Any) -> Any:
    """The type of the answer's JSON content, without the types in `elsewhere`; `None` if it is empty."""
    if get_origin(returned) is Response:
        returned = get_args(returned)[0]
    if get_origin(returned) in _UNIONS:
        # Text is the other media type of a resource. It is not JSON.
        members = [member for member in get_args(returned) if member not in (str, elsewhere)]
        if len(members) == 1:
            return members[0]
    return None if returned is NoneType else returned


def _errors(operation: Operation, own: tuple[type[CarrelError], ...]) -> list[type[CarrelError]]:
    """The errors that the route can answer, in the order in which they are checked."""
    places = {parameter.place for parameter in operation.parameters}
    found: list[type[CarrelError]] = [error for gate in operation.gates for error in gate.errors]
    if operation.scope is not None:
        found.append(PersonRequired if operation.scope == "person" else ScopeMissing)
    if operation.body is not None or operation.form or operation.takes:
        found += [TooLarge, UnsupportedMedia]
    else:
        found += [TooLarge, UnexpectedBody]
    found.append(BadInput)
    if "paging" in operation.dependencies:
        found.append(InvalidCursor)
    if "path" in places:
        found.append(NotFound)
    if "once" in operation.dependencies:
        found += [Mismatch, InProgress, TooManyKeys]
    if "if_match" in operation.dependencies:
        found.append(PreconditionFailed)
    if len(operation.media_types) > 1:
        found.append(NotAcceptable)
    if operation.gates:
        found.append(Unavailable)
        if operation.method != "GET":
            found.append(DiskFull)
    found += [error for error in own if error not in found]
    return [*found, CarrelError]
