"""The sections of the schema taskqueue, for matching.

| section | shape | | --- | --- | | task_queue_settings | the keys of taskqueue.set_settings; times in seconds | |
cpu_buckets | [seconds, ...] | | groups | {group: {share, job_sharing, allow_background}} | | platform_compatibility |
{offered: [accepted, ...]} | | attributes | {name: {type, absent, exclusive}}, in place of the earlier ones | |
error_classes | [{position, source, code_from, code_to, pattern, class}, ...], in
place of the earlier ones | | retry_rules | as taskqueue.set_retry_rules takes them, in place of the earlier ones | |
held_owners | [owner, ...], added to the earlier ones | | task_queues | [{requirements, enabled, held, jobs: [[id,
user_priority, payload, state], ...]}, ...], each a TaskQueue of its own | | leases |
as taskqueue.dump_leases writes them; only on request, since they contain the agents' secrets | | limits | [{site, ce,
kind: running or delay, attribute, value, limit or seconds, burst}, ...] | | quarantines | [{kind, site, name, why},
...], the quarantines of operators; a load adds them to the earlier ones |
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import psycopg

from broker.client.submitter import Chunk, There, chunks, search
from broker.database import Connection
from broker.database_errors import from_database
from broker.errors import BadRequest
from broker.json_text import json_text
from broker.world.section import naming
from broker.world.shape import NUMBER, Kind, Reading, require

World = Mapping[str, Any]

_Fields = Mapping[str, Kind]
"""The fields of a row and their types; null means that a field is not given."""

_SETTINGS: _Fields = {
    "ten_first": bool, "memory_tags": bool, "keep_gpus": bool,
    "strict_keys": list, "required_keys": list, "queue_size": int, "policy": str, "shares": str,
    "lease_time": NUMBER, "heartbeat_time": NUMBER, "attempts": int, "share_delay": NUMBER, "resource_time": NUMBER,
    "share_correction": bool, "correction_window": NUMBER, "history_kept": NUMBER, "most_names": int,
    "description_size": int, "requirements_size": int, "payload_size": int, "batch_size": int, "reason_size": int,
    "most_retries": int, "most_ram": int, "avoid_time": NUMBER, "guard": str, "guard_score": NUMBER,
    "most_quarantined": NUMBER,
}  # fmt: skip
_GROUP: _Fields = {"share": NUMBER, "job_sharing": bool, "allow_background": bool}
_TASK_QUEUE: _Fields = {"requirements": dict, "enabled": bool, "held": bool, "jobs": list}
_LIMIT: _Fields = {
    "site": str, "ce": str, "kind": str, "attribute": str, "value": str, "limit": int, "seconds": NUMBER, "burst": int,
}  # fmt: skip
_QUARANTINE: _Fields = {"kind": str, "site": str, "name": str, "why": str}
_ERROR_CLASS: _Fields = {
    "position": int, "source": str, "code_from": int, "code_to": int, "pattern": str, "class": str,
}  # fmt: skip
_RETRY_RULE: _Fields = {
    "position": int, "name": str, "classes": list, "source": str, "code_from": int, "code_to": int, "pattern": str,
    "sites": list, "owner_groups": list, "job_types": list, "failures_from": int, "failures_to": int, "decision": str,
    "delay": NUMBER, "memory_factor": NUMBER, "time_factor": NUMBER, "elsewhere": str, "less_input": bool,
    "passive": bool,
}  # fmt: skip
_LEASE: _Fields = {
    "id": int, "requirements": dict, "user_priority": int, "state": str, "attempt": str, "losses": int, "failures": int,
    "last_token": str, "avoid": str, "avoid_until": str, "site": str, "ce": str, "role": str, "subject": str,
    "kill_reason": str, "matched_at": str, "reported_at": str, "expires_at": str, "host": str, "error": list,
    "used": dict,
}  # fmt: skip


_LOAD = "select taskqueue.load_task_queues(%s, %s::jsonb)"


def _load(connection: Connection, setup: str, chunk: Chunk, there: There | None) -> None:
    connection.execute(_LOAD, (setup, chunk.text))
    if there is not None:
        query = "select waiting, ended, raised, cut from taskqueue.jobs_there(%s, %s::jsonb)"
        there.add(connection.execute(query, (setup, chunk.text)).fetchall()[0])


def load_task_queues(
    connection: Connection,
    setup: str,
    task_queues: Iterator[Mapping[str, object]] | Sequence[Mapping[str, object]],
    on_chunk: Callable[[int], object] | None = None,
    there: There | None = None,
) -> int:
    """Open a TaskQueue for each element of a stream, in constant memory, and return the number of jobs. Each call has
    100,000 jobs and commits by itself, unless the caller has a transaction open. Call taskqueue.refresh_statistics and
    recompute_shares after the last one. there: counts the jobs whose CPU time changes.
    """
    stored = 0
    for chunk in chunks(task_queues):
        _load(connection, setup, chunk, there)
        stored += chunk.jobs
        if on_chunk:
            on_chunk(stored)
    return stored


def pieces(
    connection: Connection, setup: str, *, with_leases: bool, on_row: Callable[[str, str], object] | None
) -> Iterator[str]:
    """The sections of a setup as pieces of JSON text, each with a comma before it; nothing if the setup has none."""
    [(configuration,)] = connection.execute("select taskqueue.dump_configuration(%s)", [setup]).fetchall()
    if configuration is None:
        return
    for name in (
        "attributes",
        "task_queue_settings",
        "cpu_buckets",
        "groups",
        "platform_compatibility",
        "error_classes",
        "held_owners",
        "retry_rules",
        "limits",
        "quarantines",
    ):
        yield f',\n"{name}": {json_text(configuration[name])}'
    queries = {"task_queues": "select task_queue::text from taskqueue.dump_task_queues(%s)"}
    if with_leases:
        queries["leases"] = "select lease::text from taskqueue.dump_leases(%s)"
    for name, query in queries.items():
        yield from _rows(connection, setup, name, query, on_row)


def _rows(
    connection: Connection, setup: str, name: str, query: str, on_row: Callable[[str, str], object] | None
) -> Iterator[str]:
    yield f',\n"{name}": ['
    with connection.cursor() as cursor:
        for number, (text,) in enumerate(cursor.stream(query.encode(), [setup])):
            if on_row:
                on_row(name, text)
            yield f"{',' if number else ''}\n{text}"
    yield "\n]"


def _known_fields(fields: _Fields, name: str, row: object, reading: Reading) -> dict[str, Any]:
    require(dict, name, row)
    assert isinstance(row, dict)
    reading.unknown(name, (key for key in row if key not in fields), fields)
    known = {key: value for key, value in row.items() if key in fields and value is not None}
    for key, value in known.items():
        require(fields[key], f"{name}.{key}", value)
    return known


@dataclass(frozen=True)
class Section:
    """A section: its shape (the fields of a row, if it has rows with fields), and the function that stores it."""

    shape: type
    fields: _Fields | None
    store: Callable[[Connection, str, Any], int]

    def known(self, name: str, value: Any, reading: Reading) -> Any:
        """The section without unknown fields, which are recorded."""
        require(self.shape, name, value)
        if self.fields is None:
            return value
        if name == "task_queue_settings":
            return _known_fields(self.fields, name, value, reading)
        if self.shape is dict:
            return {key: _known_fields(self.fields, f"{name}.{key}", row, reading) for key, row in value.items()}
        return [_known_fields(self.fields, f"{name}[{i}]", row, reading) for i, row in enumerate(value)]


def _store_settings(connection: Connection, setup: str, settings: World) -> int:
    connection.execute("select taskqueue.set_settings(%s, %s::jsonb)", (setup, json_text(settings)))
    return len(settings)


def _store_cpu_buckets(connection: Connection, setup: str, buckets: list[Any]) -> int:
    for number, bucket in enumerate(buckets):
        require(int, f"cpu_buckets[{number}]", bucket)
    connection.execute("select taskqueue.set_cpu_buckets(%s, %s::bigint[])", (setup, buckets))
    return len(buckets)


def _store_groups(connection: Connection, setup: str, groups: World) -> int:
    query = "select taskqueue.set_group(%s, %s, %s::float8, %s::boolean, %s::boolean)"
    for group, row in groups.items():
        values = (row.get("share", 1000), row.get("job_sharing", False), row.get("allow_background", False))
        connection.execute(query, (setup, group, *values))
    return len(groups)


def _store_platforms(connection: Connection, setup: str, platforms: World) -> int:
    query = "select taskqueue.set_platform_compatibility(%s, %s, %s::text[])"
    for offered, accepted in platforms.items():
        require(list, f"platform_compatibility.{offered}", accepted)
        for number, platform in enumerate(accepted):
            require(str, f"platform_compatibility.{offered}[{number}]", platform)
        connection.execute(query, (setup, offered, accepted))
    return len(platforms)


def _store_attributes(connection: Connection, setup: str, attributes: World) -> int:
    connection.execute("select taskqueue.set_attributes(%s, %s::jsonb)", (setup, json_text(attributes)))
    return len(attributes)


def _store_error_classes(connection: Connection, setup: str, rows: list[Any]) -> int:
    connection.execute("select taskqueue.set_error_classes(%s, %s::jsonb)", (setup, json_text(rows)))
    return len(rows)


def _store_retry_rules(connection: Connection, setup: str, rows: list[Any]) -> int:
    connection.execute("select taskqueue.set_retry_rules(%s, %s::jsonb)", (setup, json_text(rows)))
    return len(rows)


def _store_held_owners(connection: Connection, setup: str, owners: list[Any]) -> int:
    for number, owner in enumerate(owners):
        require(str, f"held_owners[{number}]", owner)
        with naming(f"held_owners[{number}]"):
            connection.execute("select taskqueue.hold(%s, 'owner', %s)", (setup, owner))
    return len(owners)


def store_task_queues(connection: Connection, setup: str, task_queues: list[Any], there: There | None = None) -> int:
    """Store the TaskQueues of a world; there: counts the jobs whose CPU time changes."""
    for queue in task_queues:
        queue.setdefault("jobs", [])
    for chunk in chunks(task_queues):
        try:
            with connection.transaction():
                _load(connection, setup, chunk, there)
        except psycopg.Error as error:
            found = from_database(error)
            if isinstance(found, BadRequest):
                raise _named(found, chunk, _refused(connection, setup, chunk)) from error
            raise
    return len(task_queues)


def _refused(connection: Connection, setup: str, chunk: Chunk) -> int | None:
    """The index of the TaskQueue for which a chunk is refused; tries parts of it, and stores none."""
    looking = search(chunk)
    try:
        part = next(looking)
        while True:
            refused = False
            try:
                with connection.transaction(force_rollback=True):
                    connection.execute(_LOAD, (setup, part.text))
            except psycopg.Error:
                refused = True
            part = looking.send(refused)
    except StopIteration as found:
        return found.value  # type: ignore[no-any-return]


def _named(error: BadRequest, chunk: Chunk, index: int | None) -> BadRequest:
    """The error of a chunk with its TaskQueue and the first of its jobs."""
    if index is None:
        return error
    jobs = json.loads(chunk.texts[index])["jobs"]
    job = f", job {jobs[0][0]}" if jobs and isinstance(jobs[0], list) and jobs[0] else ""
    more = f" and {len(jobs) - 1} more" if job and len(jobs) > 1 else ""
    place = f"task_queues[{chunk.numbers[index] - 1}]{job}{more}"
    return BadRequest(f"{place}: {error.message}", error.hint, error.sqlstate, error.detail)


def _store_leases(connection: Connection, setup: str, leases: list[Any]) -> int:
    connection.execute("select taskqueue.load_leases(%s, %s::jsonb)", (setup, json_text(leases)))
    return len(leases)


def _store_limits(connection: Connection, setup: str, limits: list[Any]) -> int:
    query = "select taskqueue.set_limit(%s, %s, %s, %s, %s, %s, %s::numeric, %s::int)"
    for place, row in enumerate(limits):
        number = row.get("limit" if row.get("kind") == "running" else "seconds")
        value = None if number is None else Decimal(str(number))
        named = (row.get(key) for key in ("kind", "site", "ce", "attribute", "value"))
        with naming(f"limits[{place}]"):
            connection.execute(query, (setup, *named, value, row.get("burst", 1)))
    return len(limits)


def _store_quarantines(connection: Connection, setup: str, rows: list[Any]) -> int:
    for number, row in enumerate(rows):
        named = [row.get(field) for field in _QUARANTINE]
        with naming(f"quarantines[{number}]"):
            connection.execute("select taskqueue.set_quarantine(%s, %s, %s, %s, %s)", [setup, *named])
    return len(rows)


# The sections in the order of storing: TaskQueues after the buckets and shares, and limits after the leases that they
# count.
SECTIONS = {
    "attributes": Section(
        dict, None, _store_attributes
    ),  # before the settings: keep_gpus needs the attribute gpu.count
    "task_queue_settings": Section(dict, _SETTINGS, _store_settings),
    "cpu_buckets": Section(list, None, _store_cpu_buckets),
    "groups": Section(dict, _GROUP, _store_groups),
    "platform_compatibility": Section(dict, None, _store_platforms),
    "error_classes": Section(list, _ERROR_CLASS, _store_error_classes),
    "retry_rules": Section(list, _RETRY_RULE, _store_retry_rules),
    "held_owners": Section(list, None, _store_held_owners),
    "task_queues": Section(list, _TASK_QUEUE, store_task_queues),
    "leases": Section(list, _LEASE, _store_leases),
    "limits": Section(list, _LIMIT, _store_limits),
    "quarantines": Section(list, _QUARANTINE, _store_quarantines),
}
