"""What the SDK promises by name, and what it does not bring along."""

import subprocess
import sys

import carrel_sdk

PUBLIC = {
    "LOCKED",
    "Admin",
    "AsyncWorkspace",
    "CarrelApiError",
    "CarrelError",
    "CarrelUnreachable",
    "Conflict",
    "FieldError",
    "Host",
    "KeyRejected",
    "Locked",
    "MemorySessions",
    "NotFound",
    "OldKeyRequired",
    "PasswordChange",
    "PasswordChangeUnknown",
    "ProgramKeyRefused",
    "Session",
    "SessionEnded",
    "SessionStore",
    "TryLater",
    "VersionMismatch",
    "WaitTimeout",
    "Workspace",
    "derive_key",
}


def test_the_public_names_are_these_and_all_are_there() -> None:
    assert set(carrel_sdk.__all__) == PUBLIC
    assert all(hasattr(carrel_sdk, name) for name in PUBLIC)


def test_the_sdk_brings_nothing_of_the_service_along() -> None:
    code = "import sys, carrel_sdk; print(sorted({'carrel', 'starlette', 'numpy', 'apsw'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
