"""The provider with which people log in: OpenID Connect, authorization code flow with PKCE."""

import asyncio
import json
import time
import urllib.request
from base64 import b64encode
from hmac import compare_digest
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit

from broker.exchange import exchange
from broker.service.keys import MOST_BYTES, TIMEOUT, described
from broker.service.login.attempts import Attempt
from broker.service.problems import LOG, Problem
from broker.service.settings import Login
from broker.service.tokens import Verifier, invalid, is_jwt

CALLBACK = "/login/callback"
_OLD = 3600.0  # seconds after which the description is fetched again
_PAUSE = 5.0  # seconds between two fetches
_AT_ONCE = 4  # calls of the provider, of each worker
_PATIENCE = 5.0  # seconds that a login waits for its turn


class Provider:
    """The provider, for the service at a public URL."""

    def __init__(self, login: Login, url: str) -> None:
        self.issuer = login.issuer
        self._login = login
        self._redirect_uri = url + CALLBACK
        self._verifier = Verifier([login.issuer], login.client_id)
        self._described: dict[str, Any] | None = None
        self._fetched_at = self._tried_at = float("-inf")
        self._lock = asyncio.Lock()
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def address(self, attempt: Attempt) -> str:
        """The address at which a person logs in. Raises Problem: 503 while the provider does not answer."""
        endpoint = str((await self._description())["authorization_endpoint"])
        asked = {
            "response_type": "code", "client_id": self._login.client_id, "redirect_uri": self._redirect_uri,
            "scope": self._login.scope, "state": attempt.state, "nonce": attempt.nonce,
            "code_challenge": attempt.challenge, "code_challenge_method": "S256",
        }  # fmt: skip
        return endpoint + ("&" if urlsplit(endpoint).query else "?") + urlencode(asked)

    async def claims(self, code: str, attempt: Attempt) -> dict[str, Any]:
        """The verified claims of the person for whom the provider gave a code.

        Raises Problem: 401, or 503 while the provider does not answer.
        """
        endpoint = await self._description()
        fields = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": self._redirect_uri,
            "code_verifier": attempt.verifier, "client_id": self._login.client_id,
        }  # fmt: skip
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._turns.acquire()
        except TimeoutError:
            raise Problem(503, "too many people log in", hint="Log in again.") from None
        try:
            answer = await asyncio.to_thread(self._exchanged, endpoint, fields)
        finally:
            self._turns.release()
        token = answer.get("id_token")
        if not isinstance(token, str) or not is_jwt(token):
            raise invalid("the provider gave no id token")
        claims = await self._verifier.claims(token)
        nonce, party, audience = claims.get("nonce"), claims.get("azp"), claims["aud"]
        if not isinstance(nonce, str) or not compare_digest(nonce.encode(), attempt.nonce.encode()):
            raise invalid("the id token is of another login")
        if party != self._login.client_id and (party is not None or (isinstance(audience, list) and audience[1:])):
            raise invalid("the id token is for another client")
        return claims

    def _exchanged(self, endpoint: dict[str, Any], fields: dict[str, str]) -> dict[str, Any]:
        """The provider's answer to a code."""
        headers = {"Accept": "application/json", "User-Agent": "pgbroker"}
        secret = self._login.client_secret
        if secret is not None:
            ways = endpoint.get("token_endpoint_auth_methods_supported")
            if isinstance(ways, list) and "client_secret_basic" not in ways:
                fields = {**fields, "client_secret": secret}
            else:
                pair = f"{quote(self._login.client_id, safe='')}:{quote(secret, safe='')}"
                headers["Authorization"] = "Basic " + b64encode(pair.encode()).decode()
        request = urllib.request.Request(endpoint["token_endpoint"], urlencode(fields).encode(), headers)
        try:
            found = json.loads(exchange(request, TIMEOUT, MOST_BYTES))
        except HTTPError as error:
            error.close()
            if error.code in (400, 403):  # RFC 6749's error for a code that is used, old or of another client
                raise invalid("the provider does not accept the login any more", "Log in again.") from None
            raise self._away(f"its token endpoint answers {error.code}") from None
        except (OSError, HTTPException, ValueError, RecursionError) as error:
            raise self._away(type(error).__name__) from None
        return found if isinstance(found, dict) else {}

    async def _description(self) -> dict[str, Any]:
        """The provider's OpenID configuration, which is kept for an hour."""
        async with self._lock:
            now = time.monotonic()
            if now - self._fetched_at > _OLD and now - self._tried_at > _PAUSE:
                try:
                    self._described = await asyncio.to_thread(self._fetched)
                    self._fetched_at = time.monotonic()
                except (OSError, HTTPException, ValueError, TypeError, RecursionError) as error:
                    self._away(str(error))
                finally:
                    self._tried_at = time.monotonic()
        if self._described is None:
            raise self._unavailable()
        return self._described

    def _fetched(self) -> dict[str, Any]:
        found = described(self.issuer)
        for name in ("authorization_endpoint", "token_endpoint"):
            where = found.get(name)
            if not isinstance(where, str) or urlsplit(where).scheme not in (urlsplit(self.issuer).scheme, "https"):
                raise ValueError(f"its {name} is {where!r:.200}")
        return found

    def _away(self, why: str) -> Problem:
        LOG.warning("cannot log in with %s: %s", self.issuer, why)
        return self._unavailable()

    def _unavailable(self) -> Problem:
        detail = f"the provider {self.issuer} does not answer as it should; the log of the service has the reason"
        return Problem(503, detail, hint="Log in again later.", headers={"Retry-After": "30"})
