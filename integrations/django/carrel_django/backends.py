"""Signing in. Django's login signal does not carry the password; a backend has it, right after it was verified."""

from contextlib import suppress

from carrel_sdk import CarrelError
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import check_password
from django.core.exceptions import PermissionDenied

from carrel_django.models import Workspace
from carrel_django.service import open_workspace


class CarrelBackend(ModelBackend):
    """If the service is down, the user is still signed in to the website, and the workspace is locked.

    While a change of the password is pending, the workspace decides which of the two counts.
    """

    def authenticate(self, request, username=None, password=None, **kwargs):
        name = username if username is not None else kwargs.get(Workspace.user.field.related_model.USERNAME_FIELD)
        waiting = Workspace.objects.exclude(pending="").filter(
            **{f"user__{Workspace.user.field.related_model.USERNAME_FIELD}": name or ""}
        )
        workspace = waiting.select_related("user").first()
        if workspace is not None and password is not None:
            return self._settled(workspace, password)
        user = super().authenticate(request, username, password, **kwargs)
        if user is not None:
            with suppress(CarrelError):
                open_workspace(user, password)
        return user

    def _settled(self, workspace, password):
        user, is_new = workspace.user, check_password(password, workspace.pending)
        if not (is_new or user.check_password(password)) or not self.user_can_authenticate(user):
            return None
        try:
            open_workspace(user, password)
        except CarrelError:
            # Not None: Django would ask the next backend, and that may know the old password only.
            raise PermissionDenied from None
        if is_new:
            user.password = workspace.pending
            user.save(update_fields=["password"])
        Workspace.objects.filter(pk=workspace.pk).update(pending="")
        return user
