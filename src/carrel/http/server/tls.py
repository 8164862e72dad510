"""The certificate of the server, which can be renewed while connections are open."""

import ssl
from typing import Final

_SUITES: Final = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""Of TLS 1.2: forward secrecy and authenticated encryption, as RFC 9325 (4.2) recommends. TLS 1.3 has no others."""


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
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(_SUITES)
        try:
            context.load_cert_chain(*self._files)
        except OSError:
            raise CertificateUnusable from None
        return context

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
