"""Shortcuts in Litestar's handling of a request, where it repeats work whose result never changes.

Three things took a third of a read's time: a new copy of the route handler for every guard, merging the exception
handlers again, and a coroutine, a validation and a clean-up for each dependency that only looks something up. All of
this uses Litestar's internals, so `tests/http` fails with a version that changes them.
"""

import inspect
from collections.abc import Callable
from typing import Any, Final

from litestar import Litestar
from litestar._kwargs.dependencies import DependencyContainer
from litestar._kwargs.kwargs_model import KwargsModel
from litestar.connection import ASGIConnection
from litestar.di import Provide
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute
from litestar.types import ExceptionHandlersMap

from carrel.kit.http import problem

EXCEPTION_HANDLERS: Final[ExceptionHandlersMap] = {Exception: problem.respond}
"""The same for every route."""

_Connection = ASGIConnection[Any, Any, Any, Any]


def shorten(app: Litestar) -> None:
    """Once, when the application is made."""
    for route in app.routes:
        if isinstance(route, HTTPRoute):
            for handler, model in route.route_handler_map.values():
                # The layouts must agree: handlers from `@get` and the like have room for attributes, bare ones do not.
                handler.__class__ = _Decorated if hasattr(handler, "__dict__") else _Handler
                _look_up_at_once(model)


async def _authorize(handler: HTTPRouteHandler, connection: _Connection) -> None:
    for guard in handler.resolve_guards():
        await guard(connection, handler)  # type: ignore[misc]  # resolved guards are awaitable


def _exception_handlers(_: HTTPRouteHandler) -> ExceptionHandlersMap:
    return EXCEPTION_HANDLERS


class _Handler(HTTPRouteHandler):
    """A route handler that passes itself to its guards, which only read it."""

    __slots__ = ()
    authorize_connection = _authorize
    resolve_exception_handlers = _exception_handlers


class _Decorated(HTTPRouteHandler):
    """The same, with room for attributes."""

    authorize_connection = _authorize
    resolve_exception_handlers = _exception_handlers


def _look_up_at_once(model: KwargsModel) -> None:
    """Resolve all dependencies that need no other and do not wait in one step; the others as Litestar does."""
    plain: dict[str, Callable[[], object]] = {}
    scoped: dict[str, Callable[[Any], object]] = {}
    parsed: dict[str, Provide] = {}
    batches: list[set[DependencyContainer]] = []
    for batch in model.dependency_batches:
        rest = set()
        for container in batch:
            function = container.provide.dependency
            takes = list(container.provide.parsed_fn_signature.parameters)
            if inspect.iscoroutinefunction(function) or container.dependencies:
                rest.add(container)
            elif takes == ["scope"]:
                scoped[container.key] = function
            elif takes:
                parsed[container.key] = container.provide
            else:
                plain[container.key] = function
        if rest:
            batches.append(rest)

    async def look_up(values: dict[str, Any], connection: _Connection) -> None:
        for name, find in scoped.items():
            values[name] = find(connection.scope)
        for name, make in plain.items():
            values[name] = make()
        for name, provide in parsed.items():
            taken = provide.signature_model.parse_values_from_connection_kwargs(connection, values)
            values[name] = provide.dependency(**taken)

    if plain or scoped or parsed:
        model.dependency_batches = batches
        model.extractors.append(look_up)
