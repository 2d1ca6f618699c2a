"""Worlds: what a database holds as one JSON object, to load and dump. So far the sections of the room taskqueue.

| section | shape |
| --- | --- |
| setup (alias vo) | the tenant of all rows |
| task_queue_settings | the keys of taskqueue.set_settings; times in seconds |
| cpu_buckets | [seconds, ...] |
| groups | {group: {share, job_sharing, allow_background}} |
| platform_compatibility | {offered: [accepted, ...]} |
| task_queues | [{requirements, enabled, jobs: [[id, user_priority], ...]}, ...], each a TaskQueue of its own |
| leases | as taskqueue.dump_leases writes them; only when asked for: they hold the agents' secrets |
| limits | [{site, ce, kind: running or delay, attribute, value, limit or seconds, burst}, ...] |

A load is one transaction, all or nothing. A dump of what was loaded from a dump is the same text.
"""

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import psycopg
from psycopg import IsolationLevel
from psycopg.pq import TransactionStatus

from broker.client import json_text
from broker.errors import BadRequest, BrokerError, from_database
from broker.submitter import MANY, chunks

World = Mapping[str, Any]
Connection = psycopg.Connection[Any]

_SETUP = ("setup", "vo")
_NUMBER = (int, float)
_JOBS_ALONE = "jobs alone are for broker submit"
_Fields = Mapping[str, type | tuple[type, ...]]
"""The fields of a row and their types; null is a field that is not given."""

_SETTINGS: _Fields = {
    "ten_first": bool,
    "strict_keys": list,
    "required_keys": list,
    "queue_size": int,
    "policy": str,
    "lease_time": _NUMBER,
    "share_delay": _NUMBER,
    "share_correction": bool,
    "correction_window": _NUMBER,
    "history_kept": _NUMBER,
}
_GROUP: _Fields = {"share": _NUMBER, "job_sharing": bool, "allow_background": bool}
_TASK_QUEUE: _Fields = {"requirements": dict, "enabled": bool, "jobs": list}
_LIMIT: _Fields = {
    "site": str,
    "ce": str,
    "kind": str,
    "attribute": str,
    "value": str,
    "limit": int,
    "seconds": _NUMBER,
    "burst": int,
}
_LEASE: _Fields = {
    "id": int,
    "requirements": dict,
    "user_priority": int,
    "state": str,
    "attempt": str,
    "site": str,
    "ce": str,
    "role": str,
    "kill_reason": str,
    "matched_at": str,
    "reported_at": str,
    "expires_at": str,
}


@dataclass
class Loaded:
    """What a load did: its setups, how many rows of each section, and what was left out (lenient only)."""

    setups: list[str] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    jobs: int = 0
    ignored: list[str] = field(default_factory=list)


def load(
    connection: Connection,
    worlds: Sequence[World],
    setup: str | None = None,
    *,
    lenient: bool = False,
    names: Sequence[str] = (),
) -> Loaded:
    """Upsert worlds into the database, all or nothing; `setup` overrides the one that they name (else `default`).

    names: what to call each world in errors, such as its file. Raises BadRequest for unknown sections and fields,
    naming them (`lenient` leaves them out instead), and the database's errors for wrong values.
    """
    loaded = Loaded()
    checked: list[tuple[str, dict[str, Any]]] = []
    for name, world in zip(names or [""] * len(worlds), worlds, strict=True):
        with _naming(name):
            checked.append((name, _known(world, loaded.ignored)))
            if loaded.ignored and not lenient:
                raise BadRequest(
                    f"not known here: {', '.join(loaded.ignored)}",
                    f"sections loaded by this release: {', '.join((*_SETUP, *_SECTIONS))}; --lenient leaves the others"
                    f" out; {_JOBS_ALONE}",
                )
    with connection.transaction():
        for name, world in checked:
            with _naming(name):
                _store(connection, world, setup or world.get("setup") or world.get("vo") or "default", loaded)
        if loaded.jobs >= MANY:
            connection.execute("select taskqueue.refresh_statistics()")
        for into in loaded.setups:
            connection.execute("select taskqueue.recompute_shares(%s)", [into])
    return loaded


def _store(connection: Connection, world: World, into: str, loaded: Loaded) -> None:
    """Store a world's sections, and count them in `loaded`."""
    if into not in loaded.setups:
        loaded.setups.append(into)
    for name, section in _SECTIONS.items():
        if world.get(name) is not None:
            loaded.rows[name] = loaded.rows.get(name, 0) + section.store(connection, into, world[name])
            if name == "task_queues":
                loaded.jobs += sum(len(queue["jobs"]) for queue in world[name])


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Put a world's name before the message of an error about it; without a name errors pass as they are."""
    try:
        yield
    except (BrokerError, psycopg.Error) as error:
        if not name:
            raise
        found = from_database(error) if isinstance(error, psycopg.Error) else error
        raise type(found)(f"{name}: {found.message}", found.hint, found.sqlstate) from error


def load_task_queues(
    connection: Connection,
    setup: str,
    task_queues: Iterator[Mapping[str, object]] | Sequence[Mapping[str, object]],
    on_chunk: Callable[[int], object] | None = None,
) -> int:
    """Open a TaskQueue for each element of a stream, in constant memory, and return how many jobs they have.

    Each 100,000 jobs are one call, which commits for itself unless the caller has a transaction open. Call
    taskqueue.refresh_statistics and recompute_shares when all are there.
    """
    stored = 0
    for chunk in chunks(task_queues):
        connection.execute("select taskqueue.load_task_queues(%s, %s::jsonb)", (setup, chunk.text))
        stored += chunk.jobs
        if on_chunk:
            on_chunk(stored)
    return stored


def dump(
    connection: Connection,
    setup: str = "default",
    *,
    with_leases: bool = False,
    on_row: Callable[[str, str], object] | None = None,
) -> Generator[str, None, None]:
    """The world of a setup as pieces of JSON text, in constant memory: one line a TaskQueue.

    connection: in autocommit, for this alone; the dump is one snapshot, in a transaction that lasts until the last
    piece was taken or the dump is closed. on_row: called for each TaskQueue and lease with its section and its text.
    Raises BadRequest when there is no such setup.
    """
    with _snapshot(connection):
        [(configuration,)] = connection.execute("select taskqueue.dump_configuration(%s)", [setup]).fetchall()
        if configuration is None:
            raise BadRequest(f"setup {setup} holds nothing", "name the setup that was loaded or submitted to: --setup")
        yield f'{{\n"setup": {json_text(setup)}'
        for name in ("task_queue_settings", "cpu_buckets", "groups", "platform_compatibility", "limits"):
            yield f',\n"{name}": {json_text(configuration[name])}'
        queries = {"task_queues": "select task_queue::text from taskqueue.dump_task_queues(%s)"}
        if with_leases:
            queries["leases"] = "select lease::text from taskqueue.dump_leases(%s)"
        for name, query in queries.items():
            yield from _rows(connection, setup, name, query, on_row)
        yield "\n}\n"


@contextmanager
def _snapshot(connection: Connection) -> Iterator[None]:
    """A transaction in REPEATABLE READ; afterwards the connection is as it was: the functions that write refuse it."""
    before = connection.isolation_level
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    try:
        with connection.transaction():
            yield
    finally:
        if connection.info.transaction_status == TransactionStatus.IDLE:  # neither lost nor in the caller's hands
            connection.isolation_level = before


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


def parse(text: str, name: str) -> World:
    """A world from its text. Raises BadRequest, naming the file."""
    try:
        world = json.loads(text)
    except ValueError as error:
        raise BadRequest(f"{name} is not JSON: {error}", f"a world is one JSON object; {_JOBS_ALONE}") from None
    if not isinstance(world, dict):
        raise BadRequest(
            f"{name} holds no JSON object",
            f'a world is one JSON object: {{"setup": ..., "task_queues": []}}; {_JOBS_ALONE}',
        )
    return world


def _known(world: World, ignored: list[str]) -> dict[str, Any]:
    """The world without what is not known here, whose names are appended to `ignored`."""
    known: dict[str, Any] = {}
    for name, value in world.items():
        if name in _SETUP:
            if value is not None and not isinstance(value, str):
                raise BadRequest(f"{name} is {json_text(value)[:100]}, not a text", "name one setup")
            known[name] = value
        elif name not in _SECTIONS:
            ignored.append(f"section {name}")
        elif value is not None:
            known[name] = _SECTIONS[name].known(name, value, ignored)
    return known


_SHAPES = {dict: "an object", list: "an array", str: "a text", bool: "true or false", int: "an integer"}


def _require(kind: type | tuple[type, ...], name: str, value: object) -> None:
    """Refuse a value of another type; true and false are no numbers."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        shape = "a number" if isinstance(kind, tuple) else _SHAPES[kind]
        raise BadRequest(f"{name} is {json_text(value)[:100]}, not {shape}", "see broker/README.md, Operate")


def _known_fields(fields: _Fields, name: str, row: object, ignored: list[str]) -> dict[str, Any]:
    _require(dict, name, row)
    assert isinstance(row, dict)
    ignored += [f"{name}: field {key}" for key in row if key not in fields]
    known = {key: value for key, value in row.items() if key in fields and value is not None}
    for key, value in known.items():
        _require(fields[key], f"{name}.{key}", value)
    return known


@dataclass(frozen=True)
class _Section:
    """A section: its shape (the fields of a row, if it has rows with fields), and how it is stored."""

    shape: type
    fields: _Fields | None
    store: Callable[[Connection, str, Any], int]

    def known(self, name: str, value: Any, ignored: list[str]) -> Any:
        _require(self.shape, name, value)
        if self.fields is None:
            return value
        if name == "task_queue_settings":
            return _known_fields(self.fields, name, value, ignored)
        if self.shape is dict:
            return {key: _known_fields(self.fields, f"{name}.{key}", row, ignored) for key, row in value.items()}
        return [_known_fields(self.fields, f"{name}[{i}]", row, ignored) for i, row in enumerate(value)]


def _store_settings(connection: Connection, setup: str, settings: World) -> int:
    connection.execute("select taskqueue.set_settings(%s, %s::jsonb)", (setup, json_text(settings)))
    return len(settings)


def _store_cpu_buckets(connection: Connection, setup: str, buckets: list[Any]) -> int:
    for number, bucket in enumerate(buckets):
        _require(int, f"cpu_buckets[{number}]", bucket)
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
        _require(list, f"platform_compatibility.{offered}", accepted)
        for number, platform in enumerate(accepted):
            _require(str, f"platform_compatibility.{offered}[{number}]", platform)
        connection.execute(query, (setup, offered, accepted))
    return len(platforms)


def _store_task_queues(connection: Connection, setup: str, task_queues: list[Any]) -> int:
    for queue in task_queues:
        queue.setdefault("jobs", [])
    load_task_queues(connection, setup, task_queues)
    return len(task_queues)


def _store_leases(connection: Connection, setup: str, leases: list[Any]) -> int:
    connection.execute("select taskqueue.load_leases(%s, %s::jsonb)", (setup, json_text(leases)))
    return len(leases)


def _store_limits(connection: Connection, setup: str, limits: list[Any]) -> int:
    query = "select taskqueue.set_limit(%s, %s, %s, %s, %s, %s, %s::numeric, %s::int)"
    for row in limits:
        number = row.get("limit" if row.get("kind") == "running" else "seconds")
        value = None if number is None else Decimal(str(number))
        named = (row.get(key) for key in ("kind", "site", "ce", "attribute", "value"))
        connection.execute(query, (setup, *named, value, row.get("burst", 1)))
    return len(limits)


# In the order in which they are stored: queues by the buckets and shares, limits when the leases are there to count.
_SECTIONS = {
    "task_queue_settings": _Section(dict, _SETTINGS, _store_settings),
    "cpu_buckets": _Section(list, None, _store_cpu_buckets),
    "groups": _Section(dict, _GROUP, _store_groups),
    "platform_compatibility": _Section(dict, None, _store_platforms),
    "task_queues": _Section(list, _TASK_QUEUE, _store_task_queues),
    "leases": _Section(list, _LEASE, _store_leases),
    "limits": _Section(list, _LIMIT, _store_limits),
}
