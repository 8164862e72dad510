"""One method of one route, as seen from outside: what it takes, who may call it, what it answers."""

import inspect
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Any, Final, NamedTuple, Union, get_args, get_origin

from litestar import Response
from litestar.enums import ParamType
from litestar.handlers import HTTPRouteHandler
from litestar.params import ParameterKwarg
from litestar.types import Empty
from litestar.typing import FieldDefinition

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
from carrel.kit.http.answer import JSON, Answer
from carrel.kit.http.describe import ALSO, ERRORS, MEDIA_TYPES, VERSIONED
from carrel.kit.http.idempotency import InProgress, Mismatch, TooManyKeys
from carrel.kit.http.problem import NotAcceptable
from carrel.kit.http.request_checks import MULTIPART, TAKES, UnexpectedBody
from carrel.kit.sqlite.paging import InvalidCursor

_UNIONS: Final = (Union, UnionType)


class Gate(NamedTuple):
    """What a guard means: any one of `schemes` is accepted, and `errors` are its other answers."""

    schemes: tuple[str, ...]
    errors: tuple[type[CarrelError], ...]


class Parameter(NamedTuple):
    """A query, path or header parameter. `annotation` holds its constraints."""

    name: str
    place: str
    annotation: Any
    required: bool
    default: Any


class Operation:
    """Computed once for `openapi.json`."""

    def __init__(
        self, path: str, method: str, handler: HTTPRouteHandler, gates: Mapping[Callable[..., Any], Gate]
    ) -> None:
        signature = handler.parsed_fn_signature
        data = signature.parameters.get("data")
        self.path = path
        self.method = method
        self.name = handler.handler_name
        self.documentation = inspect.cleandoc(handler.fn.__doc__ or "")
        self.tags = handler.resolve_tags()
        self.status = handler.status_code
        self.body = data.annotation if data else None
        self.body_required = data is not None and data.default is Empty
        self.form: dict[str, Any] | None = handler.opt.get(MULTIPART)
        self.takes: str | None = handler.opt.get(TAKES)
        self.parameters = _parameters(handler)
        self.dependencies = frozenset(signature.parameters) & frozenset(handler.resolve_dependencies())
        self.also: tuple[int, Any] | None = handler.opt.get(ALSO)
        self.answer = _answer(signature.return_type, self.also[1] if self.also else None)
        self.tagged = signature.return_type.is_subclass_of(Answer) and (
            hasattr(self.answer, "version") or handler.opt.get(VERSIONED, False)
        )
        self.media_types: tuple[str, ...] = handler.opt.get(MEDIA_TYPES, (JSON,))
        self.gates = [gates[guard] for guard in handler.resolve_guards()]
        self.schemes = [scheme for gate in self.gates for scheme in gate.schemes]
        self.scope: str | None = handler.opt.get(NEEDS)
        """What a program needs; `person` for what is closed to programs."""
        self.errors = _errors(self, handler.opt.get(ERRORS, ()))

    def annotations(self) -> list[Any]:
        """Every type that needs a schema."""
        types = [parameter.annotation for parameter in self.parameters]
        answers = (self.body, self.answer, self.also[1] if self.also else None)
        return types + [annotation for annotation in answers if annotation is not None]


def _answer(returned: FieldDefinition, elsewhere: Any) -> Any:
    """The type of the answer's JSON content, without the types in `elsewhere`; `None` if it is empty."""
    if returned.is_subclass_of(Response):
        returned = returned.inner_types[0]
    if get_origin(returned.annotation) in _UNIONS:
        # Text is the other media type of a resource. It is not JSON.
        members = [member for member in get_args(returned.annotation) if member not in (str, elsewhere)]
        if len(members) == 1:
            return members[0]
    return None if returned.is_none_type else returned.annotation


def _parameters(handler: HTTPRouteHandler) -> list[Parameter]:
    """The route's parameters, including those of its dependencies."""
    dependencies = handler.resolve_dependencies()
    found: dict[tuple[str, str], Parameter] = {}
    pending: list[tuple[Any, Mapping[str, FieldDefinition]]] = [
        (handler.signature_model, handler.parsed_fn_signature.parameters)
    ]
    while pending:
        model, fields = pending.pop()
        for name, field in fields.items():
            if name in dependencies:
                provide = dependencies[name]
                pending.append((provide.signature_model, provide.parsed_fn_signature.parameters))
            elif isinstance(field.kwarg_definition, ParameterKwarg):
                alias = field.kwarg_definition.name or name
                place = ParamType(field.kwarg_definition.param_type).value
                default = None if field.default is Empty else field.default
                required = place == "path" or field.is_required
                found[place, alias] = Parameter(alias, place, model.__annotations__[name], required, default)
    return sorted(found.values(), key=lambda parameter: (parameter.place, parameter.name))


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
