"""Lists: the views that can be searched, as pages with filters, an order and a way to the next rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from broker.service import searches
from broker.service.endpoint import Call, Endpoint
from broker.service.listed import INTEGER, LISTED, OWN, TEXT, Listed
from broker.service.models import Order, Restriction, Search
from broker.service.pages.frame import address, endpoint
from broker.service.problems import Problem
from broker.service.search import ROWS


@dataclass(frozen=True)
class List:
    """A list: its title, its columns with their headings, the columns that filter it, and where a column leads.

    links: by column, the path below the setup; {} is the value. unsorted: columns that are found row by row, so that an
    order by them reads all rows.
    """

    title: str
    headings: Mapping[str, str]
    filters: tuple[str, ...]
    links: Mapping[str, str]
    unsorted: tuple[str, ...] = ()


_JOB, _TASK, _QUEUE, _SITE, _TASK_QUEUE = (
    f"/{name}/{{}}" for name in ("jobs", "tasks", "queues", "sites", "task-queues")
)

LISTS = {
    "jobs": List(
        "Jobs",
        {"job_id": "Job", "status": "Status", "since": "Since", "task_id": "Task", "queue": "Queue", "site": "Site",
         "owner": "Owner", "owner_group": "Group or share", "priority": "Priority"},
        ("status", "task_id", "queue", "site", "owner", "owner_group"),
        {"job_id": _JOB, "task_id": _TASK, "queue": _QUEUE, "site": _SITE},
    ),
    "tasks": List(
        "Tasks",
        {"task_id": "Task", "status": "Status", "reason": "Waits for", "user_name": "User", "gshare": "Share",
         "priority": "Priority", "nucleus": "Nucleus", "jobs": "Jobs", "jobs_left": "Unassigned",
         "finished": "Finished", "why": "Why it waits", "next_try": "Next try"},
        ("status", "reason", "user_name", "gshare", "nucleus", "algorithm"),
        {"task_id": _TASK, "nucleus": _SITE},
    ),
    "task_queues": List(
        "TaskQueues",
        {"task_queue_id": "TaskQueue", "owner_group": "Group", "owner_dn": "Owner", "cpu_time": "CPU time (s)",
         "jobs": "Jobs", "held_jobs": "Held", "state": "State", "reason": "Waits for", "oldest_job_at": "Oldest job",
         "priority": "Priority"},
        ("owner_group", "owner_dn", "reason", "state"),
        {"task_queue_id": _TASK_QUEUE},
        ("jobs", "held_jobs", "reason"),
    ),
    "leases": List(
        "Leases",
        {"job_id": "Job", "attempt": "Attempt", "state": "State", "site": "Site", "grid_ce": "CE",
         "owner_group": "Group", "owner_dn": "Owner", "matched_at": "Matched", "heard_at": "Heard",
         "expires_at": "Expires", "subject": "Agent"},
        ("state", "site", "grid_ce", "owner_group", "owner_dn"),
        {"job_id": _JOB, "site": _SITE},
    ),
    "queues": List(
        "PanDA queues",
        {"queue": "Queue", "site": "Site", "status": "Status", "role": "Role", "type": "Type", "cores": "Cores",
         "waiting": "Waiting", "running": "Running"},
        ("site", "status", "role", "type", "cloud"),
        {"queue": _QUEUE, "site": _SITE},
    ),
    "changes": List(
        "Changes",
        {"at": "When (UTC)", "object": "Of", "name": "Name", "before": "Before", "after": "After", "role_name": "Role",
         "subject": "By", "change_id": "Change"},
        ("object", "name", "role_name", "subject", "change_id"),
        {"change_id": "/changes?change_id={}"},
    ),
}  # fmt: skip
"""The lists, by what the service calls them in its searches."""


def _endpoint(name: str) -> Endpoint:
    of = LISTS[name]

    async def page(call: Call) -> tuple[str, dict[str, Any]]:
        listed = LISTED[name]
        wanted = _search(listed, of, call.request.query_params)
        found = await searches.page(call, listed, OWN.get(name), wanted)
        given = {key: call.request.query_params.get(key, "") for key in (*of.filters, "sort")}
        path = call.request.url.path
        # a submitter's own jobs have fewer columns
        headings = {key: words for key, words in of.headings.items() if not found.rows or key in found.rows[0]}
        return "list", {
            "list": of,
            "headings": headings, "rows": found.rows, "given": given,
            "following": found.cursor and address(path, **given, cursor=found.cursor),
            "first": address(path, **given) if wanted.cursor else None,
            "sorts": {key: address(path, **(given | {"sort": _turned(key, given["sort"])})) for key in headings
                      if listed.columns[key].kind in (INTEGER, TEXT) and key not in of.unsorted},
            "sorted": given["sort"].removeprefix("-"), "down": given["sort"].startswith("-"),
        }  # fmt: skip

    return endpoint(f"/{name.replace('_', '-')}", f"List of {of.title}", page)


def _turned(column: str, sort: str) -> str:
    """The order by a column: the other way round where it is the present one, and the largest first otherwise."""
    return column if sort == f"-{column}" else f"-{column}"


def _search(listed: Listed, of: List, query: Mapping[str, str]) -> Search:
    """The search of an address. Raises Problem: 422 for what is not known."""
    for key in query:
        if key not in (*of.filters, "sort", "cursor"):
            hint = f"There are {', '.join(of.filters)}, sort and cursor."
            raise Problem(422, f"there is no filter {key[:100]!r}", code="PB001", key=key[:100], hint=hint)
    restrictions = [
        Restriction(name, "eq", _value(listed, name, query[name].strip())) for name in of.filters if query.get(name)
    ]
    sort = query.get("sort", "")
    if sort.removeprefix("-") in of.unsorted:
        hint = "Headings with a link order the list."
        raise Problem(422, f"the list is not ordered by {sort.removeprefix('-')}", code="PB001", key="sort", hint=hint)
    order = [Order(sort.removeprefix("-"), "desc" if sort.startswith("-") else "asc")] if sort else []
    return Search(search=restrictions, sort=order, limit=ROWS, cursor=query.get("cursor") or None)


def _value(listed: Listed, name: str, text: str) -> str | int:
    if listed.columns[name].kind is not INTEGER:
        return text
    if not text.isdecimal() or len(text) > 19:
        raise Problem(422, f"{name} is {text[:50]!r}, which is no number", code="PB001", key=name)
    return int(text)


ENDPOINTS = tuple(_endpoint(name) for name in LISTS)
