"""Include them where the workspaces shall be. The two for passwords take the places of Django's own."""

from django.urls import path

from carrel_django import views

urlpatterns = [
    path("workspace/", views.workspace, name="carrel-workspace"),
    path("workspace/token/", views.token, name="carrel-token"),
    path("workspace/unlock/", views.unlock, name="carrel-unlock"),
    path("password/change/", views.ChangePassword.as_view(), name="password_change"),
    path("reset/<uidb64>/<token>/", views.ResetPassword.as_view(), name="password_reset_confirm"),
]
