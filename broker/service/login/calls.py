"""Endpoints with which a person's browser logs in and out. Each answer is a page, or sends the browser to one."""

import re
from asyncio import Semaphore, gather
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, LiteralString
from urllib.parse import quote

import msgspec
import psycopg
from starlette.requests import Request
from starlette.responses import Response

from broker.service import bodies, pages
from broker.service.endpoint import Adapter, Call, Endpoint
from broker.service.login import attempts
from broker.service.login.cookies import CSRF_HEADER, csrf, hashed, is_csrf, new_value, require_own_page
from broker.service.login.provider import CALLBACK, Provider
from broker.service.login.session import Opened, Setup, close_session, open_session, session_everywhere, use_ticket
from broker.service.pages.charts import spark
from broker.service.pages.details import ended
from broker.service.pages.frame import over
from broker.service.problems import LOG, Problem, encoded

_MOST_BYTES = 8192  # limit of a form
_MOST_SETUPS = 100  # setups of the first page
_FIGURES: LiteralString = """
    select f.counted_at, f.is_counted, f.is_sampled,
           coalesce((select s.simulated from monitor.setup s where s.setup = f.setup), now()) - f.counted_at as age,
           (select coalesce(sum(w.jobs), 0)::bigint from monitor.waiting_by_reason w where w.setup = %s) as waiting,
           (select coalesce(sum(l.leases), 0)::bigint from monitor.lease_by_site l where l.setup = %s) as running,
           (select count(*) from alert.alert_now a where a.setup = %s and a.state = 'firing') as alerts
      from history.freshness f where f.setup = %s
"""
_AT_ONCE = 4  # setups that are asked at once
_POINTS = 48  # maximal number of spans of a line in the list of setups
_TICKET = re.compile(r"[0-9a-f]{64}")
_ERROR = re.compile(r"[a-z_]{1,40}")
_PAGE = Adapter("browser", pages.refusal)
_DATA = Adapter("session", lambda problem: problem.response())


@dataclass(frozen=True)
class _Visit:
    """The cookie of a visit, and the header that stores it if it is new."""

    value: str
    headers: dict[str, str]


async def home(call: Call) -> Response:
    """The first page: the setups of the logged-in person, or the only setup itself."""
    found = await session_everywhere(call)
    if found and len(found.setups) == 1 and not found.is_partial:
        return pages.redirect(f"/setups/{quote(found.setups[0].setup, safe='')}")
    places = Semaphore(_AT_ONCE)
    setups = await gather(*(_figures(call, one, places) for one in found.setups[:_MOST_SETUPS])) if found else []
    left = len(found.setups) - len(setups) if found else 0
    return pages.page("home", theme=pages.theme_of(call.request), session=found, setups=setups, left=left)


async def _figures(call: Call, one: Setup, places: Semaphore) -> dict[str, Any]:
    """A setup of the list, with its figures as far as the person may see them now."""
    found: dict[str, Any] = {"setup": one.setup, "kind": one.kind, "sees": False, "spark": None, "failed": None}
    if one.kind in ("operator", "viewer"):
        of = Call(call.worker, call.worker.own, call.request, call.worker.own.database, call.limit, one.setup)
        with suppress(Problem, psycopg.Error):
            async with places:
                await of.identify(one.setup)
                rows = await of.rows(_FIGURES, *[one.setup] * 4)
                found |= {**dict(zip(rows.names, rows[0], strict=True)), "sees": True}
                if found["is_sampled"]:  # otherwise the last hour that was sampled is long past
                    waiting, ends = await over(of, "6h", [("jobs_waiting", None), ("ends", "outcome")], points=_POINTS)
                    of_ends = ended(ends)
                    found |= {"spark": spark(waiting, 1)}
                    found |= {"failed": of_ends["failed"] / of_ends["all"]} if of_ends else {}
    return found


async def login_page(call: Call) -> Response:
    """The page of the login: who is logged in, and the form that begins a login."""
    wanted = call.request.query_params.get("to", "/")
    visit, provider = _visit(call), call.worker.provider
    return pages.page(
        "login", theme=pages.theme_of(call.request), headers=visit.headers, session=await session_everywhere(call),
        issuer=provider and provider.issuer,
        csrf=csrf(visit.value), to=wanted if attempts.is_local(wanted) else "/",
    )  # fmt: skip


async def login(call: Call) -> Response:
    """Send the browser to the provider, by a page: the rule `form-action` would apply to a redirect and to each further
    redirect at the provider.
    """
    fields = await _form(call.request)
    visit = _same_visit(call, fields)
    path = fields.get("to", "/")
    if not attempts.is_local(path):
        raise Problem(422, "the field to is not a path of this service", code="PB001", key="to")
    provider = _provider(call)
    address = await provider.address(attempts.begin(visit, path))
    return pages.page("leave", address=address, issuer=provider.issuer)


async def callback(call: Call) -> Response:
    """The browser comes back from the provider: open a session."""
    if call.request.method == "HEAD":  # otherwise a HEAD request would use up the code
        raise Problem(405, "the provider sends browsers here, with GET", headers={"Allow": "GET"})
    given, cookies, provider = call.request.query_params, call.worker.cookies, _provider(call)
    attempt = attempts.resume(cookies.value(call.request.headers, cookies.visit), given.get("state", ""))
    if given.get("iss", provider.issuer) != provider.issuer:
        raise Problem(403, "the answer is of another provider", hint="Log in again.")
    if "error" in given:
        word = given["error"] if _ERROR.fullmatch(given["error"]) else "unknown"
        raise Problem(403, f"the provider did not let you in ({word})", hint="Log in again.")
    if not 0 < len(given.get("code", "")) <= _MOST_BYTES:
        raise Problem(422, "the provider gave no code", key="code")
    claims = await provider.claims(given["code"], attempt)
    text = msgspec.json.encode(claims).decode()
    return await _sent(call, attempt.path, await open_session(call.worker, hashed(attempt.state), text))


async def ticket(call: Call) -> Response:
    """Open a session for a ticket.

    A form on this service's own page must show it: a ticket from another page or a file needs a confirmation first,
    since it could log in a person as somebody else.
    """
    fields = await _form(call.request)
    shown = fields.get("ticket", "")
    if not _TICKET.fullmatch(shown):
        raise Problem(422, "the field ticket is not a ticket", code="PB001", key="ticket")
    if "csrf" not in fields:
        visit = _visit(call)
        return pages.page(
            "ticket", theme=pages.theme_of(call.request), headers=visit.headers, csrf=csrf(visit.value), ticket=shown
        )
    _same_visit(call, fields)
    return await _sent(call, "/", await use_ticket(call.worker, shown))


async def logout(call: Call) -> Response:
    """Close the session here; the session at the provider goes on."""
    cookies, headers = call.worker.cookies, call.request.headers
    fields = await _form(call.request)
    cookie = cookies.value(headers, cookies.session)
    answer = pages.redirect("/login")
    if cookie is not None:
        require_own_page(headers, "POST")
        if not is_csrf(cookie, fields.get("csrf", headers.get(CSRF_HEADER, ""))):
            raise _forged()
        await close_session(call.worker, cookie)
    answer.headers.append("Set-Cookie", cookies.setting(cookies.session, "", 0))
    return answer


async def session(call: Call) -> Response:
    """The logged-in person, as JSON."""
    found = await session_everywhere(call)
    if found is None:
        raise Problem(401, "nobody is logged in here", code="PB008", hint="GET /login is for people.")
    return Response(encoded(found), headers=pages.HEADERS, media_type=bodies.JSON)


async def theme(call: Call) -> Response:
    """Turn a browser without scripts to the other theme."""
    fields = await _form(call.request)
    to = fields.get("to", "/")
    chosen = "light" if pages.theme_of(call.request) == "dark" else "dark"
    answer = pages.redirect(to if attempts.is_local(to) else "/")
    answer.headers.append("Set-Cookie", f"{pages.THEME_COOKIE}={chosen}; Path=/; Max-Age=31536000; SameSite=Lax")
    return answer


async def _sent(call: Call, path: str, opened: Opened) -> Response:
    """Send a browser with a new session to a path. Its earlier session is closed."""
    cookies = call.worker.cookies
    before = cookies.value(call.request.headers, cookies.session)
    if before is not None:
        await close_session(call.worker, before)
    seconds = int((opened.expires_at - datetime.now(UTC)).total_seconds())
    answer = pages.redirect(path)
    answer.headers.append("Set-Cookie", cookies.setting(cookies.session, opened.cookie, max(1, seconds)))
    answer.headers.append("Set-Cookie", cookies.setting(cookies.visit, "", 0))
    LOG.info("a session was opened until %s", opened.expires_at)
    return answer


def _visit(call: Call) -> _Visit:
    """The visit of this browser, which begins with this call if necessary."""
    cookies = call.worker.cookies
    value = cookies.value(call.request.headers, cookies.visit)
    if value is not None:
        return _Visit(value, {})
    value = new_value()
    return _Visit(value, {"Set-Cookie": cookies.setting(cookies.visit, value)})


def _same_visit(call: Call, fields: dict[str, str]) -> str:
    """The visit's cookie for a form that this service gave to this browser. Raises Problem: 403."""
    require_own_page(call.request.headers, "POST")
    cookies = call.worker.cookies
    visit = cookies.value(call.request.headers, cookies.visit)
    if visit is None or not is_csrf(visit, fields.get("csrf", "")):
        raise _forged()
    return visit


def _forged() -> Problem:
    hint = "Open the page again, with cookies allowed."
    return Problem(403, "the form was not given to this browser, or is too old", hint=hint)


def _provider(call: Call) -> Provider:
    if call.worker.provider is None:
        raise Problem(404, "this service has no provider for people", hint="Start it with broker serve --login.")
    return call.worker.provider


async def _form(request: Request) -> dict[str, str]:
    return await bodies.form(request, _MOST_BYTES)


def _endpoint(method: str, path: str, summary: str, run: Any, adapter: Adapter = _PAGE) -> Endpoint:
    return Endpoint(method, path, run.__name__, summary, run, outside=True, open=True, adapter=adapter)


ENDPOINTS = (
    _endpoint("GET", "/", "The first page", home),
    _endpoint("GET", "/login", "Who is logged in", login_page),
    _endpoint("POST", "/login", "Log in with the provider", login),
    _endpoint("GET", CALLBACK, "Back from the provider", callback),
    _endpoint("POST", "/login/ticket", "Log in with a ticket", ticket),
    _endpoint("POST", "/logout", "Log out", logout),
    _endpoint("POST", "/theme", "Turn the pages light or dark", theme),
    _endpoint("GET", "/session", "Who is logged in, as JSON", session, _DATA),
)
