"""Accepted tokens, and wrong ones of each kind, which are refused with 401."""

import asyncio
import hmac
import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from broker.service import keys, rate, tokens
from broker.service.problems import Problem
from broker.service.tokens import Verifier
from tests.service.conftest import WANTED, Credential, Db, Running, Start, Token, bearer
from tests.service.issuer import AUDIENCE, Issuer, signed, unsigned

pytestmark = pytest.mark.own_database


def _in_seconds(seconds: int) -> int:
    """The present time plus some seconds, in whole seconds, taken when a test runs, not when its module is read."""
    return int(time.time()) + seconds


def _other_issuer(issuer: Issuer) -> str:
    return signed({**issuer.claims(), "iss": "https://elsewhere.example"}, issuer.keys["k1"], "ES256", "k1")


def _public_as_secret(issuer: Issuer) -> str:
    key = issuer.keys["k1"].as_pem(private=False)
    head, body, _ = signed(issuer.claims(), OctKey.generate_key(256), "HS256", "k1").split(".")
    signature = hmac.digest(key, f"{head}.{body}".encode(), "sha256")
    return f"{head}.{body}.{urlsafe_b64encode(signature).decode().rstrip('=')}"


def _spoilt(issuer: Issuer) -> str:
    head, body, signature = issuer.token().split(".")
    other = issuer.token("somebody else").split(".")[1]
    assert other != body
    return f"{head}.{other}.{signature}"


def _deep(issuer: Issuer) -> str:
    text = json.dumps({**issuer.claims(), "x": 0}).replace('"x": 0', '"x": ' + "[" * 2000 + "]" * 2000)
    return signed(text, issuer.keys["k1"], "ES256", "k1")


WRONG: dict[str, Callable[[Issuer], str]] = {
    "other issuer": _other_issuer,
    "issuer with a slash": lambda i: signed({**i.claims(), "iss": i.url + "/"}, i.keys["k1"], "ES256", "k1"),
    "no issuer": lambda i: i.token(iss=None),
    "expired": lambda i: i.token(exp=_in_seconds(-3600)),
    "no end": lambda i: i.token(exp=None),
    "end is a text": lambda i: i.token(exp=str(_in_seconds(600))),
    "end is no number": lambda i: i.token(exp=float("nan")),
    "end is too large": lambda i: i.token(exp=10**400),
    "begin is too large": lambda i: i.token(nbf=-(10**400)),
    "time of issue is too large": lambda i: i.token(iat=10**4000),
    "not yet": lambda i: i.token(nbf=_in_seconds(3600)),
    "made in the future": lambda i: i.token(iat=_in_seconds(3600)),
    "other audience": lambda i: i.token(aud="somebody else"),
    "other audiences": lambda i: i.token(aud=["a", "b"]),
    "no audience": lambda i: i.token(aud=None),
    "unsigned": lambda i: unsigned(i.claims()),
    "signed with the public key": _public_as_secret,
    "swapped key": lambda i: signed(i.claims(), ECKey.generate_key("P-256"), "ES256", "k1"),
    "key of another kind": lambda i: signed(i.claims(), RSAKey.generate_key(2048), "RS256", "k1"),
    "unknown kid": lambda i: signed(i.claims(), i.keys["k1"], "ES256", "k2"),
    "other claims": _spoilt,
    "cut": lambda i: i.token()[:-10],
    "no JSON": lambda i: "a.b.c",
    "NUL": lambda i: i.token("a\0b"),
    "half of a pair": lambda i: i.token("a\ud800b"),
    "deep": _deep,
}


@pytest.mark.parametrize("how", [pytest.param(how, id=how) for how in WRONG])
def test_a_wrong_token_is_refused(client: httpx.Client, trusted: Issuer, how: str) -> None:
    assert client.post("/match", json=WANTED, headers=bearer(trusted.token())).status_code == 204
    refused = client.post("/match", json=WANTED, headers=bearer(WRONG[how](trusted)))
    assert refused.status_code == 401, refused.text
    assert refused.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'
    assert refused.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Basic YTpi", "Bearer nonsense", "Bearer \u00e9\u00ff", "bearer a.b"]
)
def test_a_call_without_a_valid_token_is_refused(client: httpx.Client, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header.encode("latin-1")}
    refused = client.post("/match", json=WANTED, headers=headers)  # type: ignore[arg-type]
    assert (refused.status_code, refused.json()["code"]) == (401, "PB008")
    assert refused.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")
@pytest.mark.parametrize(
    ("algorithm", "key"),
    [
        ("RS256", RSAKey.generate_key(2048)),
        ("RS512", RSAKey.generate_key(2048)),
        ("ES256", ECKey.generate_key("P-256")),
        ("ES384", ECKey.generate_key("P-384")),
        ("EdDSA", OKPKey.generate_key("Ed25519")),
    ],
)
def test_tokens_of_each_accepted_algorithm_are_verified(
    client: httpx.Client, trusted: Issuer, algorithm: str, key: Any
) -> None:
    trusted.keys = {"k9": key}
    given = trusted.token(kid="k9", algorithm=algorithm, aud=["x", AUDIENCE])
    assert client.post("/match", json=WANTED, headers=bearer(given)).status_code == 204
    without = signed(trusted.claims(), key, algorithm, None)
    assert client.post("/match", json=WANTED, headers=bearer(without)).status_code == 204


def test_new_keys_of_an_issuer_are_fetched_with_a_pause_between(
    client: httpx.Client, trusted: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.post("/match", json=WANTED, headers=bearer(trusted.token())).status_code == 204
    trusted.keys["k2"] = ECKey.generate_key("P-256")
    for _ in range(3):
        assert client.post("/match", json=WANTED, headers=bearer(trusted.token(kid="k2"))).status_code == 401
    assert trusted.fetched == 1
    monkeypatch.setattr(keys, "_PAUSE", 0)
    assert client.post("/match", json=WANTED, headers=bearer(trusted.token(kid="k2"))).status_code == 204
    assert client.post("/match", json=WANTED, headers=bearer(trusted.token())).status_code == 204
    assert trusted.fetched == 2


def test_a_token_of_an_issuer_that_is_away_may_be_tried_again(client: httpx.Client, trusted: Issuer) -> None:
    given = trusted.token()
    trusted.close()
    away = client.post("/match", json=WANTED, headers=bearer(given))
    assert (away.status_code, away.headers["Retry-After"]) == (503, "30")


class _Clock:
    """The verifier's clock, which a test sets."""

    def __init__(self) -> None:
        self.now = time.time()

    def time(self) -> float:
        return self.now


def test_verified_claims_are_remembered_for_a_minute_while_the_token_is_valid(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    verifier, clock = Verifier([issuer.url], AUDIENCE), _Clock()
    verify = verifier._verified
    verified: list[str] = []

    async def counted(token: str) -> dict[str, Any]:
        verified.append(token)
        return await verify(token)

    monkeypatch.setattr(tokens, "time", clock)
    monkeypatch.setattr(verifier, "_verified", counted)
    began = clock.now
    given = issuer.token(exp=int(began) + 30)

    async def ask(*at: float) -> list[int]:
        found = []
        for seconds in at:
            clock.now = began + seconds
            try:
                await verifier.claims(given)
                found.append(len(verified))
            except Problem as problem:
                found.append(problem.status)
        return found

    assert asyncio.run(ask(0, 1, 59, 61, 88, 91)) == [1, 1, 1, 2, 2, 401]


def test_a_token_that_is_revoked_is_refused_at_once(client: httpx.Client, token: Token, db: Db) -> None:
    client.headers.update(bearer(token("agent", "short")))
    assert client.post("/match", json=WANTED).status_code == 204
    db.execute("select from resource.revoke_tokens('default', 'short')")
    assert client.post("/match", json=WANTED).status_code == 401


def test_a_credential_that_is_removed_is_refused_at_once(
    client: httpx.Client, issuer: Issuer, credential: Credential, db: Db
) -> None:
    credential("agent", issuer, "pilot-1")
    client.headers.update(bearer(issuer.token()))
    assert client.post("/match", json=WANTED).status_code == 204
    db.execute("select from resource.clear_credential('default', 'agent pilot-1')")
    refused = client.post("/match", json=WANTED)
    assert (refused.status_code, refused.json()["code"]) == (403, "PB002")


def test_a_setup_without_a_credential_for_a_token_refuses_it(
    service: Running, client: httpx.Client, trusted: Issuer
) -> None:
    elsewhere = service.url + "/api/v1/setups/other/match"
    refused = client.post(elsewhere, json=WANTED, headers=bearer(trusted.token()))
    assert (refused.status_code, refused.json()["code"]) == (403, "PB002")
    assert client.post("/match", json=WANTED, headers=bearer(trusted.token())).status_code == 204


def test_a_caller_who_asks_too_often_is_slowed_down(start: Start, token: Token) -> None:
    running = start(rate=2.0)
    url = running.url + "/api/v1/setups/default/match"
    one, two = bearer(token("agent", "one")), bearer(token("agent", "two"))
    answers = [httpx.post(url, json=WANTED, headers=one) for _ in range(30)]
    slowed = [answer for answer in answers if answer.status_code == 429]
    assert slowed
    assert slowed[0].headers["Retry-After"] == "1"
    assert httpx.post(url, json=WANTED, headers=two).status_code == 204


def test_the_bucket_of_a_caller_fills_again() -> None:
    now = [0.0]
    bucket = rate.Rate(2.0, lambda: now[0])

    def asks() -> bool:
        try:
            bucket.spend("somebody")
        except Problem:
            return False
        return True

    assert [asks() for _ in range(3)] == [True, True, False]
    now[0] = 0.4
    assert not asks()
    now[0] = 0.6
    assert [asks() for _ in range(2)] == [True, False]
    now[0] = 100.0
    assert [asks() for _ in range(3)] == [True, True, False]
