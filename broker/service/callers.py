"""Callers: the role, owner and group that a credential gives in a setup. The database is asked each time."""

from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.datastructures import Headers

from broker.service.calls import Database
from broker.service.certificates import Certificates
from broker.service.collector import Bounds, Collector
from broker.service.login.cookies import Cookies, require_own_page
from broker.service.problems import BEARER, Problem, of_code
from broker.service.tokens import Verifier, digest, is_jwt

_CREDENTIALS_OF = "select n, role_name, subject, message, hint, code from resource.credentials_of(%s::jsonb)"
_MOST = 200

Group = tuple[str, str, str | None, str | None]
"""Setup, role, owner group and owner."""


class Subject(msgspec.Struct, omit_defaults=True):
    """The identity of a caller in the database, and the owner and group for which it acts."""

    name: str
    setup: str
    owner_group: str | None = None
    owner_dn: str | None = None


class Caller(msgspec.Struct, frozen=True):
    """A caller in a setup, with its role; `text` is the subject as the database gave it."""

    setup: str
    role: str
    subject: Subject
    text: str

    @property
    def group(self) -> Group:
        """The key of a group of callers that share a transaction: they are equal for the database, except for their
        names."""
        return self.setup, self.role, self.subject.owner_group, self.subject.owner_dn


def acting_for(group: Group, name: str = "") -> str:
    """The subject of a group's transaction, or of one of its callers."""
    setup, _, owner_group, owner_dn = group
    return msgspec.json.encode(Subject(name, setup, owner_group, owner_dn)).decode()


Shown = dict[str, Any]
"""The evidence of a request about its caller, for the database: claims, or the hash of a token or of a session's
cookie."""


class Credentials:
    """Reads the evidence of requests about their callers: a certificate, a cookie, or a token."""

    def __init__(self, verifier: Verifier, certificates: Certificates | None, cookies: Cookies) -> None:
        self._verifier = verifier
        self._certificates = certificates
        self._cookies = cookies

    async def of(self, headers: Headers, method: str, csrf: str | None = None) -> Shown:
        """The evidence of a request. csrf: the token that a form shows beside the cookie. Raises Problem: 401, 403,
        503."""
        claims = self._certificates.claims(headers) if self._certificates else None
        if claims is not None:
            require_own_page(headers, method)
            return {"claims": claims}
        session = None if "authorization" in headers else self._cookies.caller(headers, method, csrf)
        if session is not None:
            return {"session": session}
        scheme, _, token = headers.get("authorization", "").partition(" ")
        token = token.strip()
        if scheme.lower() != BEARER.lower() or not token:
            needed = f"a bearer token{' or a client certificate' if self._certificates else ''} is needed"
            hint = "Send the header Authorization: Bearer TOKEN."
            raise Problem(401, needed, code="PB008", hint=hint, headers={"WWW-Authenticate": BEARER})
        return {"claims": await self._verifier.claims(token)} if is_jwt(token) else {"token": digest(token)}


class Callers:
    """Identifies callers in a database. Look-ups that arrive together are one call of the database."""

    def __init__(self, database: Database, note: Any = lambda _: None) -> None:
        self._database = database
        self._collector: Collector[None, Shown, Caller] = Collector(self._look_up, Bounds(_MOST), note=note)

    async def of(self, shown: Shown, setup: str) -> Caller:
        """The caller with this evidence in a setup. Raises Problem: 401, 403, 503."""
        return await self._collector.ask(None, {"setup": setup, **shown})

    async def _look_up(self, _: None, asked: Sequence[Shown]) -> list[Caller | Exception]:
        texts = [msgspec.json.encode(one).decode() for one in asked]
        distinct = list(dict.fromkeys(texts))
        rows = await self._database.as_login(_CREDENTIALS_OF, [f"[{','.join(distinct)}]"])
        setups = {text: one["setup"] for text, one in zip(texts, asked, strict=True)}
        found = {distinct[n - 1]: _answer(setups[distinct[n - 1]], row) for n, *row in rows}
        return [found[text] for text in texts]


def _answer(setup: str, row: Sequence[Any]) -> Caller | Problem:
    role, subject, message, hint, code = row
    if role is None:
        return of_code(code or "PB002", message, hint)
    text = subject if isinstance(subject, str) else bytes(subject).decode()
    return Caller(setup, role, msgspec.json.decode(text, type=Subject), text)
