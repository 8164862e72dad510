"""The service put together: the only place where features, framework and settings meet."""

from carrel.app.wiring import create_app

__all__ = ["create_app"]
