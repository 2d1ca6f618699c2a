"""The list of tasks: by default the stuck ones first, each with its jobs by state."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

from broker.service import searches
from broker.service.endpoint import Call
from broker.service.models import Found, Restriction, Search
from broker.service.pages.frame import address, endpoint, table
from broker.service.pages.lists import listed, values_of
from broker.service.pages.task import states_of
from broker.service.problems import Problem
from broker.service.search import ROWS
from broker.service.views import VIEWS

_REASONS = (
    "misconfigured",
    "too_large",
    "held",
    "input_missing",
    "no_queue_accepts",
    "limited",
    "throttled",
    "waiting",
)
"""The reasons why tasks wait for their broker, as in brokerage.task_reason."""
_STUCK = tuple(reason for reason in _REASONS if reason not in ("held", "throttled", "waiting"))
_FILTERS = ("status", "owner", "share", "nucleus", "algorithm")
_ALGORITHMS = ("production_task", "production_job", "analysis_job")
_MANY_FAIL = 0.2  # failed part of the ended jobs from which a task is marked
_FURTHEST = 1_000_000  # rows before those of a page
# Tasks that have ended are left out, unless their status is asked for. The filters apply to the joined tasks: a generic
# plan expects one row behind them, and would join in a nested loop.
_STUCK_FIRST: LiteralString = """
    with open as materialized (
      select t.task_id, t.user_name, t.gshare, t.nucleus, t.algorithm, r.reason, r.jobs_left
        from monitor.task t
        left join brokerage.task_reason r on r.setup = t.setup and r.task_id = t.task_id
       where t.setup = %s
         and case %s
             when '' then (t.status = any ('{done,finished,failed,aborted,broken,exhausted,passed}')) is not true
             else t.status = %s end
    )
    select o.task_id, count(*) over ()
      from open o
     where %s in ('', o.user_name) and %s in ('', o.gshare) and %s in ('', o.nucleus) and %s in ('', o.algorithm)
       and %s in ('', o.reason)
     order by coalesce(o.reason = any (%s), false) desc, o.jobs_left desc nulls last, o.task_id desc
     limit %s offset %s
"""
_STATES: LiteralString = """
    select c.task_id, c.status, c.jobs from monitor.brokered_job_count c where c.setup = %s and c.task_id = any (%s)
"""
_TOTAL: LiteralString = """
    select count(*)
      from (select from monitor.task t
             where t.setup = %s and %s in ('', t.status) and %s in ('', t.user_name) and %s in ('', t.gshare)
               and %s in ('', t.nucleus) and %s in ('', t.algorithm)
             limit %s) counted
"""
_STATUSES = "select status from monitor.task where setup = %(setup)s"


async def tasks(call: Call) -> tuple[str, dict[str, Any]]:
    """Tasks that have not ended, the stuck ones first, or all tasks in another order."""
    query = call.request.query_params
    order = query.get("order", "")
    if order not in ("", "stuck", "newest"):
        raise Problem(422, f"order is {order[:50]!r}", code="PB001", key="order", hint="Use stuck or newest.")
    is_stuck_first = order != "newest" and not query.get("sort") and not query.get("cursor")
    there = await values_of(call, _STATUSES)
    more = {"reason": _REASONS, "algorithm": _ALGORITHMS}
    given = [query.get(key, "").strip() for key in _FILTERS]
    found, total, begin = None, None, _begin(query)
    if is_stuck_first:
        found, total = await _stuck_first(call, given, query.get("reason", "").strip(), begin)
    shown = await listed(call, "tasks", more, ("order", "from"), found)
    if total is None and shown["total"] is None and not query.get("reason"):
        [(total,)] = await call.rows(_TOTAL, call.setup, *given, searches.COUNTED + 1)
    rows = await _with_states(call, shown["rows"])
    path, kept = call.request.url.path, {key: query.get(key, "") for key in (*_FILTERS, "reason")}
    if is_stuck_first:
        end = begin + len(rows)
        shown["following"] = address(path, **kept, order=order, **{"from": end}) if total and end < total else None
        shown["first"] = address(path, **kept, order=order) if begin else None
    for one in shown["filters"]:
        if one["name"] == "status":
            one["choices"] = [choice for choice in one["choices"] if choice[0] in (*there, query.get("status"))]
    return "tasks", shown | {
        "rows": rows, "total": shown["total"] if total is None else total, "is_stuck_first": is_stuck_first,
        "order": order if order == "newest" and not query.get("sort") else "", "begin": begin,
        "orders": [("Stuck first", address(path, **kept), is_stuck_first),
                   ("Newest", address(path, **kept, order="newest"), not is_stuck_first and not query.get("sort"))],
    }  # fmt: skip


def _begin(query: Mapping[str, str]) -> int:
    """The number of rows before those of the page. Raises Problem: 422."""
    text = query.get("from", "0")
    if not text.isdecimal() or len(text) > 9 or int(text) > _FURTHEST:
        raise Problem(422, f"from is {text[:50]!r}, which is no number of rows", code="PB001", key="from")
    return int(text)


async def _stuck_first(call: Call, given: Sequence[str], reason: str, begin: int) -> tuple[Found, int]:
    """The rows of a page, the stuck ones first, and the number of all of them."""
    status, *others = given
    rows = await call.rows(_STUCK_FIRST, call.setup, status, status, *others, reason, list(_STUCK), ROWS, begin)
    numbers = [number for number, _ in rows]
    if not numbers:
        return Found([], None), 0
    search = Search(search=[Restriction("task_id", "in", values=list(numbers))], limit=ROWS)
    found = await searches.page(call, VIEWS["tasks"], None, search)
    by_number = {row["task_id"]: row for row in found.rows}
    return Found([by_number[number] for number in numbers if number in by_number], None), rows[0][1]


async def _with_states(call: Call, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tasks with their jobs by state, and what they wait for if they have jobs to assign or a reason is in the way."""
    counts: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for one in await table(call, _STATES, call.setup, [row["task_id"] for row in rows]):
        counts[one["task_id"]].append(one)
    return [_shown(row, counts[row["task_id"]]) for row in rows]


def _shown(row: dict[str, Any], counts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    of = {one["status"]: one["jobs"] for one in counts}
    ended = sum(of.get(status, 0) for status in ("finished", "failed", "cancelled", "closed"))
    waits = row["reason"] if row["jobs_left"] or row["reason"] != "waiting" else None
    failed = of.get("failed", 0)
    is_stuck = waits in _STUCK
    mark = "bad" if failed > _MANY_FAIL * ended else "warn" if is_stuck else "hold" if waits == "held" else ""
    return row | {
        "states": states_of(counts, row), "failed": failed, "waits": waits, "mark": mark,
        "why": row["why"] if waits and waits != "waiting" and row["jobs_left"] else None,
        "again": row["retry_at"] if (row["next_try"] or "").startswith("from") else None,
    }  # fmt: skip


ENDPOINTS = (endpoint("/tasks", "List of Tasks", tasks),)
