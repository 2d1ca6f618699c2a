"""Bearer tokens: verifies tokens of issuers (JWT), and hashes tokens that the database has made. The claims of a
verified token are kept for a minute. For each request the database is asked for the rights of the claims.
"""

import binascii
import hashlib
import json
import time
from base64 import urlsafe_b64decode
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any
from warnings import filterwarnings

import msgspec
from joserfc import jws
from joserfc.errors import JoseError

from broker.service.keys import ALGORITHMS, Keys, NoKeys
from broker.service.problems import Problem

SKEW = 60  # seconds by which clocks may differ
_KEPT = 60.0  # seconds
_MOST_KEPT = 10_000
_LONGEST = 16_384
_LAST_TIME = 2**53  # seconds; a float holds each of them


class _Refused(Exception):
    """The reason why a token is not accepted."""


class _Registry(jws.JWSRegistry):
    """joserfc's limits are for small tokens; a person in many groups has a longer one."""

    max_payload_length = _LONGEST


# Issuers still use the name EdDSA, which RFC 9864 replaces.
filterwarnings("ignore", message="EdDSA is deprecated", module=r"joserfc\.")
_REGISTRY = _Registry(algorithms=list(ALGORITHMS))


def invalid(detail: str, hint: str | None = None) -> Problem:
    """The refusal of a token."""
    return Problem(401, detail, code="PB008", hint=hint)


def digest(token: str) -> str:
    """The hash of an opaque token, which goes to the database."""
    return hashlib.sha256(token.encode()).hexdigest()


def is_jwt(token: str) -> bool:
    """Whether a text has the three parts of a signed token."""
    return token.count(".") == 2


class Kept:
    """Verified claims, kept for at most a minute. The key is the hash of the token or chain."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, tuple[dict[str, Any], float]] = OrderedDict()

    def get(self, name: bytes) -> dict[str, Any] | None:
        """The claims, if they are kept."""
        claims, until = self._kept.get(name, (None, 0.0))
        return claims if time.time() < until else None

    def put(self, name: bytes, claims: dict[str, Any], end: float) -> None:
        """Keep claims, at most until their end."""
        self._kept[name] = claims, min(time.time() + _KEPT, end + SKEW)
        self._kept.move_to_end(name)
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)


class Verifier:
    """Verifies tokens of the configured issuers."""

    def __init__(self, issuers: Sequence[str], audience: str | None) -> None:
        self._keys = {issuer: Keys(issuer) for issuer in issuers}
        self._audience = audience
        self._kept = Kept()

    async def claims(self, token: str) -> dict[str, Any]:
        """The claims of a token. Raises Problem: 401, or 503 while the keys of its issuer are not available."""
        name = hashlib.sha256(token.encode()).digest()
        kept = self._kept.get(name)
        if kept is not None:
            return kept
        try:
            claims = await self._verified(token)
        except _Refused as refused:
            raise invalid(f"the token is not valid: {refused}") from None
        except NoKeys as error:
            detail = f"the keys of issuer {error} cannot be had"
            raise Problem(503, detail, hint="Ask again.", headers={"Retry-After": "30"}) from None
        except (JoseError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise invalid(f"the token is not valid: {type(error).__name__}") from None
        self._kept.put(name, claims, claims["exp"])
        return claims

    async def _verified(self, token: str) -> dict[str, Any]:
        if len(token) > _LONGEST:
            raise _Refused(f"it is longer than {_LONGEST} bytes")
        header, claims = (_part(part) for part in token.split(".")[:2])
        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm not in ALGORITHMS:
            raise _Refused("its algorithm is none of " + ", ".join(ALGORITHMS))
        if "crit" in header or "b64" in header:
            raise _Refused("its header has an extension")
        issuer = claims.get("iss")
        if not isinstance(issuer, str) or issuer not in self._keys:
            raise _Refused("its issuer is not known here")
        if kid is not None and not isinstance(kid, str):
            raise _Refused("its kid is not a text")
        if not any(_signed(token, key, algorithm) for key in await self._keys[issuer].fitting(algorithm, kid)):
            raise _Refused("no key of its issuer made the signature")
        self._check(claims)
        return claims

    def _check(self, claims: dict[str, Any]) -> None:
        """Check the times and the audience of a token whose signature is valid."""
        now = time.time()
        if not now < _time(claims, "exp") + SKEW:
            raise _Refused("it has expired")
        for name in ("nbf", "iat"):
            if name in claims and not _time(claims, name) - SKEW <= now:
                raise _Refused(f"its {name} is in the future")
        audience = claims.get("aud")
        if self._audience not in (audience if isinstance(audience, list) else [audience]):
            raise _Refused("it is for another audience")
        text = msgspec.json.encode(claims)  # raises for half of a surrogate pair
        if b"\\u0000" in text:
            raise _Refused("a text has the character NUL")


def _part(text: str) -> dict[str, Any]:
    """A part of a token as an object, which is not trusted yet."""
    try:
        found = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, UnicodeDecodeError, json.JSONDecodeError):
        raise _Refused("it is not JSON") from None
    if not isinstance(found, dict):
        raise _Refused("it is not a JSON object")
    return found


def _signed(token: str, key: Any, algorithm: str) -> bool:
    try:
        jws.deserialize_compact(token, key, algorithms=[algorithm], registry=_REGISTRY)
    except (JoseError, ValueError):
        return False
    return True


def _time(claims: dict[str, Any], name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LAST_TIME:
        raise _Refused(f"its {name} is not a time")
    return value
