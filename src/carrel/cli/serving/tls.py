"""The certificate of the server, which can be renewed while connections are open."""

import ssl

from uvicorn.config import SSL_PROTOCOL_VERSION, create_ssl_context

_CIPHERS = "TLSv1"
"""Uvicorn's default: the suites of OpenSSL's own security level that TLS 1.2 and later have."""


class CertificateUnusable(Exception):
    """The files cannot be read, or do not belong together."""


class Certificate:
    """The certificate and key in two PEM files. A handshake takes the last that were read, whatever its connection."""

    def __init__(self, certificate: str, key: str) -> None:
        self._files = certificate, key
        self._context = self.read()

    def read(self) -> ssl.SSLContext:
        """What the files hold now; `use` puts it in force.

        Raises:
            CertificateUnusable
        """
        certificate, key = self._files
        try:
            return create_ssl_context(
                certfile=certificate,
                keyfile=key,
                password=None,
                ssl_version=SSL_PROTOCOL_VERSION,
                cert_reqs=ssl.CERT_NONE,
                ca_certs=None,
                ciphers=_CIPHERS,
            )
        except OSError:
            raise CertificateUnusable from None

    def use(self, context: ssl.SSLContext) -> None:
        """Show this certificate from the next handshake on. Connections that are open go on."""
        self._context = context

    def listening(self) -> ssl.SSLContext:
        """The context that the server listens with, for as long as it runs."""
        context = self.read()

        # OpenSSL calls it in every handshake, with or without a name. A second certificate loaded into the same context
        # would not replace one of another kind of key.
        def choose(connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
            connection.context = self._context

        context.sni_callback = choose
        return context
