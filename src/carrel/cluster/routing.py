"""Where a request names its user: in the session token, in the body, or in the path. The proxy's rules follow this."""

from typing import Final

BODY_ROUTES: Final = (
    "/api/auth/login",
    "/api/auth/refresh",
    "/api/auth/rekey",
    "/api/auth/logout",
    "/api/users",
    "/api/credits/add",
)
"""`POST`, with the uuid in the field `uuid`. A logout with a session token needs no body."""
PROGRAM_ROUTE: Final = "/api/auth/program"
"""`POST`, with the uuid in the program key, in the field `program_key`."""
PATH_ROUTES: Final = (
    ("POST", "/api/users/{uuid}/activate"),
    ("POST", "/api/users/{uuid}/deactivate"),
    ("DELETE", "/api/users/{uuid}"),
)
"""The uuid is the third part of the path."""
ANY_NODE: Final = (
    "/api/health",
    "/api/metrics",
    "/api/docs",
    "/api/openapi.json",
    "/api/receipt-keys",
    "/api/admin",
)
"""What is about no user: any node answers, for itself."""
