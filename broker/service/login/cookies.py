"""Cookies of a person's browser, and the tokens against forged requests that are derived from them.

There are two secret cookies: that of the session, and that of a visit, which the login page sets before anybody is
logged in. Both are random. Other values are derived from them, and so need no storage: the token that a form or a
script shows, and the parts of a login (attempts.py). A third cookie is not secret: the position of the primary's log
when the browser changed something (reader.py).
"""

import hashlib
import hmac
import re
import secrets
from base64 import urlsafe_b64encode
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from broker.service.problems import Problem
from broker.service.tokens import digest

CSRF_HEADER = "X-CSRF-Token"
_READING = ("GET", "HEAD")
_OWN_PAGES = ("same-origin", "none")
_VALUE = re.compile(r"[A-Za-z0-9_-]{43,64}")


def derived(secret: str, purpose: str, text: str = "") -> str:
    """43 characters that only an owner of the secret can make, different for each purpose and text."""
    made = hmac.digest(secret.encode(), f"{purpose}\n{text}".encode(), "sha256")
    return urlsafe_b64encode(made).decode().rstrip("=")


def csrf(secret: str) -> str:
    """The token that a request shows beside a cookie. Another site can send the cookie, but does not know the token."""
    return derived(secret, "csrf")


def is_csrf(secret: str, shown: str) -> bool:
    """Whether this is the token of the cookie."""
    return hmac.compare_digest(csrf(secret).encode(), shown.encode())


def new_value() -> str:
    """A value of a session's or a visit's cookie: 256 random bits."""
    return secrets.token_urlsafe(32)


def require_own_page(headers: Headers, method: str) -> None:
    """Refuse a call that may change something and was sent by a page of another origin. A browser adds its cookie and
    its client certificate to such a call. Clients without Sec-Fetch-Site pass: programs and old browsers. Raises
    Problem: 403.
    """
    came_from = headers.get("sec-fetch-site")
    if method not in _READING and came_from is not None and came_from not in _OWN_PAGES:
        raise Problem(403, "a page of another site sent this request", hint="Use the pages of this service.")


class Cookies:
    """The cookies of a service at a public URL; None means that the URL is not known, and the service is behind TLS.
    Browsers return a cookie whose name begins with __Host- only to this host and only over TLS. Without TLS, which is
    for this machine only, not every browser stores such a cookie. The port is then part of the name, since browsers
    send the cookies of one port to all ports of a machine.
    """

    def __init__(self, url: str | None) -> None:
        parts = urlsplit(url or "https://")
        self._is_secure = parts.scheme == "https"
        self.session = "__Host-pgbroker" if self._is_secure else f"pgbroker-{parts.port or 80}"
        self.visit = f"{self.session}-visit"
        self.changed = f"{self.session}-changed"

    def value(self, headers: Headers, name: str) -> str | None:
        """The value of a cookie; None if it is not sent, is sent twice, or is not ours."""
        pairs = (pair.strip().partition("=") for line in headers.getlist("cookie") for pair in line.split(";"))
        found = [value for key, _, value in pairs if key == name]
        return found[0] if len(found) == 1 and _VALUE.fullmatch(found[0]) else None

    def caller(self, headers: Headers, method: str, shown: str | None = None) -> str | None:
        """The hash of the session's cookie in a call, or None without one. A call that may change something also needs
        the token: in a header, or in the field of a form, whose value is `shown`. Raises Problem: 403.
        """
        cookie = self.value(headers, self.session)
        if cookie is None:
            return None
        require_own_page(headers, method)
        if method not in _READING:
            shown = headers.get(CSRF_HEADER) if shown is None else shown
            if shown is None or not is_csrf(cookie, shown):
                what = "is missing" if shown is None else "is not that of the session"
                hint = f"A call with a cookie needs the header {CSRF_HEADER}; GET /session has its value."
                raise Problem(403, f"the header {CSRF_HEADER} {what}", key=CSRF_HEADER, hint=hint)
        return digest(cookie)

    def setting(self, name: str, value: str, seconds: int | None = None) -> str:
        """The header Set-Cookie that stores a cookie for this many seconds, or until the browser ends; 0 removes it."""
        age = "" if seconds is None else f"; Max-Age={seconds}"
        return f"{name}={value}; Path=/; HttpOnly; SameSite=Lax{'; Secure' if self._is_secure else ''}{age}"


def hashed(text: str) -> str:
    """sha256 of a login's state, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()
