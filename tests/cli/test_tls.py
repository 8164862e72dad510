"""Which clients the service's own TLS takes: real handshakes, in memory."""

import ssl
import warnings
from pathlib import Path

import pytest

from carrel.http.server.tls import Certificate
from tests.support.certificates import self_signed

V1_1, V1_2, V1_3 = ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
INTERMEDIATE = (
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
)
"""What clients offer that are set up as Mozilla recommends."""
ANYTHING = "ALL:COMPLEMENTOFALL:@SECLEVEL=0"


def client(version: ssl.TLSVersion, suites: str | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if suites is not None:
        context.set_ciphers(suites)
    with warnings.catch_warnings():
        # Python warns of the old versions.
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = context.maximum_version = version
    return context


def handshake(server: ssl.SSLContext, client: ssl.SSLContext) -> tuple[str, str]:
    """The version and the suite that the two agree on.

    Raises:
        ssl.SSLError: they do not agree.
    """
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    near = client.wrap_bio(to_client, to_server)
    far = server.wrap_bio(to_server, to_client, server_side=True)
    open_ends = [near, far]
    while open_ends:
        for end in list(open_ends):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            open_ends.remove(end)
    suite = near.cipher()
    assert suite is not None
    return near.version() or "", suite[0]


@pytest.fixture(params=[False, True], ids=["elliptic", "rsa"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> ssl.SSLContext:
    certificate, key = self_signed(tmp_path, with_rsa=request.param)
    return Certificate(str(certificate), str(key)).listening()


@pytest.mark.parametrize("suites", [None, INTERMEDIATE, "ECDHE+CHACHA20", "ECDHE+AES128"])
def test_every_client_of_today_gets_authenticated_encryption(server: ssl.SSLContext, suites: str | None) -> None:
    version, suite = handshake(server, client(V1_2, suites))
    assert (version, suite.startswith("ECDHE-"), "GCM" in suite or "POLY1305" in suite) == ("TLSv1.2", True, True)
    assert handshake(server, client(V1_3, suites))[0] == "TLSv1.3"


@pytest.mark.parametrize(
    ("version", "suites"),
    [
        (V1_1, ANYTHING),
        (V1_2, "ECDHE+SHA1:@SECLEVEL=0"),
        (V1_2, "ECDHE+SHA256:ECDHE+SHA384:!AEAD:@SECLEVEL=0"),
        (V1_2, "kRSA:@SECLEVEL=0"),
        (V1_2, "aNULL:@SECLEVEL=0"),
        (V1_2, "eNULL:@SECLEVEL=0"),
    ],
)
def test_what_is_old_or_weak_is_refused(server: ssl.SSLContext, version: ssl.TLSVersion, suites: str) -> None:
    with pytest.raises(ssl.SSLError):
        handshake(server, client(version, suites))
    # The same hands, offered everything at 1.2, find a good one.
    assert "GCM" in handshake(server, client(V1_2, ANYTHING))[1]
