"""Certificates for servers of this machine that tests make themselves."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


def self_signed(
    folder: Path,
    serial: int = 1,
    *,
    with_rsa: bool = False,
    days: float = 1,
    with_name: bool = True,
    host: str = "127.0.0.1",
) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 and its key, in place of those that are there; with 0 `days` it has ended.

    `with_name`: it has a common name besides. `host`: it is for this name as well.
    """
    key = rsa.generate_private_key(65537, 2048) if with_rsa else ec.generate_private_key(ec.SECP256R1())
    kind = NameOID.COMMON_NAME if with_name else NameOID.ORGANIZATION_NAME
    name = x509.Name([x509.NameAttribute(kind, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(serial)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1")), x509.DNSName(host)]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    files = folder / "cert.pem", folder / "key.pem"
    files[0].write_bytes(certificate.public_bytes(Encoding.PEM))
    files[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return files
