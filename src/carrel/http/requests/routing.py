"""Routes: what a function takes is read off its signature once, and given to it with each request.

A parameter is a part of the path, if the path names it; a query parameter or a header, if it is annotated with `Query`
or `Header`; the decoded body, if it is called `data`; the request itself, if it is called `request`; else what the
dependency of its name provides. Starlette finds the path. The rest is here: it decodes with msgspec, runs the guards
before anything is read, and tells all faults at once.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl
from weakref import WeakKeyDictionary

import msgspec
from starlette import routing
from starlette.types import ASGIApp, Receive, Scope, Send

from carrel.errors import BadInput, CarrelError, FieldError, Malformed, NotFound
from carrel.http.answers import problem
from carrel.http.answers.fenced import USER
from carrel.http.answers.response import AsgiAnswer, Response
from carrel.http.request import Request
from carrel.http.requests import auditing, body
from carrel.http.requests.limits import told
from carrel.http.requests.validation import explain, name_of

Guard = Callable[[Request], Awaitable[None]]
"""Lets a request pass, or raises."""
REQUIRED: Final = inspect.Parameter.empty
"""The default of what has to be sent."""
_STATUS: Final = {"GET": 200, "PUT": 200, "POST": 201, "DELETE": 204}
_UNIONS: Final = (Union, UnionType)
_MAX_PARAMETERS: Final = 50
_CONVERTER: Final = re.compile(r":\w+\}")


class RouteUnknown(NotFound):
    """No route has this path."""

    code = "route-unknown"
    detail = "There is no such route."


class MethodNotAllowed(CarrelError):
    """The route exists, but not with this method."""

    status = 405
    code = "method-not-allowed"
    detail = "This route does not take this method; see the Allow header."


class UnknownParameter(BadInput):
    """A query parameter that the route does not have, or one sent twice."""

    code = "unknown-parameter"
    detail = "There is no such query parameter here, or it was sent twice."


class Path:
    """`Annotated[int, Path(ge=1)]`: a part of the path, within constraints that `msgspec.Meta` knows.

    Where a text may be written in several ways, `reads` makes one of them.
    """

    place = "path"

    def __init__(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        reads: Callable[[str], str] | None = None,
        **constraints: Any,
    ) -> None:
        self.name = name
        self.description = description
        self.reads = reads
        self.constraints = constraints


class Query(Path):
    """A query parameter. It may be sent several times if it is a list."""

    place = "query"


class Header(Path):
    """A header."""

    place = "header"


class Parameter:
    """A parameter of a request. `kind` is the type of its value: with its constraints, and without null."""

    def __init__(self, variable: str, annotation: Any, default: Any) -> None:
        kind, *notes = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
        place = next((note for note in notes if isinstance(note, Path)), Path())
        if get_origin(kind) in _UNIONS:
            # A parameter that is not sent is null; nobody can send null.
            kind = Union[tuple(member for member in get_args(kind) if member is not NoneType)]  # noqa: UP007
        self.variable = variable
        self.name = place.name or variable
        self.place = place.place
        self.description = place.description
        self.reads = place.reads
        self.default = REQUIRED if self.place == "path" else default
        self.kind = Annotated[kind, msgspec.Meta(**place.constraints)] if place.constraints else kind
        self.is_list = get_origin(kind) is list

    def read(self, sent: Any, faults: list[FieldError]) -> Any:
        """The value of what was `sent`: a text, several, or nothing."""
        if sent is None:
            if self.default is REQUIRED:
                faults.append(FieldError(name_of(self.name), "is required"))
            return self.default
        if self.reads is not None:
            sent = self.reads(sent)
        try:
            return msgspec.convert(sent, self.kind, strict=False)
        except msgspec.ValidationError as error:
            faults.append(explain(str(error), name_of(self.name)))
            return None


class Signature:
    """What a function takes of a request."""

    def __init__(self, function: Callable[..., Any], path: str, dependencies: Mapping[str, Callable[..., Any]]) -> None:
        self.function = function
        self.parameters: list[Parameter] = []
        self.body: Any = None
        self.body_default: Any = REQUIRED
        self.takes_request = False
        self.dependencies: dict[str, Signature] = {}
        for variable, annotation, default in _taken(function):
            notes = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
            if variable == "request":
                self.takes_request = True
            elif variable == "data":
                self.body, self.body_default = annotation, default
            elif f"{{{variable}" in path or any(isinstance(note, Path) for note in notes):
                self.parameters.append(Parameter(variable, annotation, default))
            else:
                self.dependencies[variable] = Signature(dependencies[variable], "", dependencies)

    def all_parameters(self) -> Iterator[Parameter]:
        """Those of its dependencies included."""
        yield from self.parameters
        for signature in self.dependencies.values():
            yield from signature.all_parameters()

    def values(self, request: Request, queried: Mapping[str, Any], faults: list[FieldError]) -> dict[str, Any]:
        """What the function is called with, but for the body. If there are faults, it must not be called."""
        values: dict[str, Any] = {"request": request} if self.takes_request else {}
        for parameter in self.parameters:
            if parameter.place == "path":
                sent = request.scope["path_params"][parameter.name]
            elif parameter.place == "query":
                sent = queried.get(parameter.name)
            else:
                sent = request.header(parameter.name.lower().encode("ascii"))
            values[parameter.variable] = parameter.read(sent, faults)
        for variable, signature in self.dependencies.items():
            given = signature.values(request, queried, faults)
            values[variable] = None if faults else signature.function(**given)
        return values


_TAKEN: WeakKeyDictionary[Callable[..., Any], tuple[tuple[str, Any, Any], ...]] = WeakKeyDictionary()


def _taken(function: Callable[..., Any]) -> tuple[tuple[str, Any, Any], ...]:
    """Name, annotation and default of what a function takes; most dependencies are those of many routes."""
    found = _TAKEN.get(function)
    if found is None:
        hints, parameters = get_type_hints(function, include_extras=True), inspect.signature(function).parameters
        found = tuple((name, hints.get(name), parameter.default) for name, parameter in parameters.items())
        _TAKEN[function] = found
    return found


class RouteMethod:
    """One method of one route, as it is declared. `opt` is what it says about itself beside its signature."""

    def __init__(
        self,
        method: str,
        path: str,
        function: Callable[..., Awaitable[Any]],
        *,
        guards: Sequence[Guard] = (),
        tags: Sequence[str] = (),
        status_code: int | None = None,
        opt: Mapping[str, Any] | None = None,
        max_body_bytes: int | None = body.AS_SET,
        include_in_schema: bool = True,
    ) -> None:
        self.method = method
        self.path = path
        self.function = function
        self.guards = tuple(guards)
        self.tags = tuple(tags)
        self.status = status_code or _STATUS[method]
        self.opt = dict(opt or {})
        self.max_body_bytes = max_body_bytes
        self.include_in_schema = include_in_schema

    def below(self, path: str, guards: Sequence[Guard], tags: Sequence[str]) -> "RouteMethod":
        """The same one as a part of a router."""
        return RouteMethod(
            self.method,
            path.rstrip("/") + self.path,
            self.function,
            guards=(*guards, *self.guards),
            tags=self.tags or tags,
            status_code=self.status,
            opt=self.opt,
            max_body_bytes=self.max_body_bytes,
            include_in_schema=self.include_in_schema,
        )


def _declare(method: str, path: str, **settings: Any) -> Callable[[Callable[..., Awaitable[Any]]], RouteMethod]:
    return lambda function: RouteMethod(method, path, function, **settings)


get = partial(_declare, "GET")
post = partial(_declare, "POST")
put = partial(_declare, "PUT")
delete = partial(_declare, "DELETE")


class Router:
    """Operations below a path, which share guards and tags."""

    def __init__(
        self,
        path: str,
        route_handlers: "Iterable[RouteMethod | Router]",
        *,
        guards: Sequence[Guard] = (),
        tags: Sequence[str] = (),
    ) -> None:
        self.operations: list[RouteMethod] = []
        for handler in route_handlers:
            several = handler.operations if isinstance(handler, Router) else [handler]
            self.operations += [operation.below(path, guards, tags) for operation in several]


class Endpoint:
    """An operation that is ready to answer requests."""

    def __init__(
        self,
        operation: RouteMethod,
        dependencies: Mapping[str, Callable[..., Any]],
        state: Mapping[str, Any],
        max_json_bytes: int,
    ) -> None:
        self.operation = operation
        self.signature = Signature(operation.function, operation.path, dependencies)
        self.parameters = list(self.signature.all_parameters())
        self._lists = {parameter.name: parameter.is_list for parameter in self.parameters if parameter.place == "query"}
        self._state = state
        most = operation.max_body_bytes
        self._max_body_bytes = max_json_bytes if most == body.AS_SET else most
        if self.signature.body is not None:
            body.prepare(self.signature.body)

    async def answer(self, scope: Scope, receive: Receive) -> ASGIApp:
        """What answers a request.

        Raises:
            CarrelError: it is refused.
        """
        operation, signature = self.operation, self.signature
        request = Request(scope, receive, operation.opt, self._state, operation.status, self._max_body_bytes)
        for guard in operation.guards:
            await guard(request)
        has_body = await body.expect(request, takes_json=signature.body is not None)
        faults: list[FieldError] = []
        queried = _read_query(scope["query_string"], self._lists) if scope["query_string"] else {}
        values = signature.values(request, queried, faults)
        if signature.body is not None:
            values["data"] = await body.read(request, signature.body, signature.body_default, has_body, faults)
        if faults:
            raise BadInput(errors=told(faults))
        if USER not in scope:
            # The host or the operator asks, perhaps about a user.
            about = values.get("uuid") or getattr(values.get("data"), "uuid", None)
            if isinstance(about, str):
                scope[USER] = about
            await auditing.write_down(request)
        given = await operation.function(**values)
        return (given if isinstance(given, Response) else Response(given)).asgi(request)


class _Methods:
    """Everything at one path, whose `template` has no types."""

    def __init__(self, template: str, endpoints: Mapping[str, Endpoint]) -> None:
        self._template = template
        self._endpoints = endpoints
        methods = {*endpoints, "OPTIONS", *({"HEAD"} if "GET" in endpoints else ())}
        self._allow = (b"allow", ", ".join(sorted(methods)).encode("ascii"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["path_template"] = self._template
        endpoint = self._endpoints.get(scope["method"])
        if endpoint is not None:
            answer = await endpoint.answer(scope, receive)
        elif scope["method"] == "OPTIONS":
            answer = AsgiAnswer(204, [self._allow], b"")
        else:
            answer = problem.respond(scope, MethodNotAllowed(), self._allow)
        await answer(scope, receive, send)


class Routes:
    """All operations of `routers`, as an ASGI application. `dependencies` provide the parameters of their names."""

    def __init__(
        self,
        routers: Iterable[Router],
        dependencies: Mapping[str, Callable[..., Any]],
        state: Mapping[str, Any],
        max_json_bytes: int,
        lifespan: Callable[[], AbstractAsyncContextManager[None]],
    ) -> None:
        self._lifespan = routing.Router(lifespan=lambda _: lifespan())
        self.endpoints = [
            Endpoint(operation, dependencies, state, max_json_bytes)
            for router in routers
            for operation in router.operations
        ]
        paths: dict[str, dict[str, Endpoint]] = {}
        for endpoint in self.endpoints:
            paths.setdefault(endpoint.operation.path or "/", {})[endpoint.operation.method] = endpoint
        branches: dict[str, list[routing.Route]] = {}
        # Starlette takes the first that fits: fixed parts come before variable ones, and those before whole paths.
        for path in sorted(paths, key=lambda path: path.replace("{", "~").replace(":path}", "~")):
            branches.setdefault(_branch(path), []).append(routing.Route(path, _Methods(template_of(path), paths[path])))
        self._branches = {
            branch: routing.Router(routes, redirect_slashes=False, default=_unknown)
            for branch, routes in branches.items()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. The beginning of its path rules out most routes, which Starlette would try one by one."""
        if scope["type"] == "lifespan":
            await self._lifespan(scope, receive, send)
            return
        await self._branches.get(_branch(scope["path"]), _unknown)(scope, receive, send)


def template_of(path: str) -> str:
    """A path without the types that Starlette reads in it: `/runs/{run_id}` for `/runs/{run_id:str}`."""
    return _CONVERTER.sub("}", path)


def _branch(path: str) -> str:
    """The first part of a path, or the second of one below `/api`."""
    _, first, second, *_ = (*path.split("/", 3), "", "")
    return second if first == "api" else first


async def _unknown(scope: Scope, receive: Receive, send: Send) -> None:
    await problem.respond(scope, RouteUnknown())(scope, receive, send)


def _read_query(text: bytes, lists: Mapping[str, bool]) -> dict[str, str | list[str]]:
    """The parameters of a query, by name. `lists` are those that the route has, and which may be sent several times.

    Raises:
        UnknownParameter, Malformed
    """
    try:
        pairs = parse_qsl(text.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MAX_PARAMETERS)
    except ValueError:
        raise Malformed(detail="The query string is too long or not valid UTF-8.") from None
    names = [name for name, _ in pairs]
    faults = [
        FieldError(name_of(name), "is not a parameter of this route" if name not in lists else "was sent twice")
        for name in dict.fromkeys(names)
        if name not in lists or (names.count(name) > 1 and not lists[name])
    ]
    if faults:
        raise UnknownParameter(errors=told(faults))
    return {name: [one for other, one in pairs if other == name] if lists[name] else value for name, value in pairs}
