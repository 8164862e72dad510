"""What `manage.py check` says about the website's settings."""

from django.conf import settings
from django.core import checks

BACKEND = "carrel_django.backends.CarrelBackend"


def check_settings(app_configs, **kwargs):
    """Each with the line that mends it."""
    found = [
        checks.Error(f"{name} is not set.", hint=f"{name} = …", id="carrel.E001")
        for name in ("CARREL_URL", "CARREL_PLUGIN_SECRET")
        if not getattr(settings, name, "")
    ]
    if settings.AUTHENTICATION_BACKENDS[:1] != [BACKEND]:
        hint = f'AUTHENTICATION_BACKENDS = ["{BACKEND}"]'
        found.append(checks.Error("CarrelBackend is not the first backend.", hint=hint, id="carrel.E002"))
    if any(database.get("ATOMIC_REQUESTS") for database in settings.DATABASES.values()):
        words = "With ATOMIC_REQUESTS a pending password is not on the disk before the service is called."
        found.append(checks.Error(words, hint="Leave it out; wrap views that need it yourself.", id="carrel.E003"))
    return found
