"""Sessions of browsers, opened as the service opens them."""

import hashlib
import secrets

from tests.calls import Connection

OPEN = "select resource.use_ticket(t.ticket, %s) from resource.make_ticket(%s, %s, %s) t"


def digest(cookie: str) -> str:
    """The database's hash of a cookie."""
    return hashlib.sha256(cookie.encode()).hexdigest()


def by_ticket(db: Connection, setup: str, name: str, kind: str) -> str:
    """The cookie of somebody who is logged in."""
    cookie = secrets.token_urlsafe(32)
    db.execute(OPEN, [digest(cookie), setup, name, kind])
    return cookie
