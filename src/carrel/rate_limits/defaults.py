"""The limits that hold until a user sets others, as data.

What a provider takes depends on the account behind the key, so requests and tokens are not limited beforehand: the
provider's refusals tell, and the window adapts. Servers of the user's own work on few calls at once.
"""

from carrel.providers.catalogue import KNOWN
from carrel.rate_limits.schemas import RateLimitIn

_USUAL = RateLimitIn()
_OWN = {"ollama": RateLimitIn(concurrency=4)}

DEFAULTS: dict[str, RateLimitIn] = {provider: _OWN.get(provider, _USUAL) for provider in KNOWN}
"""By provider. Built-in models have no limits: they share one worker."""
