"""The built-in models: quoting summarisers and counting judges. They are not language models, and say so."""

from carrel.providers.local.criteria import supported_criterion
from carrel.providers.local.provider import LocalProvider, can_combine

__all__ = ["LocalProvider", "can_combine", "supported_criterion"]
