"""The page with the app, its token, the password asked again, and new passwords."""

from carrel_sdk import LOCKED, CarrelError, PasswordChangeUnknown
from django.conf import settings
from django.contrib.auth import authenticate, login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import PasswordChangeView, PasswordResetConfirmView
from django.http import JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters

from carrel_django.forms import CarrelPasswordChangeForm, CarrelSetPasswordForm
from carrel_django.service import carrel, workspace_of

UNKNOWN = "The connection broke. Sign in with the new password; if it is refused, with the old one."
OLD_NEEDED = "Your workspace is encrypted with your old password. Please enter that as well."
OLD_WRONG = "This old password does not open your workspace. Nothing was changed."
AWAY = "Your workspace could not be re-encrypted. Nothing was changed; please try again later."


def session(workspace):
    """No token while a change is pending: only a sign-in shows which password counts."""
    return LOCKED if workspace.pending else carrel().session(str(workspace.uuid))


@never_cache
@login_required
def workspace(request):
    """The app, with everything that it needs to know."""
    try:
        found = session(workspace_of(request.user))
    except CarrelError:
        return render(request, "carrel/away.html", status=503)
    if found is LOCKED:
        return redirect("carrel-unlock")
    given = {"baseUrl": settings.CARREL_URL, "sessionToken": found, "userName": request.user.get_username()}
    given |= {"tokenUrl": reverse("carrel-token"), "unlockUrl": reverse("carrel-unlock")}
    return render(request, "carrel/workspace.html", {"carrel": given, "carrel_url": settings.CARREL_URL})


@never_cache
@csrf_exempt
def token(request):
    """A newer token, for the app. Another website's page that posts here cannot read it."""
    if not request.user.is_authenticated:
        return JsonResponse({"code": "signed-out"}, status=401)
    mine = workspace_of(request.user)
    if request.method == "POST":
        carrel().forget(str(mine.uuid))
    try:
        found = session(mine)
    except CarrelError:
        return JsonResponse({"code": "service-away"}, status=503)
    if found is LOCKED:
        return JsonResponse({"code": "key-not-cached"}, status=401)
    return JsonResponse({"session_token": found, "user_name": request.user.get_username()})


@never_cache
@login_required
@sensitive_post_parameters("password")
def unlock(request):
    """Ask for the password again. By the backends: while a change is pending only they know both passwords."""
    if request.method == "POST":
        name, password = request.user.get_username(), request.POST.get("password", "")
        user = authenticate(request, username=name, password=password)
        if user == request.user:
            login(request, user)
            return redirect("carrel-workspace")
    return render(request, "carrel/unlock.html", {"wrong": request.method == "POST"})


class _Told:
    """A workspace that could not be re-encrypted is a message in the form, whatever the reason."""

    def form_valid(self, form):
        try:
            return super().form_valid(form)
        except PasswordChangeUnknown:
            form.add_error(None, UNKNOWN)
        except CarrelError as error:
            words = {"old-key-required": OLD_NEEDED, "key-rejected": OLD_WRONG}.get(getattr(error, "code", ""))
            form.add_error("old_password" if words else None, words or AWAY)
        return self.form_invalid(form)


class ChangePassword(_Told, PasswordChangeView):
    """For the user who knows the old password."""

    form_class = CarrelPasswordChangeForm
    template_name = "carrel/password.html"
    success_url = reverse_lazy("carrel-workspace")


class ResetPassword(_Told, PasswordResetConfirmView):
    """Behind the link of a mail."""

    form_class = CarrelSetPasswordForm
    template_name = "carrel/password.html"
    success_url = reverse_lazy("carrel-workspace")
