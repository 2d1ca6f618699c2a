"""Callers with X.509 certificates, behind a proxy that ends TLS: the proxy's headers become claims. The proxy shows a
secret with each request. It passes on either the subject that it has verified or, if a CA bundle is given, the chain of
certificates, which is verified here: then proxy certificates (RFC 3820) are also accepted.
"""

import hashlib
import hmac
import re
from base64 import b64decode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512
from cryptography.x509.oid import ExtendedKeyUsageOID, ExtensionOID, NameOID, ObjectIdentifier
from starlette.datastructures import Headers

from broker.errors import BrokerError
from broker.service.tokens import SKEW, Kept, invalid

ISSUER = "x509"
"""The claim iss of callers with certificates."""

SECRET, VERIFY, SUBJECT, SIGNER, CHAIN = (
    f"x-ssl-client-{name}" for name in ("secret", "verify", "subject", "issuer", "cert")
)
"""Headers that the proxy sets, in each request."""

_SHORTEST_SECRET = 32
_LONGEST_DN = 1000
_LONGEST_CHAIN = 2**16
_MOST_CERTIFICATES = 10

# A type of attribute: its name in a DN of the service, the type, and other names that proxies write.
_TYPES: tuple[tuple[str, ObjectIdentifier, str], ...] = (
    ("C", NameOID.COUNTRY_NAME, ""), ("ST", NameOID.STATE_OR_PROVINCE_NAME, "S"), ("L", NameOID.LOCALITY_NAME, ""),
    ("street", NameOID.STREET_ADDRESS, "streetAddress"), ("postalCode", NameOID.POSTAL_CODE, ""),
    ("O", NameOID.ORGANIZATION_NAME, ""), ("OU", NameOID.ORGANIZATIONAL_UNIT_NAME, ""),
    ("DC", NameOID.DOMAIN_COMPONENT, ""), ("UID", NameOID.USER_ID, ""), ("CN", NameOID.COMMON_NAME, ""),
    ("SN", NameOID.SURNAME, "surname"), ("GN", NameOID.GIVEN_NAME, "givenName"), ("title", NameOID.TITLE, ""),
    ("serialNumber", NameOID.SERIAL_NUMBER, ""), ("emailAddress", NameOID.EMAIL_ADDRESS, "E email"),
)  # fmt: skip
_NAME_OF_TYPE = {oid: name for name, oid, _ in _TYPES}
_NAMES = {one.lower(): name for name, _, others in _TYPES for one in (name, *others.split())}

_PEM = re.compile(r"-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----")
_SPECIAL, _ESCAPED = re.compile(r"([\\/+])"), r"\\\1"
_HASHES = (SHA256, SHA384, SHA512)
_PROXY_INFO = ObjectIdentifier("1.3.6.1.5.5.7.1.14")
_INHERITS_ALL = bytes.fromhex("2b06010505071501")  # 1.3.6.1.5.5.7.21.1
_LIMITED = bytes.fromhex("2b060104019b5001010109")  # 1.3.6.1.4.1.3536.1.1.1.9
_CRITICAL = (ExtensionOID.KEY_USAGE, ExtensionOID.BASIC_CONSTRAINTS, ExtensionOID.EXTENDED_KEY_USAGE, _PROXY_INFO)
_INTEGER, _OCTETS, _OID, _SEQUENCE = 0x02, 0x04, 0x06, 0x30


class _Refused(Exception):
    """The reason why a certificate is not accepted."""


class Certificates:
    """Trusts a proxy that knows the secret."""

    def __init__(self, secret: str, ca: str | None = None) -> None:
        self._secret = secret.encode()
        self._kept = Kept()
        self._authorities = None if ca is None else authorities(Path(ca))

    def claims(self, headers: Headers) -> dict[str, Any] | None:
        """The claims of a caller's certificate; None if the request has no certificate, or has a token, which takes
        precedence. Raises Problem: 401.
        """
        shown = headers.getlist(SECRET)
        if not shown:
            return None
        if len(shown) > 1 or not hmac.compare_digest(shown[0].encode("latin-1"), self._secret):
            raise invalid(f"the header {SECRET} does not have the secret of this service")
        try:
            verified = _one(headers, VERIFY)
            if "authorization" in headers or verified in (None, "NONE"):
                return None
            if verified != "SUCCESS":
                raise _Refused(f"the proxy did not verify it: {verified}")
            found = self._of_subject(headers) if self._authorities is None else self._of_chain(headers)
        except _Refused as refused:
            raise invalid(f"the certificate is not valid: {refused}") from None
        return {"iss": ISSUER, **found}

    def _of_subject(self, headers: Headers) -> dict[str, Any]:
        """The claims of a certificate that the proxy has verified; the proxy names subject and issuer."""
        subject, issuer = _one(headers, SUBJECT), _one(headers, SIGNER)
        if _one(headers, CHAIN) is not None:
            raise _Refused(f"the header {CHAIN} needs `broker serve --x509-ca`")
        if subject is None:
            raise _Refused(f"the header {SUBJECT} is missing")
        return {"sub": of_rfc2253(subject)} | ({} if issuer is None else {"issuer_dn": of_rfc2253(issuer)})

    def _of_chain(self, headers: Headers) -> dict[str, Any]:
        """The claims of a chain. The proxy has checked that the caller has the key of the first certificate; the rest
        is verified here."""
        text = _one(headers, CHAIN)
        if text is None:
            raise _Refused(f"the header {CHAIN} is missing")
        name = hashlib.sha256(text.encode("latin-1")).digest()
        kept = self._kept.get(name)
        if kept is not None:
            return kept
        try:
            chain = _certificates(text)
            entity = self._end_entity(chain)
            found = {"sub": of_name(entity.subject), "issuer_dn": of_name(entity.issuer)}
        except (ValueError, TypeError, x509.DuplicateExtension, x509.InvalidVersion, UnsupportedAlgorithm) as error:
            raise _Refused(f"it cannot be read ({type(error).__name__})") from None
        self._kept.put(name, found, min(one.not_valid_after_utc.timestamp() for one in chain))
        return found

    def _end_entity(self, chain: list[x509.Certificate]) -> x509.Certificate:
        """The certificate that proxy certificates were made from, which an authority has signed."""
        for below, certificate in enumerate(chain):
            _require_usable(certificate)
            if (info := _extension(certificate, _PROXY_INFO)) is None:
                self._require_authority(certificate)
                return certificate
            if below + 1 == len(chain):
                break
            _require_proxy(certificate, info, chain[below + 1], below)
        raise _Refused("the chain ends at a proxy certificate: the proxy in front hands over too little of it")

    def _require_authority(self, entity: x509.Certificate) -> None:
        constraints = _extension(entity, ExtensionOID.BASIC_CONSTRAINTS)
        if constraints is not None and constraints.value.ca:
            raise _Refused("it is the certificate of an authority")
        purposes = _extension(entity, ExtensionOID.EXTENDED_KEY_USAGE)
        for_clients = {ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}
        if purposes is not None and not for_clients & set(purposes.value):
            raise _Refused("it is not for clients")
        for authority in self._authorities or ():
            if _signed(entity, authority) and _is_valid_now(authority):
                return
        raise _Refused("no authority of the bundle has signed it")


def secret(file: Path, shortest: int = _SHORTEST_SECRET, hint: str = "") -> str:
    """The secret in a file. Raises BrokerError if others can read it, or if it is not a secret. hint: how to get it; by
    default it can be made."""
    hint = hint or f"make one: (umask 077; openssl rand -hex 32 > {file})"
    try:
        mode, text = file.stat().st_mode, file.read_text(encoding="latin-1").strip()
    except OSError as error:
        raise BrokerError(f"the secret in {file} cannot be read: {error}", hint) from None
    if mode & 0o077:
        raise BrokerError(f"others can read the secret in {file} (mode {mode & 0o777:o})", f"chmod 600 {file}")
    if len(text) < shortest or not re.fullmatch(r"[!-~]+", text):
        raise BrokerError(f"the secret in {file} is not one word of at least {shortest} characters", hint)
    return text


def authorities(file: Path) -> list[x509.Certificate]:
    """The certificates of a CA bundle. Raises BrokerError if one cannot be read, or is not an authority's."""
    try:
        found = x509.load_pem_x509_certificates(file.read_bytes())
        for one in found:
            constraints = _extension(one, ExtensionOID.BASIC_CONSTRAINTS)
            usage = _extension(one, ExtensionOID.KEY_USAGE)
            if constraints is None or not constraints.value.ca or (usage is not None and not usage.value.key_cert_sign):
                fault = f"{file} has a certificate that is not of an authority: {one.subject.rfc4514_string()}"
                raise BrokerError(fault, "the bundle holds the certificates of authorities only")
    except (OSError, ValueError, x509.DuplicateExtension) as error:
        raise BrokerError(f"the CA bundle {file} cannot be read: {error}", "give certificates in PEM") from None
    return found


def of_rfc2253(text: str) -> str:
    """The canonical form of a DN that a proxy has written in the form of RFC 2253, with the last part first."""
    rdns: list[list[tuple[str, str]]] = [[]]
    rest = text.encode("latin-1")
    if rest.startswith(b"/"):
        raise _Refused("its DN begins with /, a form in which different DNs look alike")
    while True:
        key, equals, rest = rest.partition(b"=")
        name = _NAMES.get(key.decode("latin-1").lower())
        if not equals or name is None:
            raise _Refused(f"its DN has an attribute that is not known here: {key[:50].decode('latin-1')!r}")
        value, separator, rest = _value(rest)
        rdns[-1].append((name, value))
        if not separator:
            return _canonical(rdns[::-1])
        if separator == b",":
            rdns.append([])


def of_name(name: x509.Name) -> str:
    """The canonical form of a DN in a certificate."""
    rdns = []
    for rdn in name.rdns:
        for attribute in rdn:
            if attribute.oid not in _NAME_OF_TYPE:
                raise _Refused(f"its DN has an attribute that is not known here: {attribute.oid.dotted_string}")
        rdns.append([(_NAME_OF_TYPE[one.oid], str(one.value)) for one in rdn])
    return _canonical(rdns)


def _value(rest: bytes) -> tuple[str, bytes, bytes]:
    """A value of RFC 2253, the separator after it, and the rest."""
    found, end, at = bytearray(), 0, 0
    while at < len(rest) and rest[at : at + 1] not in (b",", b"+"):
        one = rest[at : at + 1]
        if one == b"\\":
            if re.match(rb"[0-9A-Fa-f]{2}", rest[at + 1 :]):
                found += bytes.fromhex(rest[at + 1 : at + 3].decode())
                at += 3
            elif rest[at + 1 : at + 2] and rest[at + 1 : at + 2] in b',+"\\<>;#= ':
                found += rest[at + 1 : at + 2]
                at += 2
            else:
                raise _Refused("its DN has an escape that RFC 2253 does not know")
            end = len(found)
        elif one in b'"<>;' or (not found and one in b" #"):
            raise _Refused(f"its DN has {one.decode()!r} without an escape")
        else:
            found += one
            at += 1
            end = len(found) if one != b" " else end
    if end != len(found):
        raise _Refused("its DN has a value that ends with a space without an escape")
    try:
        return found.decode(), rest[at : at + 1], rest[at + 1 :]
    except UnicodeDecodeError:
        raise _Refused("its DN is not UTF-8") from None


def _canonical(rdns: list[list[tuple[str, str]]]) -> str:
    """/DC=org/CN=robot; the parts of one RDN in the order of their names, with + between. A backslash precedes each
    slash, plus and backslash of a value, so that two names never have the same text."""
    if not any(rdns) or not all(value and value.isprintable() for rdn in rdns for _, value in rdn):
        raise _Refused("its DN has an empty value, or a character that cannot be shown")
    parts = [sorted(f"{key}={_SPECIAL.sub(_ESCAPED, value)}" for key, value in rdn) for rdn in rdns]
    text = "".join("/" + "+".join(part) for part in parts)
    if len(text) > _LONGEST_DN:
        raise _Refused(f"its DN has more than {_LONGEST_DN} characters")
    return text


def _one(headers: Headers, name: str) -> str | None:
    """A header that may occur once; an empty header counts as missing."""
    found = headers.getlist(name)
    if len(found) > 1:
        raise _Refused(f"the header {name} occurs {len(found)} times")
    return found[0] if found and found[0] else None


def _certificates(text: str) -> list[x509.Certificate]:
    """Certificates in PEM, with or without URL escapes, line ends or spaces. A block may hold several, in DER."""
    if len(text) > _LONGEST_CHAIN:
        raise _Refused(f"the chain has more than {_LONGEST_CHAIN} characters")
    blocks = _PEM.findall(unquote(text))
    found = [der for block in blocks for _, _, der in _elements(b64decode("".join(block.split()), validate=True))]
    if not 0 < len(found) <= _MOST_CERTIFICATES:
        raise _Refused(f"the header {CHAIN} has {len(found)} certificates, not 1 to {_MOST_CERTIFICATES}")
    return [x509.load_der_x509_certificate(der) for der in found]


def _elements(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """The elements of DER in a row: tag, content, and both with the length. Raises ValueError."""
    at = 0
    while at < len(data):
        if at + 2 > len(data):
            raise ValueError("cut")
        begin, length = at + 2, data[at + 1]
        if length >= 0x80:
            begin += length & 0x7F
            length = int.from_bytes(data[at + 2 : begin], "big")
        if begin + length > len(data):
            raise ValueError("cut")
        yield data[at], data[begin : begin + length], data[at : begin + length]
        at = begin + length


def _extension(certificate: x509.Certificate, oid: ObjectIdentifier) -> x509.Extension[Any] | None:
    return next((one for one in certificate.extensions if one.oid == oid), None)


def _is_valid_now(certificate: x509.Certificate) -> bool:
    now, skew = datetime.now(UTC), timedelta(seconds=SKEW)
    return certificate.not_valid_before_utc - skew <= now < certificate.not_valid_after_utc + skew


def _signed(certificate: x509.Certificate, signer: x509.Certificate) -> bool:
    """Whether the signer's key made the signature, with a secure hash."""
    hashed = certificate.signature_hash_algorithm
    if hashed is not None and not isinstance(hashed, _HASHES):
        return False
    try:
        certificate.verify_directly_issued_by(signer)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def _require_usable(certificate: x509.Certificate) -> None:
    """Check the conditions for every certificate of a chain: its time, and that it may sign."""
    if not _is_valid_now(certificate):
        raise _Refused("a certificate of the chain has expired, or is not valid yet")
    for one in certificate.extensions:
        if one.critical and one.oid not in _CRITICAL:
            raise _Refused(f"a critical extension is not known here: {one.oid.dotted_string}")
    usage = _extension(certificate, ExtensionOID.KEY_USAGE)
    if usage is not None and not usage.value.digital_signature:
        raise _Refused("a certificate of the chain is not for signatures")


def _require_proxy(
    certificate: x509.Certificate, info: x509.Extension[Any], signer: x509.Certificate, below: int
) -> None:
    """Check the conditions for a proxy certificate (RFC 3820) with this many below it."""
    longest, language = _proxy_info(info.value.value)
    if language == _LIMITED:
        raise _Refused("a limited proxy certificate is not accepted")
    if language != _INHERITS_ALL:
        raise _Refused("a proxy certificate has a policy that is not known here")
    if longest is not None and below > longest:
        raise _Refused("more proxy certificates follow one than it allows")
    constraints = _extension(certificate, ExtensionOID.BASIC_CONSTRAINTS)
    if not info.critical or (constraints is not None and constraints.value.ca):
        raise _Refused("a proxy certificate is not as RFC 3820 has it")
    *above, last = certificate.subject.rdns
    name = list(last)
    if above != signer.subject.rdns or [one.oid for one in name] != [NameOID.COMMON_NAME]:
        raise _Refused("the subject of a proxy certificate is not that of the next certificate and one CN")
    if not _signed(certificate, signer):
        raise _Refused("the next certificate did not sign a proxy certificate")


def _proxy_info(data: bytes) -> tuple[int | None, bytes]:
    """The path length and the policy language of proxyCertInfo. Raises ValueError."""
    ((tag, content, _),) = _elements(data)
    *length, (policy_tag, policy, _) = _elements(content)
    ((oid_tag, language, _), *more) = _elements(policy)
    if (tag, policy_tag, oid_tag) != (_SEQUENCE, _SEQUENCE, _OID) or [one[0] for one in more] not in ([], [_OCTETS]):
        raise ValueError("another structure")
    if [one[0] for one in length] not in ([], [_INTEGER]):
        raise ValueError("another structure")
    return (int.from_bytes(length[0][1], "big", signed=True) if length else None), language
