"""A test authority, and the certificates that it signs. Keys are elliptic, which makes handshakes cheapest."""

import hashlib
import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

ORGANIZATION = "bench"


class Authority:
    """An authority that lasts two days. Its own certificate (`file`) lies in the folder `trusted` under OpenSSL's hash
    of its name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name = _named("authority")
        self._key = ec.generate_private_key(ec.SECP256R1())
        # of the name without its outer header
        number = int.from_bytes(hashlib.sha1(self._name.public_bytes()[2:]).digest()[:4], "little")
        self.trusted = folder / "authorities"
        self.trusted.mkdir()
        self.file = self.trusted / f"{number:08x}.0"
        self.file.write_bytes(self._signed(self._name, self._key, x509.BasicConstraints(ca=True, path_length=None)))

    def certify(self, name: str) -> tuple[Path, Path]:
        """The files of a new certificate and of its key. `localhost` is this machine, by its address too."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate, private = self._folder / f"{name}.pem", self._folder / f"{name}-key.pem"
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        names = x509.SubjectAlternativeName([x509.DNSName(name), address])
        certificate.write_bytes(self._signed(_named(name), key, names))
        private.touch(mode=0o600)
        plain = serialization.NoEncryption()
        private.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
        return certificate, private

    def _signed(self, name: x509.Name, key: ec.EllipticCurvePrivateKey, extension: x509.ExtensionType) -> bytes:
        now = datetime.now(UTC)
        made = (
            x509.CertificateBuilder().subject_name(name).issuer_name(self._name).public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=2))
            .add_extension(extension, critical=False)
            .sign(self._key, hashes.SHA256())
        )  # fmt: skip
        return made.public_bytes(serialization.Encoding.PEM)


def _named(name: str) -> x509.Name:
    organization = x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, ORGANIZATION)
    return x509.Name([organization, x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
