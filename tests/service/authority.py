"""An authority of certificates, the certificates that it signs, and proxy certificates (RFC 3820)."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

Name = list[tuple[x509.ObjectIdentifier, str]]

CA_NAME: Name = [(NameOID.DOMAIN_COMPONENT, "org"), (NameOID.COMMON_NAME, "Test CA")]
ROBOT: Name = [(NameOID.DOMAIN_COMPONENT, "org"), (NameOID.COMMON_NAME, "robot")]
ROBOT_DN = "/DC=org/CN=robot"
CA_DN = "/DC=org/CN=Test CA"

PROXY_INFO = x509.ObjectIdentifier("1.3.6.1.5.5.7.1.14")
INHERITS_ALL = "2b06010505071501"
INDEPENDENT = "2b06010505071502"
LIMITED = "2b060104019b5001010109"
CA_EXTENSION = (x509.BasicConstraints(ca=True, path_length=None), True)


@dataclass
class Signer:
    """A certificate with its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> str:
        """The certificate."""
        return self.certificate.public_bytes(Encoding.PEM).decode()

    @property
    def key_pem(self) -> str:
        """The key."""
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def authority(name: Name = CA_NAME) -> Signer:
    """An authority that has signed itself."""
    return make(name, None, CA_EXTENSION)


def make(
    name: Name | x509.Name,
    signer: Signer | None,
    *extensions: tuple[x509.ExtensionType, bool],
    issuer: x509.Name | None = None,
    begins: int = -60,
    ends: int = 10**5,
    algorithm: Any = None,
) -> Signer:
    """A certificate; `begins` and `ends` are seconds from now; each extension has a flag: whether it is critical."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = name if isinstance(name, x509.Name) else x509.Name([x509.NameAttribute(*one) for one in name])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer or (signer.certificate.subject if signer else subject))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + timedelta(seconds=begins))
        .not_valid_after(now + timedelta(seconds=ends))
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    return Signer(builder.sign(signer.key if signer else key, algorithm or SHA256()), key)


def proxy_info(language: str, length: int | None) -> x509.ExtensionType:
    """The extension of a proxy certificate, in DER."""
    policy = _der(0x30, _der(0x06, bytes.fromhex(language)))
    limit = b"" if length is None else _der(0x02, bytes([length]))
    return x509.UnrecognizedExtension(PROXY_INFO, _der(0x30, limit + policy))


def proxy(of: Signer, *more: tuple[x509.ExtensionType, bool], cn: str = "123", **how: Any) -> Signer:
    """A proxy certificate that the holder of another one has made."""
    info = proxy_info(how.pop("language", INHERITS_ALL), how.pop("length", None)), how.pop("critical", True)
    name = how.pop("name", None) or x509.Name([*of.certificate.subject.rdns, rdn((NameOID.COMMON_NAME, cn))])
    return make(name, how.pop("signer", of), info, *more, issuer=of.certificate.subject, **how)


def rdn(*parts: tuple[x509.ObjectIdentifier, str]) -> x509.RelativeDistinguishedName:
    """A part of a name, with one or more attributes."""
    return x509.RelativeDistinguishedName([x509.NameAttribute(*one) for one in parts])


def chain(*signers: Signer) -> str:
    """The header with these certificates, the caller's first, escaped as nginx does."""
    return quote("".join(one.pem for one in signers), safe="")


def _der(tag: int, content: bytes) -> bytes:
    assert len(content) < 0x80
    return bytes([tag, len(content)]) + content
