"""Puts the service together. Only here do features, framework and settings meet."""

from carrel.app.wiring import CompiledRoutes, create_app

__all__ = ["CompiledRoutes", "create_app"]
