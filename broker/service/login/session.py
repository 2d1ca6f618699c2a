"""The session of a person's browser."""

from datetime import UTC, datetime
from typing import LiteralString

import msgspec

from broker.service.door import Call
from broker.service.login.cookies import csrf
from broker.service.tokens import digest

_SESSION: LiteralString = "select subject, expires_at, setups from resource.session_of(%s)"


class Setup(msgspec.Struct):
    """A setup, and the role of the person in it."""

    setup: str
    kind: str


class Session(msgspec.Struct):
    """Who is logged in. csrf: what each call that may change something shows in the header X-CSRF-Token."""

    subject: str
    expires_at: datetime
    setups: list[Setup]
    csrf: str


async def session_of(call: Call) -> Session | None:
    """The session of a request's cookie; None: nobody is logged in."""
    cookies = call.service.cookies
    cookie = cookies.value(call.request.headers, cookies.session)
    if cookie is None:
        return None
    rows = await call.service.database.as_login(_SESSION, [digest(cookie)])
    if not rows:
        return None
    subject, expires_at, setups = rows[0]
    return Session(subject, expires_at.astimezone(UTC), msgspec.json.decode(setups, type=list[Setup]), csrf(cookie))
