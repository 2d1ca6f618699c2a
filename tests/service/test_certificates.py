"""Client certificates that a proxy hands over: which ones are accepted, the form of a DN, and their rights."""

import time
from base64 import b64encode
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA224
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from broker.errors import BrokerError
from broker.service import certificates, tokens
from broker.service.certificates import Certificates, of_name, of_rfc2253
from broker.service.problems import Problem
from tests.service.authority import (
    CA_DN,
    CA_EXTENSION,
    INDEPENDENT,
    INHERITS_ALL,
    LIMITED,
    PROXY_INFO,
    ROBOT,
    ROBOT_DN,
    authority,
    chain,
    make,
    proxy,
    rdn,
)
from tests.service.conftest import BASE, WANTED, Db, Jobs, Start, Token, bearer
from tests.service.issuer import Issuer

SECRET = "0123456789abcdef" * 2
SHOWN = {"x-ssl-client-secret": SECRET, "x-ssl-client-verify": "SUCCESS"}
ROBOT_HEADER = {**SHOWN, "x-ssl-client-subject": "CN=robot,DC=org"}

CN, DC = NameOID.COMMON_NAME, NameOID.DOMAIN_COMPONENT


def usage(**which: bool) -> x509.KeyUsage:
    """The extension keyUsage with these uses."""
    names = """digital_signature content_commitment key_encipherment data_encipherment key_agreement key_cert_sign
               crl_sign encipher_only decipher_only""".split()
    return x509.KeyUsage(**{name: which.get(name, False) for name in names})


# A DN in the form of pgbroker.
FORMS = {
    "CN=robot,DC=org": "/DC=org/CN=robot",
    "cn=robot,Dc=org": "/DC=org/CN=robot",
    "emailAddress=a@b.org,CN=a": "/CN=a/emailAddress=a@b.org",
    "E=a@b.org,CN=a": "/CN=a/emailAddress=a@b.org",
    'CN=Doe\\, John,O=A \\"B\\"': '/O=A "B"/CN=Doe, John',
    "CN=host/node.example.org,DC=org": "/DC=org/CN=host\\/node.example.org",
    "CN=a\\\\b": "/CN=a\\\\b",
    "CN=a=b": "/CN=a=b",
    "CN=a\\+UID=b": "/CN=a\\+UID=b",
    "UID=b+CN=a": "/CN=a+UID=b",
    "CN=a+UID=b": "/CN=a+UID=b",
    "CN=\\ a\\ ": "/CN= a ",
    "CN=\\#1": "/CN=#1",
    "CN=Jos\\C3\\A9": "/CN=Jos\u00e9",
    "CN=Jos\u00e9".encode().decode("latin-1"): "/CN=Jos\u00e9",
    "CN=a/CN=b": "/CN=a\\/CN=b",
    "CN=b,CN=a": "/CN=a/CN=b",
}

WRONG = {
    "/DC=org/CN=robot": "look alike",
    "CN=": "empty value",
    "CN=a,": "not known",
    ",CN=a": "not known",
    "CN": "not known",
    "CN=a,1.2.3=b": "not known",
    "CN=a, O=b": "not known",
    "CN=#0c0161": "without an escape",
    "CN= a": "without an escape",
    "CN=a ,O=b": "ends with a space",
    'CN="a"': "without an escape",
    "CN=a;O=b": "without an escape",
    "CN=a\\": "escape",
    "CN=a\\C": "escape",
    "CN=a\\x": "escape",
    "CN=a\\00": "cannot be shown",
    "CN=a\\0Ab": "cannot be shown",
    "CN=a\\E2\\80\\AEb": "cannot be shown",
    "CN=a\\FF": "not UTF-8",
    "CN=" + 998 * "a": "more than 1000",
}


@pytest.mark.parametrize("given", [pytest.param(given, id=FORMS[given]) for given in FORMS])
def test_a_dn_has_one_form(given: str) -> None:
    found = Certificates(SECRET).claims(Headers({**SHOWN, "x-ssl-client-subject": given}))
    assert found == {"iss": "x509", "sub": FORMS[given]}


@pytest.mark.parametrize("given", WRONG)
def test_a_dn_that_could_be_two_is_refused(given: str) -> None:
    with pytest.raises(Problem, match=WRONG[given]) as refused:
        Certificates(SECRET).claims(Headers({**SHOWN, "x-ssl-client-subject": given}))
    assert refused.value.status == 401


_PART = st.lists(
    st.tuples(
        st.sampled_from([CN, DC, NameOID.USER_ID, NameOID.EMAIL_ADDRESS]),
        st.text(st.sampled_from("aB /\\+=,#\"<;\u00e9"), min_size=1, max_size=4),
    ),
    min_size=1, max_size=2, unique=True,
)  # fmt: skip
_NAMES = st.lists(_PART, min_size=1, max_size=3).map(lambda parts: x509.Name([rdn(*part) for part in parts]))


@given(_NAMES, _NAMES)
def test_two_names_never_have_one_dn(one: x509.Name, other: x509.Name) -> None:
    assert (of_name(one) == of_name(other)) == (one == other)
    written = one.rfc4514_string({NameOID.EMAIL_ADDRESS: "emailAddress"})
    assert of_rfc2253(written.encode().decode("latin-1")) == of_name(one)


def test_headers_of_certificates_count_with_the_secret_only() -> None:
    door = Certificates(SECRET)
    assert door.claims(Headers(ROBOT_HEADER)) == {"iss": "x509", "sub": ROBOT_DN}
    signed = {**ROBOT_HEADER, "x-ssl-client-issuer": "CN=Test CA,DC=org"}
    assert door.claims(Headers(signed)) == {"iss": "x509", "sub": ROBOT_DN, "issuer_dn": CA_DN}
    nobody: list[dict[str, str]] = [
        {**ROBOT_HEADER, "x-ssl-client-verify": "NONE"},
        {**ROBOT_HEADER, "x-ssl-client-verify": ""},
        {**ROBOT_HEADER, "authorization": "Bearer x"},
        {name: value for name, value in ROBOT_HEADER.items() if name != "x-ssl-client-secret"},
    ]
    assert [door.claims(Headers(headers)) for headers in nobody] == [None] * 4


@pytest.mark.parametrize(
    ("change", "twice", "words"),
    [
        ({"x-ssl-client-secret": SECRET[:-1]}, None, "does not have the secret"),
        ({"x-ssl-client-secret": ""}, None, "does not have the secret"),
        ({"x-ssl-client-secret": "\u00e9" * 32}, None, "does not have the secret"),
        ({"x-ssl-client-secret": "x", "authorization": "Bearer x"}, None, "does not have the secret"),
        ({}, "x-ssl-client-secret", "does not have the secret"),
        ({"x-ssl-client-verify": "FAILED:certificate has expired"}, None, "did not verify it: FAILED:certificate has"),
        ({"x-ssl-client-verify": "success"}, None, "did not verify it"),
        ({}, "x-ssl-client-verify", "occurs 2 times"),
        ({"x-ssl-client-subject": ""}, None, "x-ssl-client-subject is missing"),
        ({}, "x-ssl-client-subject", "occurs 2 times"),
        ({"x-ssl-client-issuer": "x"}, None, "not known here"),
        ({"x-ssl-client-cert": "x"}, None, "--x509-ca"),
    ],
)
def test_wrong_headers_of_a_certificate_are_refused(change: dict[str, str], twice: str | None, words: str) -> None:
    raw = [(name.encode(), value.encode("latin-1")) for name, value in {**ROBOT_HEADER, **change}.items()]
    raw += [(name, value) for name, value in raw if name.decode() == twice]
    with pytest.raises(Problem, match=words) as refused:
        Certificates(SECRET).claims(Headers(raw=raw))
    assert (refused.value.status, refused.value.code) == (401, "PB008")


CA = authority()
ENTITY = make(ROBOT, CA)
PROXY = proxy(ENTITY)
SECOND = proxy(PROXY, cn="456")
OTHER_CA = authority()  # with the same name
ANOTHER = make([(DC, "org"), (CN, "other")], CA)
LOOSE = PROXY.certificate.subject
RSA_ONLY = make(ROBOT, CA, (usage(key_encipherment=True), True))
SIGNING = make(ROBOT, CA, (usage(digital_signature=True, key_encipherment=True), True),
               (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), True))  # fmt: skip

ACCEPTED = {
    "end entity": chain(ENTITY),
    "end entity and CA": chain(ENTITY, CA),
    "for clients": chain(SIGNING),
    "proxy": chain(PROXY, ENTITY),
    "proxy of a proxy, and more behind": chain(SECOND, PROXY, ENTITY, CA, ANOTHER),
    "length that suffices": chain(proxy(p := proxy(ENTITY, length=1), length=0), p, ENTITY),
    "two DNs in one": chain(proxy(SIGNING, cn="robot"), SIGNING),
    "spaces for line ends": f"{PROXY.pem}{ENTITY.pem}".replace("\n", " "),
    "no line ends, two in one": "-----BEGIN CERTIFICATE-----" + b64encode(
        b"".join(one.certificate.public_bytes(Encoding.DER) for one in (PROXY, ENTITY))
    ).decode() + "-----END CERTIFICATE-----",
}  # fmt: skip

REFUSED = {
    "": ("is missing", ""),
    "text": ("0 certificates", "robot"),
    "too many": ("11 certificates", chain(*[ENTITY] * 11)),
    "too long": ("more than 65536", "a" * 65537),
    "no DER": ("cannot be read", "-----BEGIN CERTIFICATE-----MAAA-----END CERTIFICATE-----"),
    "cut": ("cannot be read", "-----BEGIN CERTIFICATE-----MIIB-----END CERTIFICATE-----"),
    "another CA": ("no authority", chain(make(ROBOT, OTHER_CA), OTHER_CA)),
    "self-signed": ("no authority", chain(make(ROBOT, None))),
    "made by a robot": ("no authority", chain(make([(CN, "x")], ENTITY), ENTITY)),
    "old hash": ("no authority", chain(make(ROBOT, CA, algorithm=SHA224()))),
    "a CA": ("of an authority", chain(CA)),
    "expired end entity": ("expired", chain(make(ROBOT, CA, ends=-61, begins=-90))),
    "end entity of the future": ("expired", chain(make(ROBOT, CA, begins=10**6, ends=2 * 10**6))),
    "end entity expired below": ("expired", chain(proxy(e := make(ROBOT, CA, ends=-61, begins=-90)), e)),
    "for servers": ("not for clients", chain(make(ROBOT, CA, (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]),
                                                              False)))),
    "not for signatures": ("not for signatures", chain(proxy(RSA_ONLY), RSA_ONLY)),
    "unknown critical": ("critical extension", chain(make(ROBOT, CA, (x509.UnrecognizedExtension(
        x509.ObjectIdentifier("1.3.6.1.4.1.3536.1.222"), b"\5\0"), True)))),
    "unknown attribute": ("not known here: 2.5.4.46", chain(make([(NameOID.DN_QUALIFIER, "x")], CA))),
    "only a proxy": ("too little of it", chain(PROXY)),
    "proxy without the one between": ("not that of the next", chain(SECOND, ENTITY)),
    "expired proxy": ("expired", chain(proxy(ENTITY, ends=-61, begins=-90), ENTITY)),
    "limited proxy": ("limited", chain(proxy(ENTITY, language=LIMITED), ENTITY)),
    "proxy of a limited one": ("limited", chain(proxy(p := proxy(ENTITY, language=LIMITED)), p, ENTITY)),
    "independent proxy": ("policy", chain(proxy(ENTITY, language=INDEPENDENT), ENTITY)),
    "too long a path": ("more proxy certificates", chain(proxy(p := proxy(ENTITY, length=0)), p, ENTITY)),
    "wrong signer": ("did not sign", chain(proxy(ENTITY, signer=ANOTHER), ENTITY)),
    "subject of another": ("not that of the next", chain(proxy(ENTITY, name=ANOTHER.certificate.subject), ENTITY)),
    "no CN more": ("not that of the next", chain(proxy(ENTITY, name=ENTITY.certificate.subject), ENTITY)),
    "two CNs more": ("not that of the next", chain(proxy(ENTITY, name=SECOND.certificate.subject), ENTITY)),
    "another type more": ("not that of the next", chain(proxy(ENTITY, name=x509.Name(
        [*ENTITY.certificate.subject.rdns, rdn((DC, "x"))])), ENTITY)),
    "two in one CN more": ("not that of the next", chain(proxy(ENTITY, name=x509.Name(
        [*ENTITY.certificate.subject.rdns, rdn((CN, "x"), (CN, "y"))])), ENTITY)),
    "proxy that is a CA": ("RFC 3820", chain(proxy(ENTITY, CA_EXTENSION), ENTITY)),
    "extension that may be ignored": ("RFC 3820", chain(proxy(ENTITY, critical=False), ENTITY)),
    "no extension": ("no authority", chain(make(LOOSE, ENTITY), ENTITY)),
    "proxy of a CA": ("of an authority", chain(proxy(CA), CA)),
}  # fmt: skip


@pytest.fixture
def bundle(tmp_path: Path) -> str:
    """A CA bundle of two authorities."""
    file = tmp_path / "ca.pem"
    file.write_text(authority([(CN, "Another CA")]).pem + CA.pem)
    return str(file)


@pytest.mark.parametrize("which", ACCEPTED)
def test_an_accepted_chain_gives_the_name_of_its_end_entity(which: str, bundle: str) -> None:
    headers = {**SHOWN, "x-ssl-client-cert": ACCEPTED[which], "x-ssl-client-subject": "CN=somebody else"}
    found = Certificates(SECRET, bundle).claims(Headers(headers))
    assert found == {"iss": "x509", "sub": ROBOT_DN, "issuer_dn": CA_DN}


@pytest.mark.parametrize("which", REFUSED)
def test_a_wrong_chain_is_refused(which: str, bundle: str) -> None:
    words, given = REFUSED[which]
    headers = {**ROBOT_HEADER, "x-ssl-client-cert": given}
    with pytest.raises(Problem, match=words) as refused:
        Certificates(SECRET, bundle).claims(Headers(headers))
    assert (refused.value.status, refused.value.code) == (401, "PB008")


POLICY = "300a0608" + INHERITS_ALL
NONSENSE = {
    "nothing": "", "null": "0500", "no policy": "3000", "a length only": "3003020100",
    "another language": "300a300806062b0601050507", "an endless length": "3080", "a length of two bytes": "30820500",
    "cut": "300d" + POLICY, "two": f"300c{POLICY}" * 2, "a set": "310c" + POLICY,
    "a policy that is a set": "300c31" + POLICY[2:], "a language that is no OID": "300c300a0408" + INHERITS_ALL,
    "a length that is a text": "300f040100" + POLICY,
    "a policy that is a number": "300f300d0608" + INHERITS_ALL + "020100",
}  # fmt: skip


def test_a_proxy_extension_is_read_as_others_write_it(bundle: str) -> None:
    for info in ("300c" + POLICY, "300f020101" + POLICY, "300f300d0608" + INHERITS_ALL + "040100"):
        extension = x509.UnrecognizedExtension(PROXY_INFO, bytes.fromhex(info))
        headers = Headers({**SHOWN, "x-ssl-client-cert": chain(make(LOOSE, ENTITY, (extension, True)), ENTITY)})
        assert Certificates(SECRET, bundle).claims(headers) == {"iss": "x509", "sub": ROBOT_DN, "issuer_dn": CA_DN}


@pytest.mark.parametrize("info", NONSENSE.values(), ids=NONSENSE)
def test_a_proxy_extension_that_is_nonsense_is_refused(info: str, bundle: str) -> None:
    extension = x509.UnrecognizedExtension(PROXY_INFO, bytes.fromhex(info))
    spoilt = make(LOOSE, ENTITY, (extension, True))
    with pytest.raises(Problem, match=r"cannot be read|policy"):
        Certificates(SECRET, bundle).claims(Headers({**SHOWN, "x-ssl-client-cert": chain(spoilt, ENTITY)}))


def test_a_verified_chain_is_remembered_for_a_minute_while_its_certificates_are_valid(
    bundle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    door, now, verified = Certificates(SECRET, bundle), time.time(), []
    clock = SimpleNamespace(time=lambda: now)
    end_entity = door._end_entity

    def counted(given: list[x509.Certificate]) -> x509.Certificate:
        verified.append(given)
        return end_entity(given)

    monkeypatch.setattr(tokens, "time", clock)
    monkeypatch.setattr(door, "_end_entity", counted)
    began, counts = now, []
    short = chain(proxy(ENTITY, begins=-90, ends=-30), ENTITY)  # with the allowed skew it is valid for 30 more seconds
    whole = chain(ENTITY)
    for text, seconds in ((whole, 0), (whole, 59), (whole, 61), (short, 0), (short, 28), (short, 31)):
        now = began + seconds
        door.claims(Headers({**SHOWN, "x-ssl-client-cert": text}))
        counts.append(len(verified))
    assert counts == [1, 1, 2, 3, 3, 4]


def test_an_authority_counts_in_its_time_only(tmp_path: Path) -> None:
    old = make([(CN, "Old CA")], None, CA_EXTENSION, begins=-90, ends=-61)
    (tmp_path / "ca.pem").write_text(old.pem)
    door = Certificates(SECRET, str(tmp_path / "ca.pem"))
    with pytest.raises(Problem, match="no authority"):
        door.claims(Headers({**SHOWN, "x-ssl-client-cert": chain(make(ROBOT, old))}))


@pytest.mark.parametrize(
    ("text", "mode", "words"),
    [
        (SECRET, 0o640, "others can read"),
        (SECRET, 0o604, "others can read"),
        (SECRET[1:], 0o600, "at least 32"),
        (SECRET + " " + SECRET, 0o600, "one word"),
        ("\u00e9" * 40, 0o600, "one word"),
        (None, 0o600, "cannot be read"),
    ],
)
def test_an_unsafe_file_of_the_secret_is_refused(tmp_path: Path, text: str | None, mode: int, words: str) -> None:
    file = tmp_path / "secret"
    if text is not None:
        file.write_text(text)
        file.chmod(mode)
    with pytest.raises(BrokerError, match=words):
        certificates.secret(file)


def test_a_bundle_holds_authorities_only(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    no_signer = make([(CN, "x")], None, CA_EXTENSION, (usage(digital_signature=True), True))
    for text, words in {
        CA.pem + ENTITY.pem: "not of an authority: CN=robot,DC=org", no_signer.pem: "not of an authority",
        "": "cannot be read", CA.key_pem: "cannot be read",
    }.items():  # fmt: skip
        file.write_text(text)
        with pytest.raises(BrokerError, match=words):
            certificates.authorities(file)
    with pytest.raises(BrokerError, match="cannot be read"):
        certificates.authorities(tmp_path / "none")


@pytest.fixture
def robots(db: Db) -> None:
    """A credential for one certificate, and one for all others of its authority."""
    query = "select from resource.set_credential('default', %s, %s, 'x509', %s, %s, %s)"
    db.execute(query, ["robot", "agent", ROBOT_DN, None, None])
    db.execute(query, ["people", "viewer", None, "issuer_dn", "/DC=org"])


@pytest.mark.usefixtures("robots")
def test_a_certificate_has_the_role_of_its_credential(
    start: Start, jobs: Jobs, db: Db, token: Token, bundle: str
) -> None:
    jobs(2)
    running = start(behind_proxy=True, x509_secret=SECRET)
    with httpx.Client(base_url=running.url + BASE, headers=ROBOT_HEADER) as agent:
        assert agent.post("/match", json=WANTED).status_code == 200
        assert agent.get("/jobs/1/why").status_code == 403
        refused = agent.post("/match", json=WANTED, headers={"X-SSL-Client-Subject": "CN=robot,DC=com"})
        assert (refused.status_code, "x509 /DC=com/CN=robot" in refused.json()["detail"]) == (403, True)
        refused = agent.post("/match", json=WANTED, headers={"X-SSL-Client-Secret": "x"})
        assert (refused.status_code, refused.json()["code"]) == (401, "PB008")
        refused = agent.post("/match", json=WANTED, headers={"X-SSL-Client-Verify": "NONE"})
        assert (refused.status_code, "client certificate is needed" in refused.json()["detail"]) == (401, True)
        # a token takes precedence over a certificate, even an invalid token
        assert agent.get("/jobs/1/why", headers=bearer(token("viewer"))).status_code == 200
        assert agent.post("/match", json=WANTED, headers=bearer("x")).status_code == 401
    assert db.execute("select subject from taskqueue.lease").fetchall() == [("x509 " + ROBOT_DN,)]

    # a browser adds its certificate to the forms of pages of other sites
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200), (None, 204)):
        headers = ROBOT_HEADER | ({"Sec-Fetch-Site": site} if site else {})
        assert httpx.post(running.url + BASE + "/match", json=WANTED, headers=headers).status_code == status
    form = {"siteName": "CERN", "computingElement": "CERN"}
    for site in ("cross-site", "same-site"):
        forged = httpx.post(
            running.url + "/server/panda/getJob", data=form, headers={**ROBOT_HEADER, "Sec-Fetch-Site": site}
        )
        assert forged.status_code == 403, forged.text
    assert db.execute("select count(*) from taskqueue.lease").fetchone() == (2,)

    # with a bundle a viewer's proxy certificate counts, and a DN alone does not
    verifying = start(behind_proxy=True, x509_secret=SECRET, x509_ca=bundle)
    with httpx.Client(base_url=verifying.url + BASE) as client:
        given = {**SHOWN, "X-SSL-Client-Cert": chain(proxy(ANOTHER), ANOTHER)}
        assert client.get("/jobs/1/why", headers=given).status_code == 200
        assert client.post("/match", json=WANTED, headers=given).status_code == 403
        assert client.post("/match", json=WANTED, headers=ROBOT_HEADER).status_code == 401


@pytest.mark.usefixtures("robots")
def test_headers_of_certificates_are_ignored_without_the_option(start: Start, token: Token, issuer: Issuer) -> None:
    url = start(behind_proxy=True).url + BASE + "/match"
    refused = httpx.post(url, json=WANTED, headers=ROBOT_HEADER)
    assert (refused.status_code, refused.json()["detail"]) == (401, "a bearer token is needed")
    wrong = {**ROBOT_HEADER, "x-ssl-client-secret": "x", **bearer(token("agent"))}
    assert httpx.post(url, json=WANTED, headers=wrong).status_code == 204
    claimed = bearer(issuer.token(ROBOT_DN, iss="x509"))
    assert httpx.post(url, json=WANTED, headers=claimed).status_code == 401
