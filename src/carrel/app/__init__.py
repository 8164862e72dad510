"""Puts the service together. Only here do features, framework and settings meet."""

from carrel.app.wiring import create_app

__all__ = ["create_app"]
