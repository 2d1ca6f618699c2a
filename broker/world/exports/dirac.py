"""DIRAC's TaskQueueDB: TaskQueues with their conditions, and their waiting jobs.

The value is an object of tables by their names: tq_TaskQueues, tq_Jobs, and a table tq_TQTo... for each condition that
is a list. Each is an array of rows with DIRAC's columns. Files of a folder are one table each: TABLE.json, TABLE.csv or
TABLE.tsv with the columns in the first line, or TABLE.txt beside TABLE.sql, as mysqldump --tab writes them.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from broker.errors import BadRequest
from broker.world.exports.made import Made, integer, once, rows_of
from broker.world.shape import Row, require

_CONDITIONS = ("Sites", "GridCEs", "BannedSites", "Platforms", "JobTypes", "Tags")
"""Conditions for which every TaskQueueDB has a table; without such a table, jobs would run where they must not."""

_OLDER = ("PilotTypes", "SubmitPools", "GridMiddlewares", "LHCbPlatforms")
"""Conditions of older releases, and of extensions."""

_RAM = "tq_RAM_requirements"


_TENANT = ("setup", "vo")
"""Columns that keep tenants apart: Setup of DIRAC 7 and 8, VO of DIRAC 8 and 9. Both are conditions of matching."""


def of_tenant(name: str, value: Any, tenant: str | None) -> Any:
    """The tables with the TaskQueues of one tenant, a Setup or a VO of DIRAC, and their rows. Raises BadRequest if a
    dump has several and none is chosen, or has not the chosen one."""
    tables = {table.lower(): rows for table, rows in value.items()} if isinstance(value, dict) else {}
    found: dict[tuple[str, ...], set[str]] = {}
    for _, row in rows_of(f"{name}.tq_TaskQueues", tables.get("tq_taskqueues", [])):
        named = tuple(str(row[column]) for column in _TENANT if row.get(column))
        found.setdefault(named, set()).add(str(row.get("tqid")))
    chosen = [named for named in found if tenant is None or tenant in named]
    if tenant is not None and not chosen:
        raise BadRequest(f"{name} has no TaskQueues of {tenant}", f"it has those of {_in_words(found)}")
    if len(chosen) > 1:
        fault = f"{name} has TaskQueues of several tenants: {_in_words(chosen)}"
        raise BadRequest(fault, "choose one with --tenant, each into a setup of its own")
    if len(found) < 2:
        return value
    ids = found[chosen[0]]
    return {
        table: [row for row in rows if {str(row[key]) for key in row if key.lower() == "tqid"} <= ids]
        for table, rows in tables.items()
    }


def _in_words(tenants: Iterable[tuple[str, ...]]) -> str:
    """Tenants with their Setup and VO: `Exp-Production lhcb, Exp-Certification lhcb`."""
    return ", ".join(" ".join(named) or "no name" for named in sorted(tenants))


def task_queues(name: str, value: Any) -> Made:
    """TaskQueues with at least one job. A TaskQueue with Enabled below 1 is not enabled."""
    require(dict, name, value)
    tables = {table.lower(): rows for table, rows in value.items()}
    missing = [
        table
        for table in ("tq_TaskQueues", "tq_Jobs", *(f"tq_TQTo{one}" for one in _CONDITIONS))
        if table.lower() not in tables
    ]
    if missing:
        hint = "dump all tables of TaskQueueDB; the file of an empty table may be empty"
        raise BadRequest(f"{name} has no table {', '.join(missing)}", hint)
    seen: set[str] = set()
    found = {}
    for where, row in rows_of(f"{name}.tq_TaskQueues", tables["tq_taskqueues"]):
        once(f"{name}.tq_TaskQueues", f"TaskQueue {_id(where, row)}", seen)
        found[_id(where, row)] = {
            "requirements": {
                "Owner": row.get("owner", row.get("ownerdn")),
                "OwnerGroup": row.get("ownergroup"),
                "CPUTime": integer(f"{where}.CPUTime", row.get("cputime")),
            },
            "enabled": (integer(f"{where}.Enabled", row.get("enabled", 1)) or 0) >= 1,
            "jobs": [],
        }
    for condition in (*_CONDITIONS, *_OLDER):
        table = f"tq_TQTo{condition}"
        for where, row in rows_of(f"{name}.{table}", tables.get(table.lower(), [])):
            of_queue = _queue(found, where, row)["requirements"].setdefault(condition, [])
            require(str, f"{where}.Value", row.get("value"))
            of_queue.append(row["value"])
    for where, row in rows_of(f"{name}.{_RAM}", tables.get(_RAM.lower(), [])):
        for key in ("MinRAM", "MaxRAM"):
            if number := integer(f"{where}.{key}", row.get(key.lower())):
                _queue(found, where, row)["requirements"][key] = number
    jobs = 0
    for where, row in rows_of(f"{name}.tq_Jobs", tables["tq_jobs"]):
        job, priority = (integer(f"{where}.{key}", row.get(key.lower())) for key in ("JobId", "Priority"))
        _queue(found, where, row)["jobs"].append([job, 1 if priority is None else priority])
        jobs += 1
    filled = [queue for queue in found.values() if queue["jobs"]]
    lacking = []
    if empty := len(found) - len(filled):
        lacking.append(f"{empty} of {len(found)} TaskQueues have no jobs, and are left out")
    if filled:
        lacking.append("TaskQueueDB has no shares of groups: load them, if not done, as the section groups of a world")
    return Made({"task_queues": filled}, jobs, lacking)


def _id(where: str, row: Row) -> int:
    found = integer(f"{where}.TQId", row.get("tqid"))
    require(int, f"{where}.TQId", found)
    assert found is not None
    return found


def _queue(found: Mapping[int, Row], where: str, row: Row) -> Row:
    """The TaskQueue that a row of another table belongs to."""
    number = _id(where, row)
    if number not in found:
        fault = f"{where}: TaskQueue {number} is not in tq_TaskQueues"
        raise BadRequest(fault, "dump all tables in one transaction: mysqldump --single-transaction")
    return found[number]
