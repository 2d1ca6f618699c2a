"""The keys of an issuer, fetched when needed from the address in its OpenID configuration, and kept."""

import asyncio
import json
import logging
import time
import urllib.request
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

from broker.exchange import exchange

LOG = logging.getLogger("broker.service")
Key = RSAKey | ECKey | OKPKey

ALGORITHMS = {"RS256": "RSA", "RS512": "RSA", "ES256": "P-256", "ES384": "P-384", "EdDSA": "Ed25519"}
"""The algorithms of a signature, and the kind of key that each needs. All are asymmetric."""

_PAUSE = 30  # seconds between two fetches
_OLD = 3600  # seconds after which keys are fetched again, so that a withdrawn key disappears
TIMEOUT = 5  # seconds for a whole exchange
MOST_BYTES = 2**20
_LEAST_BITS = 2048
_KINDS: dict[str, type[Key]] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}


class NoKeys(Exception):
    """The issuer does not answer, and its keys are not known."""


@dataclass
class Keys:
    """The keys of one issuer."""

    issuer: str
    known: dict[str, list[tuple[str | None, Key]]] = field(default_factory=dict)
    tried_at: float = float("-inf")
    fetched_at: float = float("-inf")
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _refreshing: "asyncio.Task[None] | None" = None

    async def fitting(self, algorithm: str, kid: str | None) -> list[Key]:
        """The keys that may have made a signature: the key with this id or, without an id, each key of the right kind.

        Raises NoKeys.
        """
        found = self._fitting(algorithm, kid)
        if not found:
            await self._fetch()
            found = self._fitting(algorithm, kid)
        elif time.monotonic() - self.fetched_at > _OLD and (self._refreshing is None or self._refreshing.done()):
            self._refreshing = asyncio.create_task(self._fetch())  # no request waits for a hanging issuer
        if not self.known:
            raise NoKeys(self.issuer)
        return found

    def _fitting(self, algorithm: str, kid: str | None) -> list[Key]:
        return [key for name, key in self.known.get(ALGORITHMS[algorithm], []) if kid is None or name == kid]

    async def _fetch(self) -> None:
        """Fetch the keys, unless that was tried a moment ago. Known keys stay if the issuer is away."""
        async with self._lock:
            if time.monotonic() - self.tried_at < _PAUSE:
                return
            try:
                self.known = await asyncio.to_thread(_keys_of, self.issuer)
                self.fetched_at = time.monotonic()
            except (OSError, HTTPException, ValueError, TypeError, RecursionError, JoseError) as error:
                LOG.warning("cannot get the keys of issuer %s: %s", self.issuer, error)
            finally:
                self.tried_at = time.monotonic()


def described(issuer: str) -> dict[str, Any]:
    """The OpenID configuration of an issuer. Raises OSError or ValueError."""
    found = _document(issuer.rstrip("/") + "/.well-known/openid-configuration")
    if found.get("issuer") != issuer:
        raise ValueError(f"its configuration is that of issuer {found.get('issuer')!r:.200}")
    return found


def _keys_of(issuer: str) -> dict[str, list[tuple[str | None, Key]]]:
    where = described(issuer).get("jwks_uri")
    if not isinstance(where, str) or urlsplit(where).scheme not in (urlsplit(issuer).scheme, "https"):
        raise ValueError(f"its jwks_uri is {where!r:.200}")
    listed = _document(where).get("keys")
    if not isinstance(listed, list):
        raise ValueError("its list of keys is not a list")
    found: dict[str, list[tuple[str | None, Key]]] = {}
    for one in listed:
        kind, key = _key(one)
        if key is not None:
            found.setdefault(kind, []).append((one.get("kid"), key))
    if not found:
        raise ValueError("it has no key that is usable")
    return found


def _key(one: Any) -> tuple[str, Key | None]:
    """A key and its kind; None for a key that cannot sign a token here."""
    if not isinstance(one, dict) or one.get("use", "sig") != "sig" or one.get("kty") not in _KINDS:
        return "", None
    public = {name: one[name] for name in ("kty", "crv", "n", "e", "x", "y") if name in one}
    kind = str(one.get("crv") or one["kty"])
    if one.get("alg") is not None and ALGORITHMS.get(one["alg"]) != kind:
        return kind, None
    try:
        key = _KINDS[one["kty"]].import_key(public)
        if isinstance(key, RSAKey) and key.public_key.key_size < _LEAST_BITS:
            return kind, None
    except (JoseError, ValueError, TypeError):
        return kind, None
    return kind, key


def _document(where: str) -> dict[str, Any]:
    request = urllib.request.Request(where, headers={"Accept": "application/json", "User-Agent": "pgbroker"})
    body = exchange(request, TIMEOUT, MOST_BYTES + 1, redirects=True)
    if len(body) > MOST_BYTES:
        raise ValueError(f"{where} is longer than {MOST_BYTES} bytes")
    found = json.loads(body)
    if not isinstance(found, dict):
        raise ValueError(f"{where} is not a JSON object")
    return found
