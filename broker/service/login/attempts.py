"""Attempts to log in, which are not stored: all their parts are derived from the cookie of the visit.

The state that travels to the provider and back carries the time and the page to return to, signed with the cookie.
Another browser has another cookie, so it cannot complete the attempt; and nothing is stored for a visitor who never
logs in. The database ensures that a state opens only one session.
"""

import re
import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest

from broker.service.login.cookies import derived
from broker.service.problems import Problem

LASTS = 600
"""Seconds that a person may spend at the provider."""

_TEXT = re.compile(r"([0-9]{1,12})\.[A-Za-z0-9_-]+\.([A-Za-z0-9_=-]{1,700})")
_LOCAL = re.compile(r"/(?:[!-.0-\[\]-~][!-\[\]-~]{0,498})?")
"""A path of this service: neither //host nor \\, and no character that a URL lacks."""


def is_local(path: str) -> bool:
    """Whether a browser that is sent to a path stays at this service."""
    return _LOCAL.fullmatch(path) is not None


@dataclass(frozen=True)
class Attempt:
    """An attempt of the browser with this visit's cookie. path: the path to return to."""

    visit: str
    state: str
    path: str

    @property
    def nonce(self) -> str:
        """The nonce that the id token must repeat."""
        return derived(self.visit, "nonce", self.state)

    @property
    def verifier(self) -> str:
        """The secret of PKCE (RFC 7636)."""
        return derived(self.visit, "verifier", self.state)

    @property
    def challenge(self) -> str:
        """The hash of the secret, which travels through the browser."""
        return urlsafe_b64encode(sha256(self.verifier.encode()).digest()).decode().rstrip("=")


def begin(visit: str, path: str) -> Attempt:
    """A new attempt, which returns to a path."""
    assert is_local(path)
    text = f"{int(time.time())}.{secrets.token_urlsafe(16)}.{urlsafe_b64encode(path.encode()).decode()}"
    return Attempt(visit, f"{text}.{derived(visit, 'state', text)}", path)


def resume(visit: str | None, state: str) -> Attempt:
    """The attempt with which a browser comes back. Raises Problem: 403."""
    hint = "Log in again, in one browser, with cookies allowed."
    if visit is None:
        raise Problem(403, "this browser has not begun the login, or has begun it again", hint=hint)
    text, _, signature = state.rpartition(".")
    parts = _TEXT.fullmatch(text)
    if parts is None or not compare_digest(derived(visit, "state", text).encode(), signature.encode()):
        raise Problem(403, "the login was begun by another browser, or in another visit", hint=hint)
    if time.time() > int(parts[1]) + LASTS:
        raise Problem(403, f"the login has taken more than {LASTS // 60} minutes", hint="Log in again.")
    return Attempt(visit, state, _path(parts[2]))


def _path(encoded: str) -> str:
    """The path in a state, which is checked because the owner of the cookie can sign anything."""
    try:
        found = urlsafe_b64decode(encoded).decode()
    except ValueError:
        return "/"
    return found if is_local(found) else "/"
