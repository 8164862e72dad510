"""The application, and what it does when somebody signs out or is deleted."""

from contextlib import suppress

from carrel_sdk import CarrelError
from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_out
from django.core import checks
from django.db.models.signals import pre_delete


class CarrelConfig(AppConfig):
    """Name it `carrel_django` in `INSTALLED_APPS`."""

    name = "carrel_django"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Carrel"

    def ready(self):
        from carrel_django.checks import check_settings
        from carrel_django.models import Workspace

        checks.register(check_settings)
        user_logged_out.connect(end_sessions)
        pre_delete.connect(delete_workspace, sender=Workspace)


def end_sessions(user, **kwargs):
    """Every way out, also that of the administration. If the service is down, tokens end after an hour."""
    from carrel_django.service import carrel, workspace_of

    if user is not None:
        with suppress(CarrelError):
            carrel().sign_out(str(workspace_of(user).uuid))


def delete_workspace(instance, **kwargs):
    """With the user, whoever deletes it. If the service is away, this raises and both sides are still there."""
    from carrel_django.service import carrel

    carrel().delete(str(instance.uuid))
