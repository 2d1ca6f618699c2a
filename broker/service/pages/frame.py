"""The frame around each page of a setup: the logged-in person, the setup, and links to the other pages."""

import shlex
import time
from asyncio import gather
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from itertools import groupby
from operator import itemgetter
from typing import Any, LiteralString
from urllib.parse import quote, urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from broker.service import pages
from broker.service.endpoint import Adapter, Call, Endpoint
from broker.service.login.session import session_of
from broker.service.pages.charts import Sampled, Series
from broker.service.pages.done import done
from broker.service.pages.words import moment, refusal, sentence
from broker.service.problems import Problem, of_error

BASE = "/setups/{setup}"
GROUPS = (
    ("", (("", "Overview"),)),
    ("Work", (("/tasks", "Tasks"), ("/jobs", "Jobs"), ("/task-queues", "TaskQueues"), ("/leases", "Leases"))),
    ("Grid", (("/sites", "Sites"), ("/queues", "Queues"), ("/limits", "Limits"), ("/quarantines", "Quarantines"),
              ("/attributes", "Attributes"), ("/instances", "Machines"))),
    ("Decide", (("/runs", "Runs"), ("/what-if", "What if"), ("/replay", "Replay"))),
    ("Watch", (("/failures", "Failures"), ("/shares", "Shares"), ("/use", "Use"), ("/history", "History"),
               ("/alerts", "Alerts"), ("/health", "Health"))),
    ("Set", (("/settings", "Settings"), ("/profile", "Rules"), ("/changes", "Changes"))),
)  # fmt: skip
"""The pages that each page links to, in the order of work: a group, and paths below the setup with names."""
_OF_OPERATORS = ("/changes",)
SPANS = {"1h": timedelta(hours=1), "6h": timedelta(hours=6), "1d": timedelta(days=1), "7d": timedelta(days=7),
         "30d": timedelta(days=30), "1y": timedelta(days=365)}  # fmt: skip
"""The spans that a chart may have, by their name in the address."""
POINTS = 160
"""Maximal number of spans of a chart."""
_DIGITS = 18

_OVER: LiteralString = """
    select f.number, f.began, f.width, f.spans, f.samples, f.label, f.value, (select max(m) from unnest(f.most) m)
      from history.figures_over(%s, %s::jsonb,
                                coalesce((select simulated from monitor.setup where setup = %s), now()) - %s,
                                p_points => %s, p_lines => 7) f
"""

FRESHNESS: LiteralString = """
    select f.is_sampled, f.figures_end, f.is_counted, f.counted_at from history.freshness f where f.setup = %s
"""
# A setup with the setting loops, such as that of a demo, is only worked on by a program that names it.
_LEFT_ALONE: LiteralString = """
    select exists (select from monitor.setting s
                    where s.setup = %s and s.schema = 'lifecycle' and s.name = 'loops' and s.value is not null)
"""
BREAKING = ("site_fails_jobs", "site_loses_jobs", "site_breaks_jobs", "site_fails_hosts")
"""The rules of the program whose alert says that a site is broken."""
_STUCK: LiteralString = """
    select count(*) from brokerage.task_reason t
     where t.setup = %s and t.reason not in ('waiting', 'throttled', 'held')
"""
_ALERTS: LiteralString = """
    select count(distinct a.labels ->> 'site') filter (where a.rule = any (%s) and a.labels ->> 'site' <> 'other'),
           count(*)
      from alert.alert_now a where a.setup = %s and a.state = 'firing'
"""
_COUNTED_FOR = 10.0  # seconds for which a worker keeps the numbers beside pages
_STUCK_FOR = 60.0  # the same for tasks: 20,000 open tasks take 30 ms
_MOST_KEPT = 1000
FIGURES, COUNTS = "figures", "counts"
"""Content of a page that a loop of `broker run` updates: figures over time and alerts, or counts of waiting jobs."""


@dataclass(frozen=True)
class Count:
    """A number beside a page of the navigation. badge: the class of its colour. words: what is counted."""

    number: int
    badge: str
    words: str


Page = Callable[[Call], Awaitable[tuple[str, dict[str, Any]] | Response]]
"""A page: the name of its template and the values in it, or a redirection."""


def _to_login(request: Request) -> Response:
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return pages.redirect(f"/login?to={quote(path, safe='/')}")


ADAPTER = Adapter("page", pages.refusal, _to_login)


def endpoint(path: str, summary: str, page: Page, shows: Collection[str] = (), *, reads: bool = True) -> Endpoint:
    """A page of a setup.

    shows: FIGURES, COUNTS or both; if they are not updated, the page has a notice. reads: a standby may answer it.
    """

    async def run(call: Call) -> Response:
        try:
            async with call.read_transaction():
                shown, stale = await gather(page(call), _stale(call, shows))
        except Exception as error:
            return await refused(call, path, of_error(error))
        if isinstance(shown, Response):
            return shown
        template, values = shown
        return await framed(call, path, template, {"stale": stale} | values)

    return Endpoint(
        "GET", BASE + path, f"page{path.replace('/', '_')}", summary, run, adapter=ADAPTER, long=True, reads=reads
    )


async def framed(call: Call, path: str, template: str, values: dict[str, Any], status: int = 200) -> Response:
    """A template with its values, within the frame."""
    is_operator = call.caller.role.endswith("operator")
    session, counts, just_done = await gather(session_of(call), _counts(call), _done(call, is_operator))
    query = call.request.url.query
    around: dict[str, Any] = {
        "setup": call.setup, "base": f"/setups/{quote(call.setup, safe='')}", "here": _listed(path), "path": path,
        "counts": counts,
        "navigation": [
            (name, [one for one in of if is_operator or one[0] not in _OF_OPERATORS]) for name, of in GROUPS
        ],
        "role": call.caller.role, "is_operator": is_operator, "session": session, "query": call.request.query_params,
        "stale": [], "address": call.request.url.path + (f"?{query}" if query else ""),
        "theme": pages.theme_of(call.request), "done": just_done,
    }  # fmt: skip
    return pages.page(template, status=status, **around | values)


async def _done(call: Call, is_operator: bool) -> dict[str, Any] | None:
    """The act that the address names. Only operators read changes."""
    return await done(call) if is_operator and "done" in call.request.query_params else None


async def refused(call: Call, path: str, problem: Problem) -> Response:
    """A refusal within the frame. Raises the problem if the caller may not see the setup."""
    if problem.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.SERVICE_UNAVAILABLE) or problem.status >= 500:
        raise problem
    names = {one: name for _, of in GROUPS for one, name in of}
    values = {
        "title": refusal(problem.status), "detail": sentence(problem.detail, problem.more.get("key")),
        "hint": problem.hint, "listed": names.get(_listed(path), "Overview"),
    }  # fmt: skip
    return await framed(call, path, "refused", values, problem.status)


def _listed(path: str) -> str:
    """The page of the navigation to which a path belongs: that of a list for one of its things."""
    first = "/" + path.split("/")[1] if path else ""
    return {"/configuration": "/settings"}.get(first, first)


async def kept(call: Call, key: tuple[object, ...], seconds: float, find: Callable[[], Awaitable[Any]]) -> Any:
    """A figure that a worker reads at most once within some seconds. key: the figure, and its setup or thing."""
    found = call.worker.kept.get(key)
    if found is None or found[0] + seconds < time.monotonic():
        if len(call.worker.kept) >= _MOST_KEPT:
            call.worker.kept.clear()
        found = call.worker.kept[key] = (time.monotonic(), await find())
    return found[1]


async def _counts(call: Call) -> dict[str, Count]:
    """Numbers beside pages of the navigation, for those who may read alerts and tasks."""
    if not call.caller.role.endswith(("operator", "viewer")):
        return {}
    [(tasks,)] = await kept(call, ("stuck", call.setup), _STUCK_FOR, lambda: call.rows(_STUCK, call.setup))
    [(sites, alerts)] = await kept(
        call, ("alerts", call.setup), _COUNTED_FOR, lambda: call.rows(_ALERTS, list(BREAKING), call.setup)
    )
    return {
        "/tasks": Count(tasks, "warn", "stuck"), "/sites": Count(sites, "bad", "broken"),
        "/alerts": Count(alerts, "bad", "firing"),
    }  # fmt: skip


async def _stale(call: Call, shows: Collection[str]) -> list[tuple[str, str]]:
    """The notice about content that is not updated: its last time, and the loop that would update it."""
    found = []
    for is_sampled, figures_end, is_counted, counted_at in await call.rows(FRESHNESS, call.setup) if shows else ():
        if FIGURES in shows and not is_sampled:
            end = f"Figures end at {moment(figures_end)} UTC" if figures_end else "There are no figures yet"
            found.append((f"{end}: nobody samples them", "sample"))
        if COUNTS in shows and not is_counted:
            end = f"was last counted at {moment(counted_at)} UTC" if counted_at else "was never counted"
            found.append((f"What waits {end}: nobody counts it", "summarize"))
    if found and (await call.rows(_LEFT_ALONE, call.setup))[0][0]:
        return [(words, f"{loop} --setup {shlex.quote(call.setup)}") for words, loop in found]
    return found


async def table(
    call: Call, statement: LiteralString, *values: object, of_primary: bool = False
) -> list[dict[str, Any]]:
    """Rows of a statement by the names of their columns. of_primary: the statement is about the primary itself."""
    rows = await (call.rows_of_primary if of_primary else call.rows)(statement, *values)
    names = rows.names
    return [dict(zip(names, row, strict=True)) for row in rows]


async def over(
    call: Call,
    since: str,
    figures: Sequence[tuple[str, str | None]],
    labels: Mapping[str, str] | None = None,
    points: int = POINTS,
) -> list[Sampled | None]:
    """Figures over a span before the present of the setup, each by a label; None if nothing was sampled. labels: only
    series with these labels. points: maximal number of spans.
    """
    wanted = [{"figure": figure, "by": by, "labels": labels or {}} for figure, by in figures]
    text = msgspec.json.encode(wanted).decode()
    rows = await call.rows(_OVER, call.setup, text, call.setup, SPANS[since], points)
    found: list[Sampled | None] = [None] * len(figures)
    for number, of in groupby(rows, key=itemgetter(0)):
        lines = list(of)
        series = [Series(label, values, most) for *_, label, values, most in lines]
        _, began, width, spans, samples, *_ = lines[0]
        found[number - 1] = Sampled(began, width, spans, samples, series)
    return found


def span_of(call: Call, usual: str = "6h") -> str:
    """The span in the address. Raises Problem: 422 for an unknown span."""
    name = call.request.query_params.get("since", usual)
    if name not in SPANS:
        raise Problem(422, f"since is {name[:20]!r}", code="PB001", key="since", hint=f"Use {', '.join(SPANS)}.")
    return name


def after(call: Call) -> int:
    """The number in the address after which a page begins; 0 for the first page. Raises Problem: 422."""
    text = call.request.query_params.get("after", "0")
    if not text.isdecimal() or len(text) > _DIGITS:
        raise Problem(422, f"after is {text[:50]!r}, which is no number", code="PB001", key="after")
    return int(text)


def following(call: Call, rows: Sequence[Mapping[str, Any]], most: int, key: str) -> str | None:
    """The address of the rows after the last row of a page, by their key; None if there are no more."""
    if len(rows) <= most:
        return None
    return address(call.request.url.path, **{**call.request.query_params, "after": rows[most - 1][key]})


def address(path: str, **query: object) -> str:
    """An address with its query; None and empty values are left out."""
    kept = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(kept)}" if kept else path


async def missing(call: Call) -> Response:
    """A path below a setup that has no page."""
    raise Problem(
        HTTPStatus.NOT_FOUND, f"there is no page {call.request.url.path[:100]}", hint="See the list of pages."
    )


MISSING = endpoint("/{rest:path}", "A path without a page", missing)
