"""The route list of the specification's section 4.2, as it stands there."""

from typing import NamedTuple

GROUPS: dict[str, str] = {
    "Health": "GET /health; GET /health/safe-to-restart",
    "Auth": "POST /auth/login; POST /auth/refresh; POST /auth/rekey",
    "Users": (
        "POST /users; GET /users/me; POST /users/{uuid}/activate; POST /users/{uuid}/deactivate; DELETE /users/{uuid}"
    ),
    "Presets": (
        "POST /presets; GET /presets; GET /presets/{id}; PUT /presets/{id}; DELETE /presets/{id}; "
        "POST /presets/{id}/duplicate; POST /presets/{id}/execute"
    ),
    "Contents": (
        "GET /contents; GET /contents/counts; POST /contents; GET /contents/{id}; PUT /contents/{id}; "
        "DELETE /contents/{id}; POST /contents/{id}/resolve; POST /contents/{id}/duplicate"
    ),
    "Runs": "POST /runs; GET /runs; GET /runs/count; GET /runs/{id}; DELETE /runs/{id}; DELETE /runs/bulk",
    "Run control": (
        "POST /runs/{id}/start; POST /runs/{id}/pause; POST /runs/{id}/resume; POST /runs/{id}/cancel; "
        "GET /runs/{id}/checkpoint; POST /runs/{id}/tasks/{task_key}/skip; POST /runs/{id}/reevaluate"
    ),
    "Run artifacts": (
        "GET /runs/{id}/report; GET /runs/{id}/logs; GET /runs/{id}/logs/count; GET /runs/{id}/generated/{doc_id}; "
        "POST /runs/{id}/export; GET /runs/{id}/export; POST /runs/{id}/share-logs"
    ),
    "Credits": "GET /credits; POST /credits/add",
    "Provider keys": (
        "POST /provider-keys; GET /provider-keys; GET /provider-keys/{provider}; DELETE /provider-keys/{provider}; "
        "GET /provider-keys/test/{provider}"
    ),
    "Settings": "GET /settings; PUT /settings",
    "Admin": (
        "GET /admin/system-keys; GET /admin/system-keys/{provider}; POST /admin/system-keys; "
        "DELETE /admin/system-keys/{provider}"
    ),
}
"""One entry for each row of the table."""

_PLUGIN = {
    "POST /auth/login",
    "POST /auth/refresh",
    "POST /auth/rekey",
    "POST /users",
    "POST /users/{uuid}/activate",
    "POST /users/{uuid}/deactivate",
    "DELETE /users/{uuid}",
    "POST /credits/add",
}


class Route(NamedTuple):
    """One route; `credential` says what it asks for."""

    group: str
    method: str
    template: str

    @property
    def credential(self) -> str:
        if self.group == "Health":
            return "none"
        if self.group == "Admin":
            return "admin"
        return "plugin" if f"{self.method} {self.template}" in _PLUGIN else "session"

    @property
    def path(self) -> str:
        """The path with plausible values that no row has."""
        values = {"uuid": "nobody", "provider": "openai", "task_key": "r1.generate.d1.c1.s1"}
        nothing = "01890000-0000-7000-8000-000000000000"
        path = self.template
        for name in ("uuid", "provider", "task_key", "id", "doc_id"):
            path = path.replace(f"{{{name}}}", values.get(name, nothing))
        return f"/api{path}"


ROUTES = [Route(group, *entry.split(" ")) for group, entries in GROUPS.items() for entry in entries.split("; ")]
