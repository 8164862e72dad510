"""etcd as the settings name it."""

import ssl

from carrel.cluster.etcd import Etcd
from carrel.config import Settings


def etcd_of(settings: Settings) -> Etcd:
    """A client of the servers. It connects at the first call.

    Raises:
        OSError, ssl.SSLError: the certificates cannot be used.
    """
    tls = None
    if settings.etcd_ca is not None or settings.etcd_cert is not None:
        tls = ssl.create_default_context(cafile=settings.etcd_ca)
        if settings.etcd_cert is not None:
            tls.load_cert_chain(settings.etcd_cert, settings.etcd_key)
    return Etcd(settings.etcd, tls=tls)
