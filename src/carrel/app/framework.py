"""Sets up Litestar with strict bodies, one shape of error, and plain answers."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import Litestar, Router
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import LitestarDeprecationWarning
from litestar.plugins import PluginProtocol

from carrel.app.shortcuts import EXCEPTION_HANDLERS, shorten
from carrel.config import Settings
from carrel.kit.http import body, request_checks
from carrel.kit.http.answer import Answer
from carrel.kit.http.body import JsonBody
from carrel.kit.http.dependencies import provide_if_match, provide_paging
from carrel.kit.http.idempotency import Idempotency


class Framework(Litestar):
    """Litestar without the plugins that it adds by itself when pydantic or attrs are installed.

    They cost 0.3 seconds of every start, and no type of ours is a model of theirs.
    """

    @staticmethod
    def _get_default_plugins(plugins: list[PluginProtocol]) -> list[PluginProtocol]:
        return plugins


def framework(
    settings: Settings,
    routers: Sequence[Router],
    dependencies: Mapping[str, Callable[..., object]],
    state: Mapping[str, Any],
    lifespan: Callable[[Litestar], AbstractAsyncContextManager[None]],
    beside: Sequence[Router] = (),
) -> Litestar:
    """The framework under `routers`. `dependencies` are plain functions, `state` is what guards and routes find there.

    `routers` are under `/api`, those `beside` are not. Every route can take `paging`, `if_match` and `once` besides.
    """
    common: dict[str, Callable[..., object]] = {
        "paging": provide_paging,
        "if_match": provide_if_match,
        "once": Idempotency().provide,
    }
    with warnings.catch_warnings():
        # The missing marker would say how to decode a body. Here `JsonBody` decodes every body.
        warnings.filterwarnings("ignore", "(?s).*Reserved kwarg 'data'", LitestarDeprecationWarning)
        app = _make(
            settings, [Router("/api", route_handlers=routers), *beside], {**common, **dependencies}, state, lifespan
        )
    request_checks.prepare(app)
    shorten(app)
    return app


def _make(
    settings: Settings,
    routers: Sequence[Router],
    dependencies: Mapping[str, Callable[..., object]],
    state: Mapping[str, Any],
    lifespan: Callable[[Litestar], AbstractAsyncContextManager[None]],
) -> Litestar:
    return Framework(
        route_handlers=routers,
        dependencies={name: Provide(function, sync_to_thread=False) for name, function in dependencies.items()},
        state=State({body.LIMITS: settings, **state}),
        lifespan=[lifespan],
        dto=JsonBody,
        return_dto=None,
        response_class=Answer,
        before_request=request_checks.check,
        exception_handlers=dict(EXCEPTION_HANDLERS),
        request_max_body_size=settings.max_json_bytes,
        openapi_config=None,
        logging_config=None,
        debug=False,
    )
