"""A new password: its hash is on the disk as *pending* before the service is called."""

from contextlib import contextmanager

from carrel_sdk import CarrelApiError, CarrelError, OldKeyRequired, PasswordChangeUnknown
from django import forms
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.contrib.auth.hashers import make_password

from carrel_django.models import Workspace
from carrel_django.service import carrel, workspace_of

NO_WORKSPACE = ("workspace-absent", "user-not-provisioned")


@contextmanager
def pending(workspace, password):
    """Keep the new hash as pending for as long as it is not known whether it counts."""
    row = Workspace.objects.filter(pk=workspace.pk)
    row.update(pending=make_password(password))
    try:
        yield
    except PasswordChangeUnknown:
        raise
    except CarrelApiError as error:
        # The service knows better than `made`: a process may have died before it recorded that there is a workspace.
        row.update(pending="")
        if workspace.made or error.code not in NO_WORKSPACE:
            raise
    except CarrelError:
        row.update(pending="")
        raise
    else:
        row.update(pending="")


class CarrelPasswordChangeForm(PasswordChangeForm):
    """`save` raises `CarrelError` if the workspace could not be re-encrypted."""

    def save(self, commit=True):
        workspace, given = workspace_of(self.user), self.cleaned_data
        with pending(workspace, given["new_password1"]):
            carrel().change_password(str(workspace.uuid), given["old_password"], given["new_password1"])
        return super().save(commit)


class CarrelSetPasswordForm(SetPasswordForm):
    """For the link in a mail. `old_password` is asked for because the key may not be in the service's memory."""

    old_password = forms.CharField(
        label="Old password, if you know it", required=False, strip=False, widget=forms.PasswordInput
    )

    def save(self, commit=True):
        workspace, given = workspace_of(self.user), self.cleaned_data
        with pending(workspace, given["new_password1"]):
            self._bring_along(str(workspace.uuid), given["old_password"], given["new_password1"])
        return super().save(commit)

    def _bring_along(self, uuid, old, new):
        try:
            carrel().reset_password(uuid, new)
        except OldKeyRequired:
            if not old:
                raise
            carrel().change_password(uuid, old, new)
