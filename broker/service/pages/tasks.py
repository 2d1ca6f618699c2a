"""The list of tasks: the stuck ones first, or those whose jobs fail, each with its jobs by state."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

from broker.service import searches
from broker.service.endpoint import Call
from broker.service.models import Found, Restriction, Search
from broker.service.pages.details import ENDED
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
_OF_STATUS: LiteralString = """
         and case %s
             when '' then (t.status = any ('{done,finished,failed,aborted,broken,exhausted,passed}')) is not true
             else t.status = %s end"""
_CHOSEN: LiteralString = (
    "%s in ('', o.user_name) and %s in ('', o.gshare) and %s in ('', o.nucleus) and %s in ('', o.algorithm)"
)
_STUCK_FIRST: LiteralString = f"""
    with open as materialized (
      select t.task_id, t.user_name, t.gshare, t.nucleus, t.algorithm, r.reason, r.jobs_left
        from monitor.task t
        left join brokerage.task_reason r on r.setup = t.setup and r.task_id = t.task_id
       where t.setup = %s{_OF_STATUS}
    )
    select o.task_id, count(*) over ()
      from open o
     where {_CHOSEN}
       and %s in ('', o.reason)
     order by coalesce(o.reason = any (%s), false) desc, o.jobs_left desc nulls last, o.task_id desc
     limit %s offset %s
"""
# Tasks by the failed part of their jobs that have ended. The counts are stored, and reasons are read only for a filter.
_FAILING: LiteralString = f"""
    with ends as materialized (
      select c.task_id, sum(c.jobs) filter (where c.status = 'failed') as failed, sum(c.jobs) as ended
        from monitor.brokered_job_count c
       where c.setup = %s and c.status = any (%s)
       group by c.task_id
      having sum(c.jobs) filter (where c.status = 'failed') > 0
    ), open as materialized (
      select t.task_id, t.user_name, t.gshare, t.nucleus, t.algorithm, e.failed, e.ended
        from monitor.task t
        join ends e on e.task_id = t.task_id
       where t.setup = %s{_OF_STATUS}
    )
    select o.task_id, count(*) over ()
      from open o
     where {_CHOSEN}
       and (%s = '' or o.task_id in (select r.task_id from brokerage.task_reason r
                                      where r.setup = %s and r.reason = %s))
     order by o.failed / o.ended desc, o.failed desc, o.task_id desc
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
    """Tasks that have not ended, the stuck or the failing ones first, or all tasks in another order."""
    query = call.request.query_params
    order = query.get("order") or "stuck"
    if order not in ("stuck", "failing", "newest"):
        raise Problem(422, f"order is {order[:50]!r}", code="PB001", key="order", hint="Use stuck, failing or newest.")
    if query.get("sort") or query.get("cursor"):
        order = "" if query.get("sort") else "newest"
    is_open = order in ("stuck", "failing")
    there = await values_of(call, _STATUSES)
    more = {"reason": _REASONS, "algorithm": _ALGORITHMS}
    given = [query.get(key, "").strip() for key in _FILTERS]
    found, total, begin = None, None, _begin(query)
    if is_open:
        found, total = await _open(call, order, given, query.get("reason", "").strip(), begin)
    shown = await listed(call, "tasks", more, ("order", "from"), found)
    if total is None and shown["total"] is None and not query.get("reason"):
        [(total,)] = await call.rows(_TOTAL, call.setup, *given, searches.COUNTED + 1)
    rows = await _with_states(call, shown["rows"])
    path, kept = call.request.url.path, {key: query.get(key, "") for key in (*_FILTERS, "reason")}
    ways = {one: address(path, **kept, order="" if one == "stuck" else one) for one in ("stuck", "failing", "newest")}
    if is_open:
        end = begin + len(rows)
        further = address(path, **kept, order=query.get("order", ""), **{"from": end})
        shown["following"] = further if total and end < total else None
        shown["first"] = ways[order] if begin else None
    for one in shown["filters"]:
        if one["name"] == "status":
            one["choices"] = [choice for choice in one["choices"] if choice[0] in (*there, query.get("status"))]
    return "tasks", shown | {
        "rows": rows, "total": shown["total"] if total is None else total, "is_open": is_open,
        "is_failing": order == "failing", "order": order if order in ("failing", "newest") else "", "begin": begin,
        "orders": [(words, ways[one], one == order) for one, words in
                   (("stuck", "Stuck first"), ("failing", "Failing"), ("newest", "Newest"))],
    }  # fmt: skip


def _begin(query: Mapping[str, str]) -> int:
    """The number of rows before those of the page. Raises Problem: 422."""
    text = query.get("from", "0")
    if not text.isdecimal() or len(text) > 9 or int(text) > _FURTHEST:
        raise Problem(422, f"from is {text[:50]!r}, which is no number of rows", code="PB001", key="from")
    return int(text)


async def _open(call: Call, order: str, given: Sequence[str], reason: str, begin: int) -> tuple[Found, int]:
    """The rows of a page, the stuck or the failing tasks first, and the number of all of them."""
    chosen = [given[0], *given]
    if order == "failing":
        values = [call.setup, list(ENDED), call.setup, *chosen, reason, call.setup, reason]
        rows = await call.rows(_FAILING, *values, ROWS, begin)
    else:
        rows = await call.rows(_STUCK_FIRST, call.setup, *chosen, reason, list(_STUCK), ROWS, begin)
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
    ended = sum(of.get(status, 0) for status in ENDED)
    waits = row["reason"] if row["jobs_left"] or row["reason"] != "waiting" else None
    failed = of.get("failed", 0)
    is_stuck = waits in _STUCK
    mark = "bad" if failed > _MANY_FAIL * ended else "warn" if is_stuck else "hold" if waits == "held" else ""
    many = None
    if mark == "bad":
        many = "Its only ended job failed" if ended == 1 else f"{failed:,} of its {ended:,} ended jobs failed"
    return row | {
        "many": many, "states": states_of(counts, row), "failed": failed, "waits": waits, "mark": mark,
        "why": row["why"] if waits and waits != "waiting" and row["jobs_left"] else None,
        "again": row["retry_at"] if (row["next_try"] or "").startswith("from") else None,
    }  # fmt: skip


ENDPOINTS = (endpoint("/tasks", "List of Tasks", tasks),)
