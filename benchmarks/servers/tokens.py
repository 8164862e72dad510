"""The tokens of the customary server, for whoever measures it and needs none of its packages, which take a second."""

import hashlib
import hmac

SECRET = b"customary-secret-of-32-characters"


def token_of(user: str) -> str:
    """A signed token."""
    return f"{user}.{hmac.new(SECRET, user.encode(), hashlib.sha256).hexdigest()}"
