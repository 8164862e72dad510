"""The user's workspace, as the website knows it."""

from uuid import uuid4

from django.conf import settings
from django.db import models


class Workspace(models.Model):
    """`uuid` is the salt of the key and never changes. `made`: the user once had a workspace, so the service knows it.

    `pending` is the hash of a new password while it is not known whether the workspace is encrypted with it.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="carrel_workspace")
    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    made = models.BooleanField(default=False)
    pending = models.CharField(max_length=128, blank=True)
