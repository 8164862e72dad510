"""etcd as the settings name it."""

import ssl

from carrel.cluster.etcd import CALL_SECONDS, Etcd, EtcdUser
from carrel.cluster.refusals import EtcdCertificateUnusable
from carrel.config import Settings


def etcd_of(settings: Settings, *, call_seconds: float = CALL_SECONDS) -> Etcd:
    """A client of the servers, each of which may take so long to answer. It connects at the first call.

    Raises:
        EtcdCertificateUnusable
    """
    user = None
    if settings.etcd_user is not None and settings.etcd_password is not None:
        user = EtcdUser(settings.etcd_user, settings.etcd_password.reveal().decode())
    if settings.etcd_ca is None and settings.etcd_cert is None:
        return Etcd(settings.etcd, call_seconds=call_seconds, user=user)
    try:
        tls = ssl.create_default_context(cafile=settings.etcd_ca)
        if settings.etcd_cert is not None:
            tls.load_cert_chain(settings.etcd_cert, settings.etcd_key)
    except OSError:
        raise EtcdCertificateUnusable from None
    return Etcd(settings.etcd, call_seconds=call_seconds, tls=tls, user=user)
