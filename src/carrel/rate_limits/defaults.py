"""The limits that apply until a user sets others.

What a provider accepts depends on the account behind the key. So requests and tokens are not limited at first: the
provider's refusals show the limit, and the window adapts. A user's own server handles only few calls at once.
"""

from carrel.providers.catalogue import KNOWN
from carrel.rate_limits.schemas import RateLimitIn

_USUAL = RateLimitIn()
_OWN = {"ollama": RateLimitIn(concurrency=4)}

DEFAULTS: dict[str, RateLimitIn] = {provider: _OWN.get(provider, _USUAL) for provider in KNOWN}
"""The defaults by provider. Built-in models have no limits: users share a few workers by turns."""
