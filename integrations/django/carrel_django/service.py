"""The service, and the workspace of a user."""

from functools import cache

from carrel_sdk import Host
from django.conf import settings

from carrel_django.models import Workspace


@cache
def carrel():
    """The service that the settings name; one for the process."""
    return Host(settings.CARREL_URL, settings.CARREL_PLUGIN_SECRET)


def workspace_of(user):
    """The website's record of the user's workspace."""
    return Workspace.objects.get_or_create(user=user)[0]


def open_workspace(user, password):
    """Sign in to the workspace; the first time, make it.

    Made at every sign-in that finds none, an empty one would replace one that was lost, and nobody would notice.

    Raises:
        CarrelError
    """
    workspace = workspace_of(user)
    if workspace.made:
        carrel().sign_in(str(workspace.uuid), password)
    else:
        carrel().sign_up(str(workspace.uuid), password=password)
        Workspace.objects.filter(pk=workspace.pk).update(made=True)
